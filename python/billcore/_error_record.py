"""Errors as plain values: an error's `args`, from which type(error)(*error.args) makes it again, and its dict.

Loaded on first use. Plain values are JSON scalars, in the order of the class's parameters. An argument that cannot be
read makes the outcome unknown, because a program that takes an unknown outcome for a known one charges twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._error_base import BillcoreError, raw_args
from ._errors import InvalidArgumentError

_HOMES = ("billcore", "billcore.inbox", "billcore.journal", "billcore.webhooks")
_TYPES: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool}


def _home(kind: type[BillcoreError]) -> Any:
    """The class itself; for a class that a program has derived, the class of billcore that it is derived from."""
    return next(owner for owner in kind.__mro__ if owner.__module__ in _HOMES)


def _parameters(kind: type[BillcoreError]) -> dict[str, tuple[str, Any]]:
    """The type and the default of each positional parameter."""
    init = _home(kind).__init__
    names = init.__code__.co_varnames[1 : init.__code__.co_argcount]
    return {name: (init.__annotations__[name], default) for name, default in zip(names, init.__defaults__, strict=True)}


def fill(error: BillcoreError, given: dict[str, Any]) -> None:
    """Sets the text and the attributes from the arguments of __init__."""
    readable, text = True, ""
    for name, (annotation, default) in _parameters(type(error)).items():
        value, fits = _read(given[name], annotation.split(" | "))
        if name == "text":
            text = value if fits else ""
        else:
            setattr(error, name, value if fits or isinstance(value, list) else default)
        readable = readable and fits
    raw_args.__set__(error, (text or f"the text of this {type(error).__name__} is missing",))
    if not readable or not text:
        error.outcome_unknown = True


def _read(value: Any, kinds: list[str]) -> tuple[Any, bool]:
    """The value as one of the types of an annotation, and whether it is of one."""
    if value is None:
        return None, "None" in kinds
    if "datetime" in kinds:
        return _read_time(value)
    if "Order" in kinds:
        return _read_order(value)
    if "Iterable[Order]" in kinds:
        return _read_orders(value)
    if isinstance(value, bool):
        return value, "bool" in kinds
    if isinstance(value, int) and "float" in kinds:
        return value, True
    return value, any(isinstance(value, _TYPES[kind]) for kind in kinds if kind in _TYPES)


def _read_time(value: Any) -> tuple[Any, bool]:
    from datetime import datetime

    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return None, False
    return time, isinstance(time, datetime)


def _read_order(value: Any) -> tuple[Any, bool]:
    from ._webhook import Order, _restore

    if isinstance(value, (str, int)) and not isinstance(value, bool):
        import json

        return _restore("Order", json.dumps({"id": value}), "data"), True
    return value, isinstance(value, Order) or hasattr(value, "id")  # or an order that a test has made by hand


def _read_orders(value: Any) -> tuple[list[Any], bool]:
    if isinstance(value, str):
        import json

        try:
            value = json.loads(value)
        except ValueError:
            return [], False
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes, dict)):
        return [], False
    orders = [_read_order(each) for each in value]
    return [order for order, fits in orders if fits], all(fits for _, fits in orders)


def _plain(name: str, value: Any) -> Any:
    """An attribute's value as a JSON scalar."""
    if name == "body":
        return ""  # a page of HTML, or data of a customer
    if name == "path" and isinstance(value, str):
        return value.partition("?")[0]
    if value is None or isinstance(value, (str, int, float)):
        return value
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, list):
        import json

        return json.dumps([_id(order) for order in value])
    return _id(value)


def _id(order: Any) -> Any:
    try:
        return order.id if isinstance(order.id, (str, int)) else None
    except (AttributeError, BillcoreError):
        return None  # an answer without a readable id


def _values(error: BillcoreError) -> dict[str, Any]:
    """The plain values by name."""
    kind = type(error)
    own = vars(error)
    found = {name: own.get(name, getattr(kind, name, default)) for name, (_, default) in _parameters(kind).items()}
    return {name: _plain(name, str(error) if name == "text" else value) for name, value in found.items()}


def arguments(error: BillcoreError) -> tuple[Any, ...]:
    """Returns the args with which an error is made again. Leaves out arguments at the end that have their default."""
    raw: tuple[Any, ...] = raw_args.__get__(error)
    if len(raw) != 1 or not isinstance(raw[0], str):
        return raw  # assigned by a program, or __init__ did not run
    values = list(_values(error).values())
    for _, default in reversed(_parameters(type(error)).values()):
        if values[-1] is not default:
            break
        values.pop()
    return tuple(values)


def to_dict(error: BillcoreError) -> dict[str, Any]:
    kind = _home(type(error))
    return {"type": f"{kind.__module__}.{kind.__name__}", **_values(error)}


def from_dict(data: dict[str, Any]) -> BillcoreError:
    if not isinstance(data, dict):
        raise InvalidArgumentError(f"data must be the dict of to_dict(), not {type(data).__name__}")
    home, _, name = str(data.get("type")).rpartition(".")
    try:
        kind = getattr(__import__(home, fromlist=[name]), name, None) if home in _HOMES else None
    except ImportError:  # a bundle without the module
        kind = None
    if not isinstance(kind, type) or not issubclass(kind, BillcoreError):  # of a later version
        return BillcoreError(str(data.get("text") or ""), outcome_unknown=True)
    return kind(**{name: data[name] for name in _parameters(kind) if name in data})
