"""Makes the clients' classes usable as specs of unittest.mock, which finds parameters only in Python functions.

After install(), `Client.subscriptions` is the class of the group, and `Client.request` is a Method, which has a
signature for unittest.mock. install() does not change the attributes of client objects.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing takes longer than importing this module
    from types import ModuleType
    from typing import Any

# Methods of the asyncio classes that are not awaited. A method with the parameter `resume` returns a list, and is not
# awaited: such a method need not be named here.
_NOT_AWAITED = ("with_options", "pages", "to_batches")
_AWAITED_PRIVATE = ("__aenter__", "__aexit__")


class Method:
    """Replaces a method of a C++ class when a program reads the method from the class, not from an object."""

    def __init__(self, owner: type, name: str, method: Any) -> None:
        from ._mock_signature import as_mocks_call_it, signature_of

        self.method, self.__name__, self.__qualname__ = method, name, f"{owner.__name__}.{name}"
        self.__module__, self.__doc__ = owner.__module__, method.__doc__
        self.__signature__ = signature_of(method)
        self.__dict__["__call__"] = as_mocks_call_it(self.__signature__)
        is_list = "resume" in self.__signature__.parameters
        if owner.__name__.startswith("Async") and name not in _NOT_AWAITED and not is_list:
            self._mark_as_awaited()

    def _mark_as_awaited(self) -> None:
        async def awaited() -> None: ...

        self.__code__ = awaited.__code__  # without this code object, unittest.mock makes no AsyncMock
        if sys.version_info >= (3, 12):
            from inspect import markcoroutinefunction

            markcoroutinefunction(self)
        else:
            from asyncio import coroutines

            self._is_coroutine = coroutines._is_coroutine  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"<method {self.__qualname__}>"

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else self.method.__get__(instance, owner)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.method(*args, **kwargs)


def install(module: ModuleType) -> None:
    """Makes the classes of the module `_client` usable as specs. A second call does nothing."""
    metaclass: Any = type(module.Client)
    if metaclass is type or "__getattribute__" in vars(metaclass):
        return  # Sphinx has imported the stubs, whose metaclass is `type`
    before, method_type = metaclass.__getattribute__, type(module.Client.request)
    methods: dict[tuple[type, str], Method] = {}

    def shown(cls: type, name: str) -> Any:
        value = before(cls, name)
        if not isinstance(value, property | method_type) or (name.startswith("_") and name not in _AWAITED_PRIVATE):
            return value
        owner = next((each for each in cls.__mro__ if name in vars(each)), cls)
        if isinstance(value, property):
            group = owner.__name__.removesuffix("Client") + name.title().replace("_", "")
            return getattr(module, group, value) if owner in (module.Client, module.AsyncClient) else value
        known = methods.get((owner, name))
        if known is None or known.method is not value:
            known = methods[owner, name] = Method(owner, name, value)
        return known

    metaclass.__getattribute__ = shown
