"""What an export refuses, and failures in the middle: nothing is lost, nothing is twice, one clear sentence."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import billcore
from billcore.testing import Sandbox, SandboxAccount
from support.waiting import GENEROUS, until

from .support import client_of, command, environment, export, listed, pairs, refused, result, rows

PARTS = ("--format", "jsonl", "--lists-per-part", 1)


def complete(account: SandboxAccount, *arguments: object, folder: Path) -> None:
    """The same command finishes the export, and every order is there once."""
    done = export(account, *arguments)
    assert done.returncode == 0, done
    with billcore.Client(base_url=account.base_url, api_key=account.control.keys()[-1]["api_key"]) as client:
        assert sorted(pairs(rows(folder))) == sorted(listed(client))


@contextlib.contextmanager
def full_disk(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """A folder that has no room for an export; yields the error, and arguments for Popen. Without the right to mount,
    the size of files is limited instead."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=48k", "none", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        yield "File too large", {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))}
        return
    try:
        yield "No space left on device", {}
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("file_format", ["jsonl", "parquet"])
def test_a_full_disk_keeps_the_finished_parts(account: SandboxAccount, tmp_path: Path, file_format: str) -> None:
    disk = tmp_path / "disk"
    arguments = ("orders", "-o", disk / "out", "--format", file_format, "--lists-per-part", 1, "--fields", "id,raw")
    with full_disk(disk) as (problem, more):
        first, second = refused(account, 1, *arguments, **more).splitlines()
        assert first.startswith(f"billcore export: {disk}/out/") and first.endswith(f": {problem}")
        finished = len([*disk.glob("out/part-*.json")])
        assert second == f"billcore export: {finished} of 6 parts are finished: run the same command again to continue"
        assert not [*disk.glob("out/*.tmp")]
        if not more:
            subprocess.run(["mount", "-o", "remount,size=4m", str(disk)], check=True)
        found = result(account, *arguments)
        with client_of(account) as client:
            assert found["rows"] == len(listed(client))


def test_a_folder_that_belongs_to_others(account: SandboxAccount, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    text = (
        f"billcore export: {tmp_path}/notes.txt is not part of an export: move it away, or export into another folder\n"
    )
    assert refused(account, 2, "orders", "-o", tmp_path, *PARTS) == text
    assert os.listdir(tmp_path) == ["notes.txt"] and (tmp_path / "notes.txt").read_text() == "mine"
    # A file that somebody put into an export, also one of a part that the plan does not have.
    result(account, "orders", "-o", tmp_path / "out", *PARTS)
    for name in ("notes.txt", "orders-00006.jsonl", "orders-00000.csv"):
        (tmp_path / "out" / name).touch()
        assert f"{name} is not part of an export" in refused(account, 2, "orders", "-o", tmp_path / "out", *PARTS)
        (tmp_path / "out" / name).unlink()
    complete(account, "orders", "-o", tmp_path / "out", *PARTS, folder=tmp_path / "out")


def test_a_folder_that_other_programs_have_seen(account: SandboxAccount, tmp_path: Path) -> None:
    """What macOS, Spark, Hadoop, Windows and a disk leave there is no obstacle, and is kept."""
    names = {".DS_Store", "._orders-00000.jsonl", "_SUCCESS", "Thumbs.db", "lost+found"}
    for name in names:
        (tmp_path / name).touch()
    for _ in range(2):
        complete(account, "orders", "-o", tmp_path, *PARTS, folder=tmp_path)
    assert names < {*os.listdir(tmp_path)}


def test_a_folder_whose_name_looks_like_a_url(account: SandboxAccount, tmp_path: Path) -> None:
    result(account, "orders", "-o", f"{tmp_path}/s3://lake/orders.csv")
    assert (tmp_path / "s3:/lake/orders.csv").is_file()


EDITS: dict[str, Callable[[bytes], bytes | None]] = {
    "changed": lambda text: re.sub(rb"[0-9](?=[^0-9]*$)", lambda digit: b"%d" % (9 - int(digit[0])), text),  # the last
    "cut": lambda text: text[:-9],
    "removed": lambda _: None,
}


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("orders-00003.jsonl", "changed"),
        ("reads-00003.jsonl", "removed"),
        *(("part-00003.json", edit) for edit in EDITS),
        ("plan.json", "changed"),
        ("plan.json", "removed"),
    ],
)
def test_a_file_that_was_edited(account: SandboxAccount, tmp_path: Path, name: str, edit: str) -> None:
    arguments = ("orders", "-o", tmp_path, *PARTS)
    result(account, *arguments)
    file, manifest = tmp_path / name, tmp_path / "part-00003.json"
    edited = EDITS[edit](file.read_bytes())
    file.unlink()
    if edited is not None:
        assert file.write_bytes(edited)
    if name != manifest.name or edit != "removed":
        text = refused(account, 1, *arguments)
        assert text.startswith(f"billcore export: {file} was ") and text.count("\n") == 1
        assert "restore it, or " in text
    if name != "plan.json":  # the part is read again
        manifest.unlink(missing_ok=True)
        complete(account, *arguments, folder=tmp_path)


def test_a_plan_of_another_export(sandbox: Sandbox, account: SandboxAccount, tmp_path: Path) -> None:
    result(account, "orders", "-o", tmp_path, *PARTS)
    other = sandbox.new_account()
    for used, arguments, differs in (
        (other, ("orders", "--format", "jsonl"), f"base_url is {account.base_url}, not {other.base_url}"),
        (account, ("products", "--format", "jsonl"), "resource is orders, not products"),
        (account, ("orders", "--format", "csv"), "file_format is jsonl, not csv"),
        (account, ("orders", "--format", "jsonl", "--fields", "id,total"), "fields is id,created_at,"),
    ):
        text = refused(used, 2, *arguments, "-o", tmp_path)
        assert text.startswith(f"billcore export: {tmp_path} has an export whose {differs}"), text
    plan = json.loads((tmp_path / "plan.json").read_bytes())
    for name, value in (("format", 99), ("interface", "2031-01-01")):  # another version of billcore
        (tmp_path / "plan.json").write_text(json.dumps({**plan, name: value}))
        assert f"an export whose {name} is {value}, not" in refused(account, 2, "orders", "-o", tmp_path, *PARTS)


def test_a_part_of_another_export(account: SandboxAccount, tmp_path: Path) -> None:
    """Its file would have orders that other parts have as well."""
    ours, other = tmp_path / "ours", tmp_path / "other"
    result(account, "orders", "-o", ours, *PARTS)
    result(account, "orders", "-o", other, "--format", "jsonl", "--lists-per-part", 2)
    for file in other.glob("*-00000.json*"):
        file.replace(ours / file.name)
    text = refused(account, 1, "orders", "-o", ours, *PARTS)
    manifest = ours / "part-00000.json"
    assert text == (
        f"billcore export: {manifest} belongs to another plan.json: remove {manifest} to read this part again\n"
    )
    manifest.unlink()
    complete(account, "orders", "-o", ours, *PARTS, folder=ours)


def test_two_exports_at_once(account: SandboxAccount, tmp_path: Path) -> None:
    control = account.control
    fault = control.fault("reset_before", operation="subscriptions.orders", times=10_000)
    arguments = ("orders", "-o", tmp_path / "out", *PARTS)
    with subprocess.Popen(command(*arguments), env=environment(account), stderr=subprocess.DEVNULL) as first:
        try:
            until(lambda: control.faults()[0]["fired"])
            text = refused(account, 1, *arguments, timeout=GENEROUS)
            assert text == f"billcore export: {tmp_path}/out: another export is writing here: wait until it has ended\n"
        finally:
            first.kill()
    control.delete_fault(fault)
    complete(account, *arguments, folder=tmp_path / "out")


def test_a_key_that_is_revoked_in_the_middle(account: SandboxAccount, tmp_path: Path) -> None:
    control = account.control
    fault = control.fault("status", operation="subscriptions.orders", nth=4, status=401, times=10_000)
    arguments = ("orders", "-o", tmp_path / "out", *PARTS)
    first, second = refused(account, 1, *arguments).splitlines()
    assert "401" in first and account.api_key not in first
    assert second == "billcore export: 3 of 6 parts are finished: run the same command again to continue"
    control.delete_fault(fault)
    key = tmp_path / "key"
    key.write_text(control.rotate_key(control.keys()[0]["id"]) + "\n")
    assert "401" in refused(account, 1, *arguments)
    complete(account, *arguments, "--api-key-file", key, folder=tmp_path / "out")


def test_an_existing_file_is_kept(account: SandboxAccount, tmp_path: Path) -> None:
    file = tmp_path / "orders.jsonl"
    file.write_text("mine")
    text = refused(account, 2, "orders", "-o", file)
    assert text == f"billcore export: {file} exists: pass --overwrite to replace it, or choose another name\n"
    assert file.read_text() == "mine" and os.listdir(tmp_path) == ["orders.jsonl"]
    complete(account, "orders", "-o", file, "--overwrite", folder=file)


def test_files_of_the_user_next_to_those_of_an_export(account: SandboxAccount, tmp_path: Path) -> None:
    """The export changes no file of the user: neither one named like a temporary file, nor the target of a link."""
    mine, out = tmp_path / "mine", tmp_path / "out"
    for each in (mine, tmp_path / "orders.jsonl.tmp"):
        each.write_text("mine")
    (tmp_path / "orders.reads.jsonl.tmp").symlink_to(mine)
    result(account, "orders", "-o", tmp_path / "orders.jsonl")
    assert (tmp_path / "orders.jsonl.tmp").read_text() == "mine" == (tmp_path / "orders.reads.jsonl.tmp").read_text()
    out.mkdir()
    (out / "plan.json.tmp").symlink_to(mine)
    result(account, "orders", "-o", out, *PARTS)
    for name in ("part-00001.json", "reads-00001.jsonl"):
        (out / name).unlink()
    for name in ("part-00001.json.tmp", "orders-00001.jsonl.tmp", "reads-00001.jsonl"):
        (out / name).symlink_to(mine)
    complete(account, "orders", "-o", out, *PARTS, folder=out)
    assert mine.read_text() == "mine"


def test_a_file_of_the_user_in_the_folder_of_parts(account: SandboxAccount, tmp_path: Path) -> None:
    """A file that appears while the orders are read is kept; one that is there before is refused."""
    control = account.control
    fault = control.fault("reset_before", operation="subscriptions.orders", times=10_000)
    file, notes = tmp_path / "orders.jsonl", tmp_path / "orders.jsonl.parts" / "notes.txt"
    with subprocess.Popen(
        command("orders", "-o", file), env=environment(account), stdout=subprocess.DEVNULL
    ) as running:
        until(lambda: control.faults()[0]["fired"])
        notes.write_text("mine")
        control.delete_fault(fault)
        assert running.wait() == 0
    assert [*notes.parent.iterdir()] == [notes] and notes.read_text() == "mine"
    complete(account, "orders", "-o", tmp_path / "again.jsonl", folder=file)
    assert "notes.txt is not part of an export" in refused(account, 2, "orders", "-o", file, "--overwrite")


def test_a_link_to_nothing_is_kept(account: SandboxAccount, tmp_path: Path) -> None:
    """For example to a disk that is not mounted."""
    file = tmp_path / "orders.jsonl"
    file.symlink_to(tmp_path / "absent" / "orders.jsonl")
    assert f"{file} exists" in refused(account, 2, "orders", "-o", file)
    assert file.is_symlink()


def test_an_error_while_parquet_is_written(account: SandboxAccount, tmp_path: Path) -> None:
    """pyarrow would write the end of the file after the file was closed, and print that this failed."""
    account.control.fault("status", operation="subscriptions.orders", nth=4, status=403)
    arguments = ("orders", "-o", tmp_path / "out", "--format", "parquet", "--lists-at-once", 1)
    first, second = refused(account, 1, *arguments, "--fail-fast").splitlines()
    assert "403" in first and "0 of 1 parts are finished" in second
    result(account, *arguments)


def test_a_path_that_cannot_be_printed(account: SandboxAccount, tmp_path: Path) -> None:
    for name, shown in ((b"\xff\n.csv", r"\udcff\n.csv"), ("\u2192.csv".encode(), r"\u2192.csv")):
        arguments = command("orders", "-o", tmp_path / os.fsdecode(name))
        ascii_only = {**environment(account), "PYTHONIOENCODING": "ascii"}
        done = subprocess.run(arguments, env=ascii_only, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.splitlines()[0].endswith(shown), done
        again = subprocess.run(arguments, env=ascii_only, capture_output=True, text=True)
        assert again.returncode == 2 and f"{shown} exists" in again.stderr and again.stderr.count("\n") == 1
