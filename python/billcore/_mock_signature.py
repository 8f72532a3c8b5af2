"""The signatures of a Method. Only _specs imports this module, because `inspect` takes long to load."""

from __future__ import annotations

from collections.abc import Callable
from inspect import BoundArguments, Parameter, Signature, signature
from typing import Any

from ._types import ProductWrite


class _Signature(Signature):
    """A signature without `self`, which it therefore must not lose.

    Of an object with `__call__`, unittest.mock checks calls against this signature, but compares calls by the
    signature of partial(object.__call__, None).
    """

    def bind_partial(self, /, *args: Any, **kwargs: Any) -> BoundArguments:
        return super().bind_partial(*args[1:], **kwargs)


def signature_of(method: Any) -> Signature:
    """The signature of a method, with `self`."""
    try:
        return signature(method)
    except ValueError:  # `__aenter__` and `__aexit__` come without one
        names = ("self",) if method.__name__ == "__aenter__" else ("self", "kind", "error", "trace")
        return Signature([Parameter(name, Parameter.POSITIONAL_ONLY) for name in names])


def as_mocks_call_it(signature: Signature) -> Callable[[], None]:
    """A function with this signature, but without `self`, and with the keywords that `**` stands for."""

    def call() -> None: ...

    parameters = list(signature.parameters.values())[1:]
    if parameters and parameters[-1].kind is Parameter.VAR_KEYWORD:
        names = ProductWrite.__annotations__
        parameters[-1:] = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in names]
    call.__signature__ = _Signature(parameters)  # type: ignore[attr-defined]
    return call
