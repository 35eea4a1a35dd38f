"""Programs in files: `shop.py:app` names the application `app` in the file `shop.py`."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from importlib.abc import SourceLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from penstock.errors import PenstockError, UsageError, did_you_mean
from penstock.plan.user_code import look_again, own_directory

if TYPE_CHECKING:
    from penstock.app import App


def load_program(place: str) -> App:
    """Run a file, as far as its own `__main__` part, and give the application in it."""
    text, _, name = place.rpartition(":") if ":" in place else (place, "", "")
    found = applications(Path(text))
    if name in found:
        return found[name]
    if name:
        raise UsageError(
            "PROGRAM_MISSING",
            f'"{text}" has no application "{name}"',
            hint=did_you_mean(name, found) or _choices(text, found),
        )
    distinct = {id(app): app for app in found.values()}
    if len(distinct) != 1:
        raise UsageError(
            "PROGRAM_MISSING",
            f'"{text}" has {len(distinct) or "no"} applications',
            hint=_choices(text, found),
        )
    return next(iter(distinct.values()))


def applications(file: Path) -> dict[str, App]:
    """Run a file, as far as its own `__main__` part, and give all applications in it by name."""
    from penstock.app import App  # noqa: PLC0415  # only commands that load programs need it

    return {key: value for key, value in vars(_run(file)).items() if isinstance(value, App)}


def _choices(text: str, found: dict[str, App]) -> str:
    if not found:
        return 'Make one at the top of the file: app = penstock.App("name").'
    return f"Name it: {', '.join(f'{text}:{key}' for key in found)}."


def _run(file: Path) -> ModuleType:
    # Under its own name, as if imported: what stands below `if __name__ == "__main__"` stays out.
    # The name is taken away again so that functions travel to Spark's workers by value: these
    # could not import a file that is on nobody's path.
    spec = importlib.util.spec_from_file_location(file.stem, file) if file.is_file() else None
    if spec is None or not isinstance(spec.loader, SourceLoader):
        raise UsageError(
            "PROGRAM_FILE",
            f'"{file}" {"is no Python file" if file.exists() else "does not exist"}',
            hint="Give the path of a file that ends in .py.",
        )
    look_again()
    own_directory(file.resolve().parent)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.resolve().parent))
    before = sys.modules.get(spec.name)
    sys.modules[spec.name] = module
    try:
        _execute(spec.loader, file, module)
    except PenstockError:
        raise
    except Exception as error:
        raise UsageError(
            "PROGRAM_FILE",
            f'"{file}" stops with {type(error).__name__}: {error}{_line(error, file)}',
            hint="Correct it there; --debug shows the traceback.",
        ) from error
    finally:
        del sys.modules[spec.name]
        if before is not None:
            sys.modules[spec.name] = before
    return module


def _execute(loader: SourceLoader, file: Path, module: ModuleType) -> None:
    # Compiled anew: of a file that was written twice in a second Python would take the one before.
    code = loader.source_to_code(file.read_bytes(), str(file))
    exec(code, vars(module))  # noqa: S102  # the program that is to be run


def _line(error: Exception, file: Path) -> str:
    if isinstance(error, SyntaxError):
        return f" (line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == file.resolve()]
    return f" (line {lines[-1]})" if lines else ""
