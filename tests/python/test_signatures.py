"""help(), dir() and inspect.signature() of every public name."""

from __future__ import annotations

import inspect
import pkgutil
import pydoc
from collections.abc import Iterator
from typing import Any

import pytest

import billcore
from billcore import testing, webhooks

MODULES: dict[str, Any] = {"billcore": billcore, "billcore.webhooks": webhooks, "billcore.testing": testing}
NAMES = [(module, name) for module, home in MODULES.items() for name in home.__all__]
CLASSES = {
    f"{module}.{name}": value
    for module, name in NAMES
    if isinstance(value := getattr(MODULES[module], name), type) and value.__module__.startswith("billcore")
}
# Classes that users instantiate; objects of the other classes are returned by calls.
MADE_BY_USERS = (billcore.Client, billcore.AsyncClient, webhooks.Verifier, billcore.Hooks, billcore.Attempt)


def members(kind: type) -> Iterator[tuple[str, Any]]:
    for owner in kind.__mro__:
        if owner.__module__.startswith("billcore"):
            yield from ((name, value) for name, value in vars(owner).items() if not name.startswith("_"))


@pytest.mark.parametrize("module", MODULES)
def test_dir_shows_the_public_names(module: str) -> None:
    # pytest rewrites the asserts of a plugin's package, which adds names such as "@pytest_ar" to an installed package.
    shown = [name for name in dir(MODULES[module]) if name.isidentifier()]
    assert set(MODULES[module].__all__) <= set(shown)
    if module == "billcore":
        submodules = {found.name for found in pkgutil.iter_modules(billcore.__path__)}  # dir() shows imported ones
        assert {name for name in shown if not name.startswith("_")} - set(billcore.__all__) <= submodules


@pytest.mark.parametrize("name", CLASSES)
def test_every_member_has_a_docstring_and_a_signature(name: str) -> None:
    kind = CLASSES[name]
    assert inspect.getdoc(kind), "no docstring"
    if issubclass(kind, MADE_BY_USERS) or issubclass(kind, billcore.BillcoreError):
        assert inspect.signature(kind)
    for member, value in members(kind):
        if isinstance(value, property) or inspect.isgetsetdescriptor(value):
            assert inspect.getdoc(value), member
        elif callable(value):
            assert inspect.getdoc(value) and inspect.signature(value), member
    text = pydoc.plain(pydoc.render_doc(kind))
    assert all(f" {member}" in text for member, _ in members(kind))
    assert " at 0x" not in text and "_DEFAULT" not in text


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_every_function_has_a_docstring_and_a_signature(module: str, name: str) -> None:
    value = getattr(MODULES[module], name)
    if inspect.isroutine(value):
        assert inspect.getdoc(value)
        assert all(not parameter.name.startswith("arg") for parameter in inspect.signature(value).parameters.values())
