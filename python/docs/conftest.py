"""Runs the Python code blocks of the pages in python/docs against a sandbox: pytest python/docs.

The code blocks of one page share a namespace. BILLCORE_BASE_URL and BILLCORE_API_KEY are set, and the fixtures
`sandbox`, `signed_event`, `secret` and `folder` are available as variables. tests/spark runs spark.md, which needs an
engine; tests/journal and tests/inbox run what journal.md and inbox.md show, which needs databases; tests/cli runs
skill.md, whose blocks are programs and commands of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser

import billcore


@pytest.fixture(scope="session")
def running() -> Iterator[billcore.testing.Sandbox]:
    with billcore.testing.Sandbox() as sandbox, pytest.MonkeyPatch.context() as patch:
        patch.setenv("BILLCORE_BASE_URL", sandbox.base_url)
        patch.setenv("BILLCORE_API_KEY", sandbox.api_key)
        yield sandbox


@pytest.fixture(scope="module")
def sandbox(running: billcore.testing.Sandbox) -> billcore.testing.Sandbox:
    """The sandbox, reset to its initial state for each page."""
    running.control.reset()
    return running


@pytest.fixture
def secret() -> str:
    return billcore.testing.SECRET


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An empty folder for each page."""
    return str(tmp_path_factory.mktemp("folder"))


# The pages that other areas run.
ELSEWHERE = [Path(__file__).parent / name for name in ("inbox.md", "journal.md", "skill.md", "spark.md")]


class Pages(Sybil):
    def should_parse(self, path: Path) -> bool:
        return path not in ELSEWHERE and super().should_parse(path)


pytest_collect_file = Pages(
    parsers=[PythonCodeBlockParser()],
    patterns=["*.md"],
    fixtures=["sandbox", "signed_event", "secret", "folder"],
).pytest()
