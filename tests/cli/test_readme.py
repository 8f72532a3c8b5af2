"""The sessions in python/README.md are what the commands print: a command with a pipe in pipes, others on a terminal.

tests/cli/test_readme.py, run as a program, writes the outputs into the page.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from billcore.testing import Sandbox

from .support import environment
from .terminal import Terminal

PAGE = Path(__file__).resolve().parents[2] / "python/README.md"
SESSION = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def printed(command: str, variables: dict[str, str]) -> str:
    if "|" in command:
        here = command.replace("billcore", f"{sys.executable} -m billcore")
        return subprocess.run(["sh", "-c", here], env=variables, capture_output=True, text=True, check=True).stdout
    with Terminal(*command.split()[1:], env=variables) as terminal:
        assert terminal.wait() == 0, terminal.lines
        return "\n".join(line.rstrip() for line in terminal.lines)


def page() -> str:
    """The page as it would be with the outputs of today."""
    with Sandbox() as sandbox:
        variables = environment(sandbox)

        def session(found: re.Match[str]) -> str:
            commands = [line for line in found[0].splitlines() if line.startswith("$ ")]
            return "".join(f"{each}\n{printed(each[2:], variables)}" for each in commands)

        return SESSION.sub(session, PAGE.read_text("utf-8"))


def test_the_sessions() -> None:
    time = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d")  # of a sandbox whose demo data is relative to its start
    assert time.sub("TIME", page()) == time.sub("TIME", PAGE.read_text("utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
