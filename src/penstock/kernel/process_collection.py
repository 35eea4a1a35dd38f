"""Lists and maps that a user's function holds in its hands: see `process_state`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, overload

from typing_extensions import override

from penstock.kernel.process_column import StateColumn, copied
from penstock.kernel.process_state import Logged, Moment
from penstock.model.processor import ListState, MapState

_NOTHING = object()

_Step: TypeAlias = tuple[str, int, Any]


class ListHandle(Logged, ListState[Any]):
    """A list that can take back what a call did to it."""

    __slots__ = ("_items",)

    def __init__(self, column: StateColumn, moment: Moment) -> None:
        super().__init__(column, moment)
        self._items: list[Any] = []

    @property
    @override
    def raw(self) -> Any:
        return self._items

    @override
    def __len__(self) -> int:
        if self._ttl is not None and self._expired():
            return 0
        return len(self._items)

    @override
    def __iter__(self) -> Iterator[Any]:
        for place in range(len(self)):
            yield self[place]

    @overload
    def __getitem__(self, index: int) -> Any: ...  # noqa: ANN401

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    @override
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if self._ttl is not None and self._expired():
            raise IndexError(index)
        item = self._items[index]
        if self._nested:
            # It may be changed in place: what it was is kept.
            self._dirty = True
            self.log.append(("put", index, copied(item)))
        return item

    @override
    def __setitem__(self, index: Any, value: Any) -> None:
        self._change()
        if isinstance(index, slice):
            self._replace(self._items.copy())
        else:
            self.log.append(("put", index, self._items[index]))
        self._items[index] = value

    @override
    def __delitem__(self, index: Any) -> None:
        self._change()
        if isinstance(index, slice):
            self._replace(self._items.copy())
        else:
            place = index if index >= 0 else len(self._items) + index
            self.log.append(("back", place, self._items[index]))
        del self._items[index]

    @override
    def insert(self, index: int, value: Any) -> None:
        self._change()
        place = min(max(index if index >= 0 else len(self._items) + index, 0), len(self._items))
        self.log.append(("out", place, None))
        self._items.insert(place, value)

    @override
    def append(self, value: Any) -> None:
        self._change()
        self.log.append(("cut", len(self._items), None))
        self._items.append(value)

    @override
    def extend(self, values: Iterable[Any]) -> None:
        new = list(values)
        self._change()
        self.log.append(("cut", len(self._items), None))
        self._items += new

    @override
    def clear(self) -> None:
        self._change()
        self._replace([])

    @override
    def __repr__(self) -> str:
        return repr([] if self._expired() else self._items)

    def _change(self) -> None:
        self._dirty = True
        if self._ttl is not None:
            if self._expired():
                self._replace([])
                self._written = None
            self.log.append(("written", 0, self._write()))

    def _replace(self, items: list[Any]) -> None:
        self.log.append(("all", 0, (self._items, self._written)))
        self._items = items

    @override
    def _put(self, found: Any) -> None:
        self._items = [] if found is None else found

    @override
    def _undo(self, step: _Step) -> None:
        kind, place, what = step
        if kind == "put":
            self._items[place] = what
        elif kind == "back":
            self._items.insert(place, what)
        elif kind == "out":
            del self._items[place]
        elif kind == "cut":
            del self._items[place:]
        elif kind == "all":
            self._items, self._written = what
        else:
            self._written = what


class MapHandle(Logged, MapState[Any, Any]):
    """A map that can take back what a call did to it."""

    __slots__ = ("_items",)

    def __init__(self, column: StateColumn, moment: Moment) -> None:
        super().__init__(column, moment)
        self._items: dict[Any, Any] = {}

    @property
    @override
    def raw(self) -> Any:
        return self._items

    @override
    def __len__(self) -> int:
        if self._ttl is not None and self._expired():
            return 0
        return len(self._items)

    @override
    def __iter__(self) -> Iterator[Any]:
        return iter(() if self._expired() else self._items)

    @override
    def __contains__(self, name: object) -> bool:
        return name in self._items and not (self._ttl is not None and self._expired())

    @override
    def __getitem__(self, name: Any) -> Any:
        if self._ttl is not None and self._expired():
            raise KeyError(name)
        item = self._items[name]
        if self._nested:
            # It may be changed in place: what it was is kept.
            self._dirty = True
            self.log.append((name, copied(item), self._written))
        return item

    @override
    def get(self, name: Any, default: Any = None) -> Any:
        known = name in self
        return self[name] if known else default

    @override
    def __setitem__(self, name: Any, value: Any) -> None:
        self._change(name)
        self._items[name] = value

    @override
    def __delitem__(self, name: Any) -> None:
        if name not in self:
            raise KeyError(name)
        self._change(name)
        del self._items[name]

    @override
    def clear(self) -> None:
        self.log.append((_NOTHING, self._items, self._write()))
        self._items = {}

    @override
    def __repr__(self) -> str:
        return repr({} if self._expired() else self._items)

    def _change(self, name: Any) -> None:  # noqa: ANN401
        self._dirty = True
        before = None
        if self._ttl is not None:
            if self._expired():
                self.clear()
                self._written = None
            before = self._write()
        self.log.append((name, self._items.get(name, _NOTHING), before))

    @override
    def _put(self, found: Any) -> None:
        self._items = {} if found is None else found

    @override
    def _undo(self, step: Any) -> None:
        name, old, self._written = step
        if name is _NOTHING:
            self._items = old
        elif old is _NOTHING:
            self._items.pop(name, None)
        else:
            self._items[name] = old
