"""Makes signatures for Method in _specs. _specs imports this module late, because `inspect` takes long to load."""

from __future__ import annotations

from collections.abc import Callable
from inspect import BoundArguments, Parameter, Signature, signature
from typing import Any

from ._types import ProductWrite


class _Signature(Signature):
    """The signature of a method without `self`. unittest.mock does not know that `self` is already removed.

    When a mock is called, unittest.mock checks the call against the signature of `Method.__call__`. For assertions such
    as assert_called_with(), unittest.mock passes a None for `self` (partial(Method.__call__, None)): bind_partial()
    drops this None.
    """

    def bind_partial(self, /, *args: Any, **kwargs: Any) -> BoundArguments:
        return super().bind_partial(*args[1:], **kwargs)


def signature_of(method: Any) -> Signature:
    """The signature of a method that is written in C++; its first parameter is `self`."""
    try:
        return signature(method)
    except ValueError:  # inspect finds no signature for `__aenter__` and `__aexit__`
        names = ("self",) if method.__name__ == "__aenter__" else ("self", "kind", "error", "trace")
        return Signature([Parameter(name, Parameter.POSITIONAL_ONLY) for name in names])


def as_mocks_call_it(signature: Signature) -> Callable[[], None]:
    """A function with this signature, but without `self`; the fields of ProductWrite replace a `**` parameter."""

    def call() -> None: ...

    parameters = list(signature.parameters.values())[1:]
    if parameters and parameters[-1].kind is Parameter.VAR_KEYWORD:
        names = ProductWrite.__annotations__
        parameters[-1:] = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in names]
    call.__signature__ = _Signature(parameters)  # type: ignore[attr-defined]
    return call
