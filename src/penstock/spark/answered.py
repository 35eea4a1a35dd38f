"""Work that Spark waits for in this process: it must be answered, or Spark waits for ever.

py4j answers with what is raised, as long as it is an `Exception`. Anything else ends the thread
that was called, without a word to who called.
"""

from __future__ import annotations

from collections.abc import Callable

_TIMES = 3


def answered(work: Callable[[], None]) -> None:
    """Do what may be done again, as after a crash; what ends it is an error that has an answer.

    An interrupt is for the main thread, and yet polars raises it in each thread that works in it:
    Ctrl-C, or another cell of a notebook stopped, would leave a query that never ends.
    """
    for _ in range(_TIMES):
        try:
            work()
        except KeyboardInterrupt:
            continue
        except Exception:
            raise
        except BaseException as error:
            message = f"{type(error).__name__}: {error}"
            raise RuntimeError(message) from error
        return
    message = f"interrupted {_TIMES} times"
    raise RuntimeError(message)
