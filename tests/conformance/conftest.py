"""Runs every test that has a parameter `language` once for each client. The driver programs run until the session
ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from . import drivers as known
from .drivers import Driver, make_driver

# The test modules that make no REST calls; they do not run for AsyncClient.
WEBHOOKS = {
    "test_explain",
    "test_mutations",
    "test_rfc4231",
    "test_webhook_vectors",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "language" in metafunc.fixturenames and not metafunc.definition.get_closest_marker("own_languages"):
        webhooks = metafunc.module.__name__.split(".")[-1] in WEBHOOKS
        clients = [each for each in known.CLIENTS if not webhooks or each in known.LANGUAGES]
        metafunc.parametrize("language", clients, scope="session")


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "only the cases of this client, alone and with the one in C++; may be given more than once"
    parser.addoption("--language", choices=known.CLIENTS, action="append", help=text)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "own_languages: the test names the languages of each of its cases itself")
    if chosen := config.getoption("--language"):
        # Before the modules are imported: it takes longer to make the cases of all clients than to run those of one.
        known.CLIENTS = tuple(each for each in known.CLIENTS if each in chosen)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if chosen := config.getoption("--language"):
        dropped = [item for item in items if not _languages(item) & {*chosen}]
        items[:] = [item for item in items if _languages(item) & {*chosen}]
        config.hook.pytest_deselected(items=dropped)


def _languages(item: pytest.Item) -> set[object]:
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return {parameters[name] for name in ("language", "one", "other") if name in parameters}


@pytest.fixture(scope="session")
def drivers() -> Iterator[Callable[[str], Driver]]:
    made: dict[str, Driver] = {}

    def get(language: str) -> Driver:
        if language not in made:
            made[language] = make_driver(language)
        return made[language]

    yield get
    errors: list[str] = []
    for language, driver in made.items():
        try:
            driver.close()
        except AssertionError as error:
            errors.append(f"{language}: {error}")
    assert not errors, "\n".join(errors)


@pytest.fixture
def driver(language: str, drivers: Callable[[str], Driver]) -> Driver:
    return drivers(language)
