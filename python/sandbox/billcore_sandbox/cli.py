"""The command `billcore-sandbox`, which `billcore sandbox` runs too.

billcore-sandbox [OPTIONS]                  serve until Ctrl-C
billcore-sandbox run [OPTIONS] -- COMMAND…  serve while a command runs, and end with its status
billcore-sandbox COMMAND …                  control a running sandbox: see remote.py
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from billcore_sandbox import __version__, options

EXIT_USAGE = 2
COMMANDS = ("trigger", "advance", "fault", "wait", "requests", "deliveries", "redeliver")  # those of remote.py
_CONTROL = "BILLCORE_SANDBOX_CONTROL"


class _Formatter(argparse.ArgumentDefaultsHelpFormatter):
    """Shows the default of each option, except for empty defaults, which the help text explains."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return super()._get_help_string(action) if action.default else action.help


class _Parser(argparse.ArgumentParser):
    """An argparse parser that reports an error in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None, *, prog: str = "billcore-sandbox") -> int:
    """Run the command; returns the exit status (0 ok, 1 failed, 2 usage; for `run` the command's)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["run"]:
        return _run(arguments[1:], f"{prog} run")
    if arguments and arguments[0] in COMMANDS:
        from billcore_sandbox import remote

        return remote.run(arguments[0], arguments[1:], prog)
    chosen = _options(arguments, prog, f"{options.DESCRIPTION} Other commands: run, {', '.join(COMMANDS)}.")
    from billcore_sandbox.http.server import run

    return run(chosen)


def _options(arguments: Sequence[str], prog: str, description: str) -> options.Options:
    parser = _Parser(prog=prog, description=description, formatter_class=_Formatter)
    parser.add_argument("--version", action="version", version=f"billcore-sandbox {__version__}")
    options.add_arguments(parser)
    try:
        return options.from_namespace(parser.parse_args(arguments))
    except ValueError as error:
        parser.error(str(error))


def _run(arguments: Sequence[str], prog: str) -> int:
    """Start a sandbox, run a command with the sandbox's URLs and key in its environment, stop the sandbox."""
    split = list(arguments).index("--") if "--" in arguments else len(arguments)
    own, command = list(arguments[:split]), list(arguments[split + 1 :])
    _options(own, prog, "Run a command beside a sandbox: OPTIONS -- COMMAND…")
    if not command:
        print(f"{prog}: name a command after -- (see {prog} --help)", file=sys.stderr)
        return EXIT_USAGE
    serve = [sys.executable, "-m", "billcore_sandbox", "--exit-with-stdin", *own]
    with subprocess.Popen(serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as sandbox:
        assert sandbox.stdout is not None
        try:
            line = sandbox.stdout.readline()
            return _finish(command, environment(json.loads(line))) if line else sandbox.wait()
        except OSError as error:
            print(f"{prog}: cannot run {command[0]}: {error.strerror}", file=sys.stderr)
            return 127
        except KeyboardInterrupt:  # Ctrl-C before the command was started
            return 128 + signal.SIGINT
        finally:
            sandbox.terminate()


def _finish(command: list[str], more: dict[str, str]) -> int:
    """Run the command; returns its status or, as a shell does, 128 plus the number of the signal that ended it."""
    asked: list[int] = []
    running: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, frame: object) -> None:
        asked.append(number)
        for process in running:
            process.terminate()

    # Ignore SIGINT, because Ctrl-C in the terminal also interrupts the command. Pass SIGTERM on to the command.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, pass_on)
    running.append(subprocess.Popen(command, env=os.environ | more))
    if asked:
        running[0].terminate()
    status = running[0].wait()
    return status if status >= 0 else 128 - status


def environment(ready: dict[str, Any]) -> dict[str, str]:
    """The environment variables that clients and tests read."""
    found = {
        "BILLCORE_BASE_URL": ready["base_url"],
        "BILLCORE_API_KEY": ready["api_key"],
        _CONTROL: ready["control_url"],
    }
    for endpoint in ready.get("endpoints", []):
        found["BILLCORE_WEBHOOK_SECRET"] = endpoint["secret"]
    return found
