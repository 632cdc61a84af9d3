"""Typed, frozen views of JSON: what a class annotates is an attribute, made when it is first asked for."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# classes by name: annotations are text
_CLASSES: dict[str, type[Record]] = {}


class Record:
    """An object of the report. It is frozen, is equal to what says the same, and `to_dict()` is its JSON."""

    _fields: dict[str, str] = {}
    _data: dict[str, Any]

    def __init_subclass__(cls) -> None:
        own = {name: str(kind) for name, kind in getattr(cls, "__annotations__", {}).items() if name[0] != "_"}
        cls._fields = {**cls._fields, **own}
        _CLASSES[cls.__name__] = cls

    def __init__(self, data: dict[str, Any]) -> None:
        object.__setattr__(self, "_data", data)

    # a type checker would take them for any attribute
    if not TYPE_CHECKING:
        # only asked for what was not made yet
        def __getattr__(self, name: str) -> Any:
            kind = type(self)._fields.get(name)
            if kind is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = _made(self._data.get(name), kind)
            object.__setattr__(self, name, value)
            return value

        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(f"{type(self).__name__} is frozen")

        def __delattr__(self, name: str) -> None:
            raise AttributeError(f"{type(self).__name__} is frozen")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._fields})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and type(other) is type(self) and other._data == self._data

    def __hash__(self) -> int:
        return hash(json.dumps(self._data, sort_keys=True))

    def __repr__(self) -> str:
        shown = ((name, self._data.get(name)) for name in self._fields)
        plain = (f"{name}={_short(value)}" for name, value in shown if value is not None)
        return f"{type(self).__name__}({', '.join(plain)})"

    def __reduce__(self) -> tuple[type[Record], tuple[dict[str, Any]]]:
        return type(self), (self._data,)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command `fatscan`, as new dictionaries and lists."""
        copy: dict[str, Any] = json.loads(json.dumps(self._data))
        return copy


def _short(value: object) -> str:
    if isinstance(value, list):
        return f"<{len(value)}>"
    if isinstance(value, dict):
        return "<...>"
    return repr(value)


def _made(value: Any, kind: str) -> Any:
    """A value of JSON as its annotation says: lists are tuples, and dictionaries records."""
    if isinstance(value, list):
        inner = kind[kind.find("[") + 1 : kind.rfind(",")] if kind.startswith("tuple[") else "Any"
        return tuple(_made(own, inner) for own in value)
    if isinstance(value, dict):
        name = kind.split(" | ")[0]
        known = _CLASSES.get(name)
        if known is not None:
            return known(value)
        return dict(value)
    if value is None and kind.startswith("tuple["):
        return ()
    return value
