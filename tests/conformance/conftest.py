"""Runs every test that has a parameter `language` once for each client. The driver programs run until the session
ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from .drivers import CLIENTS, LANGUAGES, Driver, make_driver

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
        metafunc.parametrize("language", LANGUAGES if webhooks else CLIENTS, scope="session")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--language", choices=CLIENTS, help="only the cases of this client, with any other one")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if language := config.getoption("--language"):
        dropped = [item for item in items if language not in _languages(item)]
        items[:] = [item for item in items if language in _languages(item)]
        config.hook.pytest_deselected(items=dropped)


def _languages(item: pytest.Item) -> set[object]:
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return {parameters[name] for name in ("language", "one", "other") if name in parameters}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "own_languages: the test names the languages of each of its cases itself")


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
