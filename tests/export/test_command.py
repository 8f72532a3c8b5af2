"""What `billcore export` prints, on a terminal and in a pipe, and its exit status."""

from __future__ import annotations

import itertools
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from billcore.cli import _progress
from billcore.testing import SandboxAccount
from conformance.server import closed_port
from support.children import child_environment

from .support import client_of, command, environment, export, refused, result, rows, run


def on_a_terminal(account: SandboxAccount, *arguments: object) -> tuple[int, str, str]:
    """Runs an export whose stderr is a terminal; returns its status, stdout and stderr."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command(*arguments),
        env={**environment(account), "TERM": "xterm", "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    ) as running:
        os.close(theirs)
        drawn = b""
        try:
            while chunk := os.read(ours, 1 << 16):
                drawn += chunk
        except OSError:  # EIO: the terminal was closed
            pass
        finally:
            os.close(ours)
        assert running.stdout is not None
        return running.wait(), running.stdout.read(), drawn.decode()


def test_the_result_in_a_pipe_and_on_a_terminal(account: SandboxAccount, tmp_path: Path) -> None:
    table = "verdict   lists  total\ncomplete      6     65\n"
    done = export(account, "orders", "-o", tmp_path / "pipe", "--format", "csv")
    assert (done.returncode, done.stdout) == (0, f"65 orders of 6 subscriptions in {tmp_path}/pipe\n{table}")
    assert done.stderr == ""
    status, printed, drawn = on_a_terminal(account, "orders", "-o", tmp_path / "terminal", "--format", "csv")
    assert (status, printed) == (0, f"65 orders of 6 subscriptions in {tmp_path}/terminal\n{table}")
    assert "6/6" in drawn and "lists, 65 rows," in drawn and "\x1b[" in drawn
    again = export(account, "orders", "-o", tmp_path / "pipe", "--format", "csv")
    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert "export planned at 20" in again.stderr and again.stderr.endswith(": 1 of 1 parts are finished\n")


def test_a_line_every_ten_seconds_in_a_pipe(
    account: SandboxAccount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reading of the clock is two seconds later; the clock is read twice for most lists, and for each line."""
    seconds = itertools.count(0, 2)
    monkeypatch.setattr(_progress, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    options = ["--format", "jsonl", "--lists-per-part", "1", "--lists-at-once", "1"]
    variables = {"BILLCORE_BASE_URL": account.base_url, "BILLCORE_API_KEY": account.api_key}
    done = run("export", "orders", "-o", tmp_path / "out", *options, **variables)
    lines = [line.split(",")[:2] for line in done.stderr.splitlines()]
    assert done.returncode == 0, done
    assert [line[0] for line in lines] == [f"{number} of 6 lists" for number in (2, 4, 6)]
    assert lines[-1][1] == " 65 rows"


def test_a_record_that_may_be_missing(account: SandboxAccount, tmp_path: Path) -> None:
    vanished = next(row["id"] for row in first_subscriptions(account, tmp_path / "before.jsonl"))
    account.control.fault("rows", operation="subscriptions.list", delete=1)
    file = tmp_path / "orders.jsonl"
    done = export(account, "orders", "-o", file)
    assert done.returncode == 3
    lines = done.stdout.splitlines()
    assert lines[1:4] == [
        "verdict    lists  total",
        f"complete       5  {len(rows(file)):5}",
        "not_found      1      0",
    ]
    assert lines[4].startswith(f"not_found {vanished}: ") and len(lines) == 5
    again = export(account, "orders", "-o", file, "--overwrite", "--json")
    assert again.returncode == 0 and json.loads(again.stdout)["verdicts"] == {
        "complete": {"lists": 5, "total": len(rows(file))}
    }


def test_only_some_of_many_lists_are_printed(account: SandboxAccount, tmp_path: Path) -> None:
    account.control.fault("rows", operation="subscriptions.list", insert=20)
    with client_of(account) as client:
        client.subscriptions.list().first()
    account.control.fault("rows", operation="subscriptions.list", delete=12)
    done = export(account, "orders", "-o", tmp_path / "out", "--format", "jsonl")
    lines = done.stdout.splitlines()
    assert done.returncode == 3 and lines[3].split() == ["not_found", "12", "0"]
    assert [line.split()[0] for line in lines[4:-1]] == ["not_found"] * 10
    assert lines[-1] == "and 2 more lists that are not complete: see reads"


def test_a_subscription_that_may_be_missing(account: SandboxAccount, tmp_path: Path) -> None:
    """Each reading of the list of subscriptions sees a change, and all lists of orders are complete."""
    account.control.fault("rows", operation="subscriptions.list", insert=100, times=2)
    with client_of(account) as client:
        for _ in range(2):
            client.subscriptions.list().first()
    account.control.fault("rows", operation="subscriptions.list", query={"page": 1}, insert=1, times=3)
    done = export(account, "orders", "-o", tmp_path / "out", "--format", "jsonl")
    assert done.returncode == 3, done
    verdict, closing = done.stdout.splitlines()[2:]
    assert verdict.split() == ["complete", "208", "65"]
    assert closing.startswith("a subscription may be missing in the list of subscriptions: ")
    before = len(rows(tmp_path / "out", "reads"))
    found = result(account, "orders", "-o", tmp_path / "out", "--format", "jsonl")  # reads the list again
    assert (found["lists"], found["planned"]["verdict"]) == (209, "complete")
    reads = {row["id"]: row["verdict"] for row in rows(tmp_path / "out", "reads")}
    assert len(reads) == before + 1 == 210 and {*reads.values()} == {"complete"}


def first_subscriptions(account: SandboxAccount, file: Path) -> list[dict[str, object]]:
    result(account, "subscriptions", "-o", file)
    return rows(file)


def test_the_service_cannot_be_reached(account: SandboxAccount, tmp_path: Path) -> None:
    elsewhere = ("--base-url", f"http://127.0.0.1:{closed_port()}/a")
    text = refused(account, 5, "orders", "-o", tmp_path / "a", "--format", "csv", *elsewhere)
    assert text.startswith("billcore export: ") and text.count("\n") == 1
    # An export that continues does not repeat its requests for ten minutes either.
    arguments = ("orders", "-o", tmp_path / "b", "--format", "csv")
    result(account, *arguments)
    (tmp_path / "b/part-00000.json").unlink()
    account.control.fault("reset_before", times=10_000)
    text = refused(account, 5, *arguments)
    assert "0 of 1 parts are finished" in text and text.count("\n") == 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["orders"], "the following arguments are required: -o/--output"),
        (["orders", "-o", "x.csv", "--lists-per-part", "0"], "invalid whole number from 1 value: '0'"),
        (["orders", "-o", ""], "--output is empty: name a file or a folder"),
        (["orders", "-o", "-"], "--output is -, and files are not written to a pipe: name a file or a folder"),
        (["orders", "-o", "~/lake/"], "--output is ~/lake/, and no shell has replaced the ~: write the whole path"),
        (["orders", "-o", "file:///tmp/x.csv"], "--output is a URL: write the path itself, /tmp/x.csv"),
        (["orders", "-o", "file:/tmp/x/"], "--output is a URL: write the path itself, /tmp/x/"),
        (["orders", "-o", "https://u:secret@lake/x/?sig=secret"], "--output begins with https:, which is not on this"),
        (["orders", "-o", "x/", "--format", "csv", "--base-url", ""], "--base-url is empty: pass a URL, or leave"),
        (["orders", "-o", "x/", "--format", "csv", "--api-key-file", os.devnull], "/dev/null is empty: write the key"),
        (["orders", "-o", "folder"], "folder is a folder: pass --format parquet, jsonl or csv"),
        (["orders", "-o", "x.txt"], "x.txt must end in parquet, jsonl or csv, or in / for a folder"),
        (["orders", "-o", "x.csv", "--format", "jsonl"], "x.csv must end in jsonl, or in / for a folder"),
        (["orders", "-o", "x.csv", "--fields", "id,amount"], "fields[1] is not a column of orders: there are id, "),
        (["orders", "-o", "x.csv", "--api-key-file", "no-key"], "--api-key-file: no-key cannot be read: "),
    ],
)
def test_usage(
    account: SandboxAccount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    text = refused(account, 2, *arguments)
    assert text.startswith("billcore export: ") and problem in text and text.count("\n") == 1, text
    assert "secret" not in text
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("unbuffered", ["1", ""])
def test_a_pipe_whose_reader_has_ended(account: SandboxAccount, tmp_path: Path, unbuffered: str) -> None:
    reader, output = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            command("orders", "-o", tmp_path / "x.csv"),
            env=environment(account) | {"PYTHONUNBUFFERED": unbuffered},
            stdout=output,
            stderr=subprocess.PIPE,
        )
    finally:
        os.close(output)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


def test_without_a_key_the_command_names_the_missing_variable(account: SandboxAccount, tmp_path: Path) -> None:
    environment = {name: value for name, value in child_environment().items() if not name.startswith("BILLCORE_")}
    done = subprocess.run(
        command("orders", "-o", "x.csv"), env=environment, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 2 and "BILLCORE_BASE_URL" in done.stderr and done.stderr.count("\n") == 1


def test_a_command_needs_no_package_that_it_does_not_use(account: SandboxAccount, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules.update(pyarrow=None, rich=None, duckdb=None)\n"
        "from billcore.cli import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    for file, status, said in (
        ("x.jsonl", 0, ""),
        ("x.parquet", 2, "billcore export: parquet needs pyarrow: pip install pyarrow\n"),
    ):
        run = [sys.executable, "-c", code, "export", "orders", "-o", str(tmp_path / file)]
        done = subprocess.run(run, env=environment(account), capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (status, said)
