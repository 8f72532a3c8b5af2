"""help(), dir() and inspect.signature() of every public name, and NOT_GIVEN, the default of what can be left out."""

from __future__ import annotations

import copy
import inspect
import pickle
import pkgutil
import pydoc
from collections.abc import Iterator
from typing import Any

import pytest

import billcore
from billcore import NOT_GIVEN, _webhook, testing, webhooks

from .conftest import Serve
from .support import SUBSCRIPTION, data

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
    with pytest.raises(AttributeError, match="NoSuchName"):
        _ = MODULES[module].NoSuchName
    if module == "billcore":
        submodules = {found.name for found in pkgutil.iter_modules(billcore.__path__)}  # dir() shows imported ones
        assert {name for name in shown if not name.startswith("_")} - set(billcore.__all__) <= submodules


@pytest.mark.parametrize("name", CLASSES)
def test_every_member_has_a_docstring_and_a_signature(name: str) -> None:
    kind = CLASSES[name]
    assert inspect.getdoc(kind), "no docstring"
    assert kind.__module__ in MODULES and kind.__name__ in MODULES[kind.__module__].__all__
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


def test_defaults_can_be_inspected() -> None:
    assert inspect.signature(billcore.Subscriptions.get).parameters["timeout"].default is NOT_GIVEN
    assert inspect.signature(webhooks.Verifier).parameters["header"].default == "Service-Signature"
    assert inspect.signature(billcore.Client).parameters["timeout"].default == 30.0


def test_the_version_is_one() -> None:
    assert billcore.__version__ == _webhook.__version__
    assert all(part.isdigit() for part in billcore.__version__.split("."))


def test_not_given_is_one_object_with_its_own_name() -> None:
    assert repr(NOT_GIVEN) == str(NOT_GIVEN) == f"{NOT_GIVEN}" == "NOT_GIVEN"
    assert type(NOT_GIVEN) is billcore.NotGiven and billcore.NotGiven() is NOT_GIVEN
    assert not NOT_GIVEN and NOT_GIVEN == NOT_GIVEN and NOT_GIVEN != b"" and len({NOT_GIVEN, b""}) == 2
    assert copy.copy(NOT_GIVEN) is copy.deepcopy(NOT_GIVEN) is NOT_GIVEN
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(NOT_GIVEN, protocol)) is NOT_GIVEN


def test_not_given_counts_as_left_out(serve: Serve) -> None:
    server, client = serve([data(SUBSCRIPTION)])
    same = client.with_options(timeout=NOT_GIVEN, max_retries=NOT_GIVEN, headers=NOT_GIVEN)
    same.subscriptions.get("s", timeout=NOT_GIVEN)
    for wrong in (..., b"", object()):
        with pytest.raises(billcore.InvalidArgumentError, match="timeout must be a number of seconds"):
            client.subscriptions.get("s", timeout=wrong)  # type: ignore[arg-type]
    with pytest.raises(billcore.InvalidArgumentError):
        client.request("POST", "/x", json={"a": NOT_GIVEN})
    assert len(server.requests) == 1
