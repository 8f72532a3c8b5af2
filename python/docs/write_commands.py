"""Writes the page commands.md from the parsers of the commands. Usage: python3 python/docs/write_commands.py [--check]

The head of the page is commands_head.md. --check writes nothing, and fails if the page is not up to date.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "sandbox")]

from billcore import cli  # noqa: E402
from billcore.cli import _tree  # noqa: E402

PAGE = HERE / "commands.md"
SHARED = ("output", "account")  # groups of options that the head of the page describes


def page() -> str:
    commands = children(_tree.whole())
    lines = [(HERE / "commands_head.md").read_text("utf-8")]
    for title, names in cli.COMMANDS.items():
        if names:
            lines.append(f"## {title[0].upper()}{title[1:]}\n")
        for name in names:
            lines += section(commands[name.replace("_", "-")])
    return "\n".join(lines)


def children(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return {name: child for action in found for name, child in action.choices.items()}


def section(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The lines of a command, or of each of its sub-commands."""
    below = children(parser)
    yield f"{'###' if parser.prog.count(' ') == 1 else '####'} {parser.prog}\n"
    yield f"{parser.description}\n"
    if not below:
        examples = getattr(parser, "examples", [])
        if examples:
            yield "\n".join(["```sh", *examples, "```\n"])
        rows, shared = options(parser)
        if rows:
            yield "\n".join(["| argument | |", "|---|---|", *rows]) + "\n"
        if shared:
            yield f"Also the options of {' and of '.join(f'[the {name}](#{name})' for name in shared)}.\n"
    for child in below.values():
        yield from section(child)


def options(parser: argparse.ArgumentParser) -> tuple[list[str], list[str]]:
    """The rows of a command's own arguments, and the names of the groups that it shares with other commands."""
    rows, shared = [], []
    for group in parser._action_groups:
        actions = [each for each in group._group_actions if not isinstance(each, argparse._HelpAction)]
        if group.title in SHARED and actions:
            shared.append(group.title)
            if group.title == "account":
                continue
            actions = [each for each in actions if each.dest not in ("json", "fields", "limit", "all")]
        for action in actions:
            value = action.metavar or "|".join(action.choices or ()) or action.dest.upper()
            names = ", ".join(action.option_strings) or value
            value = f" {value}" if takes_value(action) else ""
            row = f"`{names}{value}`{' (needed)' if action.required and value else ''}", action.help or ""
            rows.append(f"| {' | '.join(each.replace('|', chr(92) + '|') for each in row)} |")
    return rows, shared


def takes_value(action: argparse.Action) -> bool:
    return bool(action.option_strings) and action.nargs != 0


def main() -> None:
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(page(), "utf-8")
    elif PAGE.read_text("utf-8") != page():
        sys.exit("python/docs/commands.md is out of date: run python3 python/docs/write_commands.py")


if __name__ == "__main__":
    main()
