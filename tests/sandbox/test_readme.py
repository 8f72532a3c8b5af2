"""Compares the tables of the sandbox's README, and the files of examples/container, with the sandbox."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import billcore_sandbox
from billcore.testing import Sandbox
from billcore_sandbox import options, remote
from billcore_sandbox.lifecycle import Machine
from billcore_sandbox.scenarios import SCENARIOS
from billcore_sandbox.service.routes import OPERATIONS

README = (Path(billcore_sandbox.__file__).parents[1] / "README.md").read_text("utf-8")
CONTAINER = Path(__file__).resolve().parents[2] / "examples" / "container"


def table(first: str) -> list[list[str]]:
    """The rows of the README's table whose header begins with this cell, without backticks."""
    lines = README.replace("`", "").partition(f"\n| {first} |")[2].splitlines()[2:]
    rows = lines[: next(number for number, line in enumerate(lines) if not line.startswith("|"))]
    return [[cell.strip() for cell in row[1:-1].split("|")] for row in rows]


def test_the_readme_has_the_table_of_states() -> None:
    rows = [
        [
            row.machine,
            ", ".join(row.sources),
            row.cause,
            row.guard or "",
            row.to,
            row.event or "",
            "yes" if row.interface else "",
        ]
        for row in Machine().transitions
    ]
    assert table("object") == rows


def test_scenarios() -> None:
    pairs = [pair for row in table("scenario") for pair in (row[:2], row[2:]) if pair[0]]
    assert pairs == [[each.name, each.about] for each in SCENARIOS.values()]


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser()
    options.add_arguments(made)
    return made


def test_options() -> None:
    real = {name for action in parser()._actions for name in action.option_strings if name.startswith("--")}
    named = {name for name in re.findall(r"(?<![\w-])--[a-z][a-z-]+", README)}
    commands = {name for each in remote.parsers("").values() for name in each._option_string_actions}
    assert named - real <= commands
    assert real - named == {"--exit-with-stdin"}


def test_options_of_an_account() -> None:
    named = {name for row in table("topic") for name in re.findall(r"--[a-z-]+", row[2])}
    sentence = re.search(r"All options of the table above can be set, except ([^.]*)\.", README)
    assert sentence is not None
    others = set(re.findall(r"--[a-z-]+", sentence[1]))
    assert others < named
    assert named - others == {f"--{each.name.replace('_', '-')}" for each in options.of_accounts()}


def test_refusals_of_requests_that_fit_their_schemas() -> None:
    named = re.search(r"a schema cannot state: ([^.]*)\.", README)
    assert named is not None
    assert re.findall(r"`(\w+)`", named[1]) == [*dict.fromkeys(code for each in OPERATIONS for code in each.refuses)]


def test_the_container() -> None:
    compose = (CONTAINER / "compose.yml").read_text("utf-8")
    entry: list[Any] = json.loads((CONTAINER / "Dockerfile").read_text("utf-8").partition("ENTRYPOINT ")[2])
    command = re.findall(r"--[\w=-]+", compose.partition("command: ")[2].partition("\n")[0])
    chosen = options.from_namespace(parser().parse_args([*entry[1:], *command]))
    found = (chosen.host, chosen.port, chosen.seed, chosen.allow_host, chosen.deliver_to)
    assert found == ("0.0.0.0", 8080, 1, ("billing",), ("shop",))
    with Sandbox(seed=chosen.seed) as sandbox:
        first = sandbox.accounts[0]
    assert f"BILLCORE_BASE_URL: http://billing:8080/{first.base_url.rpartition('/')[2]}\n" in compose
    assert f"BILLCORE_API_KEY: {first.api_key}\n" in compose
    for option in ("--host 0.0.0.0", "--seed 1", "--allow-non-loopback", "--allow-host billing", "--deliver-to shop"):
        assert f"- `{option}`" in README
