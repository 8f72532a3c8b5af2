"""One sandbox for the whole run; each module begins in its seeded state."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import Sandbox

from .certificates import Certificates
from .scene import World, languages

HERE = Path(__file__).resolve().parent
_worlds: list[World] = []


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "one_language: what it tests is the core's, and costs time")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "language" in metafunc.fixturenames:
        one = metafunc.definition.get_closest_marker("one_language") is not None
        metafunc.parametrize("language", ["python"] if one else languages())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The clients share their core: the second one sends one read and one write only."""
    chosen: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        callspec = getattr(item, "callspec", None) if HERE in item.path.parents else None
        given: dict[str, Any] = {} if callspec is None else callspec.params
        second = given.get("language", "python") != "python"
        few = given.get("operation") in (None, "orders.get", "subscriptions.charge")
        (left_out if second and not few else chosen).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = chosen


@pytest.fixture(scope="session")
def whole_world() -> Iterator[World]:
    # A second cancellation that reached the sandbox would be refused, and so be seen.
    with Sandbox(second_cancel="refuse") as sandbox:
        world = World(sandbox)
        _worlds.append(world)
        yield world
        world.close()


@pytest.fixture(scope="module")
def world(whole_world: World) -> World:
    whole_world.fresh()
    return whole_world


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for world in _worlds:
        for line in world.totals.lines():
            terminalreporter.write_line(line)
