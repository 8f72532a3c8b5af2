"""`billcore reconcile` after `billcore export`, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow
import pytest

from billcore.reconcile import compare
from billcore.testing import Sandbox
from export.support import export
from export.support import run as command
from support.children import child_environment

from .support import order, orders, read, write_export, write_table


def run(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs `billcore reconcile`; in a new process if it needs other variables of the environment."""
    if not variables:
        return command("reconcile", *arguments)
    new = [sys.executable, "-m", "billcore", "reconcile", *map(str, arguments)]
    return subprocess.run(new, env=child_environment(**variables), capture_output=True, text=True)


@pytest.fixture(scope="module")
def folder(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    account = sandbox.new_account()
    folder = tmp_path_factory.mktemp("command")
    for options in (["nightly/", "--format", "jsonl"], ["orders.csv"]):
        done = export(account, "orders", "-o", f"{folder}/{options[0]}", *options[1:])
        assert done.returncode == 0, done
    return folder


def rows(folder: Path, *names: str) -> list[list[str]]:
    """These columns of each row of the export."""
    files = sorted(folder.glob("nightly/orders-*.jsonl"))
    found = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [[str(row[name]) for name in names] for row in found]


def table(path: Path, names: str, found: list[list[str]]) -> Path:
    path.write_text("".join(f"{line}\n" for line in [names, *map(",".join, found)]))
    return path


@pytest.mark.parametrize("export", ["nightly", "orders.csv"])
def test_a_table_that_agrees(folder: Path, tmp_path: Path, export: str) -> None:
    found = rows(folder, "id", "total", "state")
    halves = [table(tmp_path / f"{at}.csv", "id,total,state", found[at::2]) for at in (0, 1)]
    done = run(folder / export, *halves)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["0"] * 5
    # A row that is newer than the export is no reason for another status.
    done = run(folder / export, *halves, table(tmp_path / "newer.csv", "id,total,state", [["999", "1", "paid"]]))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "unknown 999"), done


def test_a_table_that_does_not_agree(folder: Path, tmp_path: Path) -> None:
    found = rows(folder, "id", "total", "state")
    kept = [*found[12:-1], [found[-1][0], "7", found[-1][2]], found[20], ["999", "1", "paid"]]
    mine = table(tmp_path / "mine.csv", "order_id,cents,state", kept)
    options = [folder / "nightly", mine, "--columns", "id=order_id,total=cents,state"]
    done = run(*options)
    assert (done.returncode, done.stderr) == (3, ""), done
    lines = done.stdout.splitlines()
    assert [line.split() for line in lines[:5]] == [
        ["missing", "12"],
        ["differing", "1"],
        ["duplicates", "1"],
        ["unverifiable", "0"],
        ["unknown", "1"],
    ]
    assert {*lines[5:15]} < {f"missing {id}" for id, _, _ in found[:12]}
    last, total, _ = found[-1]
    assert lines[15:] == [
        "and 2 more missing: see --json",
        f"differing {last}: total is {total!r} in the export, '7' in the table",
        f"duplicates {found[20][0]}: 2 rows",
        "unknown 999",
    ]
    printed = json.loads(run(*options, "--json", TZ="America/New_York").stdout)
    assert printed["agrees"] is False and printed["counts"]["missing"] == 12
    assert sorted(row["id"] for row in printed["missing"]) == sorted(id for id, _, _ in found[:12])
    assert printed["missing"][0]["created_at"].endswith("Z")
    times = rows(folder, "id", "created_at")[:12]
    assert sorted([row["id"], row["created_at"]] for row in printed["missing"]) == sorted(times)
    assert printed["differing"] == [{"id": last, "field": "total", "exported": total, "recorded": "7"}]


@pytest.mark.parametrize("resource", ["orders", "subscriptions", "products"])
def test_the_formats_of_an_export_agree(sandbox: Sandbox, tmp_path: Path, resource: str) -> None:
    files = [tmp_path / f"{resource}.{extension}" for extension in ("parquet", "jsonl", "csv")]
    for file in files:
        done = export(sandbox, resource, "-o", file)
        assert done.returncode == 0, done
    for one in files:
        for other in files:
            with compare(one, other) as found:
                assert found.counts == dict.fromkeys(found.counts, 0), (one, other)
                compared = found.connection.execute("DESCRIBE recorded").fetchall()
                assert len(compared) > 8


def test_wrong_exports_tables_and_columns_are_refused(folder: Path, tmp_path: Path) -> None:
    mine = write_table(tmp_path / "mine.parquet", orders(order(1)))
    (tmp_path / "duckdb.py").write_text("raise ImportError\n")
    without = f"{tmp_path}:{child_environment()['PYTHONPATH']}"
    for arguments, variables, message in (
        ([tmp_path, mine], {}, "no readable plan.json"),
        ([folder / "nightly", tmp_path / "mine.csv"], {}, "mine.csv"),
        ([folder / "nightly", mine, "--columns", "id,metadata"], {}, "metadata cannot be compared"),
        ([folder / "absent.csv", mine], {}, "absent.csv.manifest.json is absent"),
        (["s3://bucket/nightly/", mine], {}, "nightly.manifest.json is absent: pass a folder or FILE"),
        ([folder / "nightly"], {}, "required: TABLE"),
        ([folder / "nightly", mine], {"PYTHONPATH": without}, "pip install duckdb"),
    ):
        done = run(*arguments, **variables)
        assert (done.returncode, done.stdout) == (2, ""), done
        [line] = done.stderr.splitlines()
        assert line.startswith("billcore reconcile: ") and message in line


def test_each_row_is_printed_as_one_line(tmp_path: Path) -> None:
    """An id must neither look like further rows, nor command the terminal, nor fail in a terminal without Unicode."""
    rows = orders(order(1, id="1\nmissing 2\x1b[2J\u2192"))
    export = write_export(tmp_path / "export", [(rows, pyarrow.Table.from_pylist([read("1")]))], "parquet")
    mine = write_table(tmp_path / "mine.parquet", orders())
    done = run(export, mine, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stdout.splitlines()[5:]) == (3, [r"missing 1\nmissing 2\x1b[2J\u2192"]), done
