"""Every type checker accepts the programs of users and refuses each line of mistakes.py that is marked for it."""

from __future__ import annotations

import ast
import inspect
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import billcore
from billcore import webhooks
from python.typing import receiver
from python.typing.checkers import CHECKERS, PACKAGE, run

HERE = Path(__file__).resolve().parent
ALLOWED = HERE.parents[2] / "python/stubtest-allowlist.txt"
FUTURE = "2999-01-01T00:00:00Z"
GOOD = [
    *(HERE / name for name in ("receiver.py", "charge.py", "job.py")),
    *sorted((HERE.parents[2] / "examples/python").glob("*.py")),
]
MARK = re.compile(r"# wrong(?:: (?P<by>[\w ]+))?$")

# The tests run only with the installed package, because the stubs are the same in every build.
pytestmark = pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="runs with the installed package")


def marked(checker: str) -> dict[int, str]:
    """The lines of mistakes.py that the checker must refuse: their mark names the checker, or names no checker."""
    out = {}
    for number, line in enumerate((HERE / "mistakes.py").read_text("utf-8").splitlines(), start=1):
        found = MARK.search(line)
        if found and checker in (found["by"] or checker).split():
            out[number] = line.strip()
    return out


@pytest.mark.parametrize("checker", CHECKERS)
def test_programs_of_users(checker: str, tmp_path: Path) -> None:
    assert len(GOOD) >= 10
    for path in GOOD:
        shutil.copy(path, tmp_path / f"{path.parent.name}_{path.name}")
    shutil.copy(HERE.parents[2] / "examples/python/shop.py", tmp_path)  # test_shop.py imports it
    problems = CHECKERS[checker](tmp_path)
    assert problems == []


@pytest.mark.parametrize("checker", CHECKERS)
def test_mistakes_of_users(checker: str, tmp_path: Path) -> None:
    shutil.copy(HERE / "mistakes.py", tmp_path)
    problems = CHECKERS[checker](tmp_path)
    expected = marked(checker)
    refused = {problem.line for problem in problems}
    assert len(expected) > 35
    assert [expected[line] for line in sorted(expected.keys() - refused)] == [], "accepted"
    assert [problem for problem in problems if problem.line not in expected] == [], "refused without a mark"


def test_the_receiver_reads_every_event() -> None:
    """The program that the checkers accept also runs correctly."""
    expected = {
        "subscription.created": "DEMO-ACTIVE",
        "subscription.updated": "fine",
        "subscription.renewed": "fine",
        "subscription.cancelled": "usable",
        "order.paid": "50.00 DKK",
        "order.confirmed": "50.00 DKK",
        "product.updated": "Coffee 26",
        "product.deleted": "Coffee 26",
        "product-group.updated": "1, 2",
        "product-group.deleted": "product-group.deleted",
        "test.hook": "test.hook",
    }
    fields: dict[str, dict[str, Any]] = {
        "subscription": {"reference_id": "demo-active", "status": "active"},
        "order": {"total_with_vat": 5000, "currency": "DKK"},
        "product": {"name": "Coffee", "vat_rate": 25},
        "product-group": {"products": [1, 2]},
        "test": {},
    }
    changes: dict[str, dict[str, Any]] = {"subscription.cancelled": {"status": "cancelled", "ends_at": FUTURE}}
    for name, text in expected.items():
        more = fields[name.partition(".")[0]] | changes.get(name, {})
        body, signature = billcore.testing.event(name, **more)
        assert receiver.handle(webhooks.unwrap(body, signature, billcore.testing.SECRET)) == text
    assert receiver.handle(webhooks.parse_unverified(b'{"name":"later"}')) == "later"


def test_stubs_say_what_is_there(tmp_path: Path) -> None:
    config = tmp_path / "mypy.ini"
    text = "[mypy]\n[mypy-pyarrow.*,pyspark.*,keyring.*,psycopg.*,shtab.*]\nignore_missing_imports = true\n"
    # The types of these take longer to read than all others, and no stub has one; tests/run.sh lint reads them.
    config.write_text(f"{text}[mypy-duckdb.*,pytest.*,_pytest.*]\nfollow_imports = skip\n")
    command = ["mypy.stubtest", "billcore", "--allowlist", str(ALLOWED), "--mypy-config-file", str(config)]
    output = run(command, tmp_path)
    assert output.startswith("Success"), output


def test_stubs_have_the_docstrings_of_the_package() -> None:
    """An editor shows those of the stubs, help() those of the package; a stub may say more."""
    compared = 0
    for stub in PACKAGE.joinpath("billcore").glob("*.pyi"):
        for node in ast.parse(stub.read_text("utf-8")).body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef):
                continue
            home = getattr(billcore, node.name, None) or getattr(webhooks, node.name, None)
            if home is None:  # a protocol, which only type checkers know
                continue
            found: list[tuple[Any, Any]] = [(node, home)]
            if isinstance(node, ast.ClassDef):
                members = [each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
                found += [(each, inspect.getattr_static(home, each.name)) for each in members if each.name[0] != "_"]
            for each, value in found:
                if shown := ast.get_docstring(each):
                    compared += 1
                    text = inspect.getdoc(getattr(value, "__func__", value)) or ""
                    assert text.startswith(shown.partition("\n")[0]), (node.name, each.name)
    assert compared > 150
