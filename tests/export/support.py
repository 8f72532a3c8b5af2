"""Shared by the tests of `billcore export`: running it, and reading what it wrote."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import billcore
from billcore.testing import Account, SandboxAccount
from support.children import child_environment
from support.commands import run_here

Row = dict[str, Any]
# A busy machine may need more than ten seconds for an export, which then prints such lines.
PROGRESS = re.compile(r"^[\d,]+ of [\d,]+ lists, .* rows/s\n", re.MULTILINE)


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "billcore", "export", *map(str, arguments)]


def environment(account: SandboxAccount | Account) -> dict[str, str]:
    return child_environment(BILLCORE_BASE_URL=account.base_url, BILLCORE_API_KEY=account.api_key)


def run(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of `billcore` in this process, with further variables."""
    done = run_here(*arguments, env={**os.environ, **variables})
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def export(account: SandboxAccount | Account, *arguments: object, **more: Any) -> subprocess.CompletedProcess[str]:
    """Runs `billcore export`. With further arguments of subprocess.run(), in a new process, as a user does.

    The result's stderr has no lines of progress.
    """
    if more:
        done = subprocess.run(command(*arguments), env=environment(account), capture_output=True, text=True, **more)
    else:
        variables = {"BILLCORE_BASE_URL": account.base_url, "BILLCORE_API_KEY": account.api_key}
        done = run("export", *arguments, **variables)
    done.stderr = PROGRESS.sub("", done.stderr)
    return done


def refused(account: SandboxAccount | Account, status: int, *arguments: object, **more: Any) -> str:
    """Runs an export that fails; returns what it printed on stderr, which has no traceback."""
    done = export(account, *arguments, **more)
    assert (done.returncode, done.stdout) == (status, ""), done
    assert "Traceback" not in done.stderr
    return done.stderr


def result(account: SandboxAccount | Account, *arguments: object) -> dict[str, Any]:
    """Runs an export that succeeds; returns its result."""
    done = export(account, *arguments, "--json")
    assert done.returncode == 0, done
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["complete"]
    return found


@contextlib.contextmanager
def full_disk_after(files: int) -> Iterator[None]:
    """In the block, the disk is full at each file after so many ones."""
    sync, left = os.fsync, iter(range(files))

    def synced(descriptor: int) -> None:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and next(left, None) is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", synced)
        yield


def rows(path: Path, relation: str = "orders") -> list[Row]:
    """The rows of a jsonl file, or of the parts in a folder."""
    files = sorted(path.glob(f"{relation}-*.jsonl")) if path.is_dir() else [path]
    return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]


def pairs(found: list[Row]) -> list[tuple[str, str]]:
    return [(row["subscription_id"], row["id"]) for row in found]


def listed(client: billcore.Client) -> list[tuple[str, str]]:
    """The ids of all subscriptions and their orders, according to the service."""
    return [
        (str(subscription.id), str(order.id))
        for subscription in client.subscriptions.list()
        for order in client.subscriptions.orders(subscription.id, per_page=200)
    ]


def client_of(account: SandboxAccount | Account) -> billcore.Client:
    return billcore.Client(base_url=account.base_url, api_key=account.api_key)
