"""What all commands share: help that needs no client, examples that run, the page in python/docs, and completion."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from billcore.cli import COMMANDS, _tree
from billcore.cli._command import Parser
from billcore.testing import Sandbox
from support.children import child_environment

from .support import billcore, environment, printed

ROOT = Path(__file__).resolve().parents[2]
# Commands whose examples need a person, a terminal, or a server of their own; their own tests run them.
ELSEWHERE = (
    "completion",
    "export",
    "reconcile",
    "sandbox",
    "listen",
    "doctor",
    "webhook",
    "charge",
    "journal",
    "inbox",
)


def leaves(parser: argparse.ArgumentParser) -> Iterator[Parser]:
    """The parsers of all commands that run."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if below:
        for child in below[0].choices.values():
            yield from leaves(child)
    elif isinstance(parser, Parser):
        yield parser


LEAVES = [leaf for leaf in leaves(_tree.whole()) if not leaf.prog.endswith("sandbox")]  # a package of its own
EXAMPLES = [line for leaf in LEAVES if leaf.prog.split()[1] not in ELSEWHERE for line in leaf.examples]


def test_every_command_has_examples_and_json() -> None:
    assert not [leaf.prog for leaf in LEAVES if not leaf.examples]
    # These print a script, or SQL.
    texts = {"billcore completion", "billcore journal schema", "billcore inbox schema"}
    assert {leaf.prog for leaf in LEAVES if "--json" not in leaf.format_help()} == texts


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of the examples: a sandbox with its demo data, a profile, and files."""
    home = tmp_path_factory.mktemp("home")
    (home / "key.txt").write_text("a-key", "utf-8")
    (home / "product.json").write_text('{"price": 5}', "utf-8")
    (home / "bin").mkdir()
    (home / "bin/billcore").write_text(f'#!/bin/sh\nexec {sys.executable} -m billcore "$@"\n', "utf-8")
    (home / "bin/billcore").chmod(0o755)
    with Sandbox() as sandbox:
        variables = environment(sandbox, HOME=str(home))
        variables.pop("XDG_CONFIG_HOME", None)
        variables["PATH"] = f"{home}/bin:{variables['PATH']}"
        printed("", "profile", "add", "test", "--base-url=http://127.0.0.1:1/a", env=variables, input="k")
        yield variables


@pytest.mark.parametrize("line", EXAMPLES)
def test_the_examples_run(demo: dict[str, str], line: str) -> None:
    command = line.replace(" add test ", " add other ")  # there is a profile `test` for the other examples
    done = subprocess.run(["sh", "-c", command], env=demo, cwd=demo["HOME"], capture_output=True, text=True)
    assert done.returncode == 0, done


def test_help_needs_no_client() -> None:
    """Help is quick: it imports neither the client nor the modules that only some commands need."""
    checks = "import sys; from billcore.cli import main\ntry: main(sys.argv[1:])\nexcept SystemExit: pass\n"
    checks += (
        "heavy = {'billcore._client', 'billcore._webhook', 'asyncio', 'http', 'rich', 'shtab', 'keyring', 'sqlite3'}"
    )
    checks += "\nassert not heavy & {*sys.modules}, heavy & {*sys.modules}"
    names = [name.replace("_", "-") for group in COMMANDS.values() for name in group if name != "sandbox"]
    for name in ["", *names]:
        arguments = [*filter(None, [name]), "--help"]
        done = subprocess.run(
            [sys.executable, "-c", checks, *arguments], env=child_environment(), capture_output=True, text=True
        )
        assert done.returncode == 0 and done.stdout.startswith(f"usage: billcore {name}".rstrip()), done


def test_the_page_is_made_from_the_parsers() -> None:
    writer = [sys.executable, str(ROOT / "python/docs/write_commands.py"), "--check"]
    done = subprocess.run(writer, env=child_environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(importlib.util.find_spec("shtab") is None, reason="needs shtab")
def test_completion_in_bash(tmp_path: Path) -> None:
    """Bash completes a command, a sub-command and an option."""
    (tmp_path / "script").write_text(printed("http://127.0.0.1:1", "completion", "bash"), "utf-8")
    function = "_shtab_billcore"
    for words, expected in (
        (["billcore", "subscr"], "subscriptions"),
        (["billcore", "subscriptions", "ca"], "cancel"),
        (["billcore", "orders", "--sta"], "--state"),
    ):
        program = f". {tmp_path}/script; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; {function}; "
        done = subprocess.run(["bash", "-c", program + 'echo "${COMPREPLY[@]}"'], capture_output=True, text=True)
        assert done.stdout.split() == [expected], done
    for shell in ("zsh", "fish", "tcsh"):
        assert "subscriptions" in printed("http://127.0.0.1:1", "completion", shell)


def test_completion_without_shtab(tmp_path: Path) -> None:
    (tmp_path / "shtab.py").write_text("raise ImportError('no shtab')", "utf-8")
    variables = environment("http://127.0.0.1:1")
    variables["PYTHONPATH"] = f"{tmp_path}:{variables['PYTHONPATH']}"
    done = billcore("", "completion", "bash", env=variables)
    assert (done.returncode, done.stdout) == (2, "") and "pip install shtab" in done.stderr
