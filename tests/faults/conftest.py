"""Fixtures of the fault tests. One sandbox serves the whole run; it is reset to its seeded state before each
module."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import Sandbox

from .certificates import Certificates
from .libcurl import library
from .model.run import Totals as ModelTotals
from .scene import WRITES, World, languages

HERE = Path(__file__).resolve().parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--few", action="store_true", help="run only enough cases to use each value of each parameter")
    text = "only what calls this language's driver; may be given more than once"
    parser.addoption("--driver", metavar="LANGUAGE", action="append", help=text)
    parser.addoption("--libcurl", type=Path, metavar="FOLDER", help="folder that must contain the libcurl in use")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "one_language: what it tests is the core's, and costs time")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "language" in metafunc.fixturenames:
        one = metafunc.definition.get_closest_marker("one_language") is not None
        drivers = metafunc.config.getoption("driver", None)
        metafunc.parametrize("language", drivers or (["python"] if one else languages()))


def given(item: pytest.Item) -> dict[str, Any]:
    callspec = getattr(item, "callspec", None) if HERE in item.path.parents else None
    return {} if callspec is None else callspec.params


def few_of(items: list[pytest.Item]) -> set[pytest.Item]:
    """Chooses tests so that every test function runs, and every parameter value of a file is used by a read and by a
    write (if the file has such tests).

    The chosen combinations are random, but the same in each run.
    """
    found: set[tuple[object, ...]] = set()
    chosen: set[pytest.Item] = set()
    for item in random.Random(1).sample(items, len(items)):
        parameters = given(item)
        writes = parameters.get("operation") in WRITES
        shown: set[tuple[object, ...]] = {(item.nodeid.partition("[")[0],)}
        shown |= {(item.path, writes, name, repr(value)) for name, value in parameters.items()}
        if not shown <= found:
            found |= shown
            chosen.add(item)
    return chosen


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """All clients share the C++ core, so only one read and one write of each test run for languages other than
    Python."""
    drivers = config.getoption("driver", None)
    chosen: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        second = given(item).get("language", "python") != "python"
        few = given(item).get("operation") in (None, "orders.get", "subscriptions.charge")
        once = second and item.get_closest_marker("one_language") is not None
        foreign = drivers is not None and given(item).get("language") not in drivers
        (left_out if foreign or once or (second and not few) else chosen).append(item)
    if config.getoption("few", False):
        each_driver = [[item for item in chosen if given(item)["language"] == each] for each in drivers or ()]
        wanted = {item for items in each_driver or [chosen] for item in few_of(items)}
        left_out += [item for item in chosen if item not in wanted]
        chosen = [item for item in chosen if item in wanted]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = chosen


@pytest.fixture(scope="session")
def whole_world(pytestconfig: pytest.Config) -> Iterator[World]:
    wanted = pytestconfig.getoption("libcurl", None)
    assert wanted is None or library() in wanted.resolve().iterdir(), f"the libcurl in use is {library()}"
    # The sandbox refuses a second cancellation, so that a repeated write is detected.
    with Sandbox(second_cancel="refuse") as sandbox:
        world = World(sandbox)
        yield world
        world.close()


@pytest.fixture(scope="module")
def world(whole_world: World) -> World:
    whole_world.fresh()
    return whole_world


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def model_totals() -> ModelTotals:
    return ModelTotals()
