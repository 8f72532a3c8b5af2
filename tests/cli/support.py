"""Shared by the tests of the commands: running them, as a user does."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from billcore.testing import Account, SandboxAccount
from support.children import child_environment
from support.commands import run_here


def environment(account: SandboxAccount | Account | str, **more: str) -> dict[str, str]:
    """The environment of a command that uses this account, or an account of the server with this URL."""
    url, key = (f"{account}/a", "key") if isinstance(account, str) else (account.base_url, account.api_key)
    made = child_environment(BILLCORE_BASE_URL=url, BILLCORE_API_KEY=key)
    made.pop("COLUMNS", None)  # of the terminal in which the tests run
    return {**made, **more}


def billcore(
    account: SandboxAccount | Account | str, *arguments: object, text: bool = True, **more: Any
) -> subprocess.CompletedProcess[Any]:
    """Run a command in this process, with `env`, `input` and `cwd`.

    It runs in a new process, in pipes, with `new`, if `more` has other arguments of subprocess.run(), such as stdout,
    or if `env` has variables that only a new interpreter reads.
    """
    more.setdefault("env", environment(account))
    is_new = more.pop("new", False) or bool({*more} - {"env", "input", "cwd"})
    if not is_new and _of_interpreter(more["env"]) == _of_interpreter(child_environment()):
        if isinstance(more.get("input"), str):
            more["input"] = more["input"].encode()
        done: subprocess.CompletedProcess[Any] = run_here(*arguments, **more)
        if text:
            done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        return done
    more.setdefault("stdin", None if "input" in more else subprocess.DEVNULL)
    command = [sys.executable, "-m", "billcore", *map(str, arguments)]
    return subprocess.run(
        command, capture_output="stdout" not in more, text=text, encoding="utf-8" if text else None, **more
    )


def _of_interpreter(variables: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name.startswith(("PYTHON", "LC_", "BILLCORE_LOG"))}


def printed(account: SandboxAccount | Account | str, *arguments: object, **more: Any) -> str:
    """What a command prints that succeeds, and says nothing on stderr."""
    done = billcore(account, *arguments, **more)
    assert (done.returncode, done.stderr) == (0, ""), done
    out: str = done.stdout
    return out


def refused(account: SandboxAccount | Account | str, status: int, *arguments: object, **more: Any) -> str:
    """The only line that a command prints on stderr, which ends with this status and prints nothing else."""
    done = billcore(account, *arguments, **more)
    assert (done.returncode, done.stdout) == (status, ""), done
    assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr, done
    line: str = done.stderr.rstrip("\n")
    return line
