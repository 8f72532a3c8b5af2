"""Commands for a running sandbox, whose control URL is in BILLCORE_SANDBOX_CONTROL: they call its control routes.

On a terminal the lists are aligned; in a pipe the columns are separated by tabs. --json prints whole records.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any, NoReturn
from urllib.parse import quote, urlencode, urlsplit

CONTROL = "BILLCORE_SANDBOX_CONTROL"
EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_NOT_REACHED, EXIT_INTERRUPTED = 0, 1, 2, 5, 130
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_LONGER = 5.0  # seconds that an answer may take beyond the time that the route waits
_HEARTBEAT = 60.0  # seconds; a stream sends a comment every 15 seconds

Record = dict[str, Any]


class Parser(argparse.ArgumentParser):
    """An argparse parser that reports an error in one line, without the usage. examples: shown by --help."""

    def __init__(self, *, examples: str = "", **more: Any) -> None:
        self.examples = examples.splitlines()
        if examples:
            more |= {"epilog": f"example: {examples}"}
        super().__init__(allow_abbrev=False, **more)

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")


class Failed(Exception):
    """Ends a command: the text is printed as one line, and `status` becomes the exit status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Remote:
    """The control routes of a sandbox, for one account or, for lists, all accounts."""

    def __init__(self, url: str, account: str | None) -> None:
        parts = urlsplit(url)
        if parts.scheme != "http" or parts.hostname is None:
            raise Failed(EXIT_FAILED, f"{url} is not the http URL of a sandbox's control routes")
        self.url, self._host, self._port, self._path = url, parts.hostname, parts.port, parts.path.rstrip("/")
        self._account = {} if account is None else {"account": account}

    def get(self, path: str, **query: Any) -> Any:
        return self._call("GET", self._with(path, query))

    def post(self, path: str, body: Record, timeout: float = 0.0) -> Any:
        """timeout: seconds that the route may wait."""
        return self._call("POST", path, self._account | body, timeout)

    def delete(self, path: str) -> Any:
        return self._call("DELETE", path)

    def stream(self, kind: str, after: str) -> Iterator[Record]:
        """The records of the stream after a cursor, until the sandbox ends or is reset."""
        connection, answer = self._ask("GET", self._with("stream", {"kind": kind, "after": after}), None, _HEARTBEAT)
        if answer.status != 200:
            self._refused(answer.status, json.loads(answer.read()))
        name = ""
        for line in answer:
            field, _, value = line.decode("utf-8").rstrip("\n").partition(": ")
            if field == "event":
                name = value
            elif field == "data" and name in kind.split(","):
                yield json.loads(value)
            elif field == "data" and name == "reset":
                break
        connection.close()

    def _with(self, path: str, query: Record) -> str:
        pairs = {name: value for name, value in (self._account | query).items() if value is not None}
        return f"{path}?{urlencode(pairs)}" if pairs else path

    def _call(self, method: str, path: str, body: Record | None = None, timeout: float = 0.0) -> Any:
        connection, answer = self._ask(method, path, body, 60.0 + timeout + _LONGER)
        try:
            found = json.loads(answer.read())
        except ValueError:
            found = None
        finally:
            connection.close()
        return found if answer.status == 200 else self._refused(answer.status, found)

    def _ask(
        self, method: str, path: str, body: Record | None, timeout: float
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=timeout)
        data = None if body is None else json.dumps(body)
        connection.request(
            method, f"{self._path}/{path}", data, {} if body is None else {"Content-Type": "application/json"}
        )
        return connection, connection.getresponse()

    def _refused(self, status: int, found: Any) -> NoReturn:
        if not isinstance(found, dict) or "error" not in found:
            raise Failed(EXIT_FAILED, f"{self.url} is not the URL of a sandbox's control routes: it answers {status}")
        raise Failed(EXIT_FAILED, found["error"]["message"])


# ---- Commands --------------------------------------------------------------------------------------------------------


def _trigger(remote: Remote, given: argparse.Namespace) -> None:
    if given.name is None:
        for each in remote.get("scenarios")["scenarios"]:
            print(f"{each['name']:20} {each['about']}")
    elif given.name == "test.hook":
        _print_json(remote.post("test-hook", {}))
    else:
        _print_json(remote.post("trigger", {"name": given.name} | ({} if given.on is None else {"on": given.on})))


def _advance(remote: Remote, given: argparse.Namespace) -> None:
    moved = remote.post("clock", {**_move(given.by), "settle": given.settle, "timeout": given.timeout}, given.timeout)
    if given.json:
        _print_json(moved)
        return
    for each in moved["happened"]:
        named = next(name for name in ("subscription", "order", "request") if name in each)
        _print_columns([each["at"], each["cause"], named, each[named], each.get("refused", "")], (32, 8, 12, 16, 0))
    for each in moved["unanswered"]:
        print(f"{each['url']}: {each['error']} (pending deliveries: {each['pending']})", file=sys.stderr)
    print(f"the clock shows {moved['now']} (pending deliveries: {moved['pending_deliveries']})", file=sys.stderr)


def _move(text: str) -> Record:
    """The fields of a move by `text`: 35d, 12h, 1d12h, or to a time."""
    if re.fullmatch(r"([0-9]+(\.[0-9]+)?[dhms])+", text):
        parts = re.findall(r"([0-9.]+)([dhms])", text)
        return {
            "seconds": sum(
                (timedelta(**{_UNITS[unit]: float(number)}) for number, unit in parts), timedelta()
            ).total_seconds()
        }
    return {"to": text}


def _fault(remote: Remote, given: argparse.Namespace) -> None:
    if given.kind is None and given.delete is None:
        for each in remote.get("faults")["faults"]:
            _print_json(each)
    elif given.delete is not None:
        _print_json(remote.delete(f"faults/{quote(given.delete, safe='')}"))
    else:
        _print_json(remote.post("faults", {"kind": given.kind} | _fields(given.fields)))


def _fields(pairs: Sequence[str]) -> Record:
    """The values of NAME=VALUE: JSON such as 3, true or ["a"], or else a text."""
    found: Record = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise Failed(EXIT_USAGE, f"{pair!r} is not NAME=VALUE, such as operation=charge")
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


def _wait(remote: Remote, given: argparse.Namespace) -> None:
    what = given.what.replace("-", "_")
    counted = {"count": given.count} if what in ("request", "delivery") else {}
    body = {what: _fields(given.fields), "since": given.since, "timeout": given.timeout, **counted}
    found = remote.post("wait", body, given.timeout)
    for value in found.values():
        for each in value if isinstance(value, list) else [value]:
            _print_json(each)


def _requests(remote: Remote, given: argparse.Namespace) -> None:
    chosen = {name: getattr(given, name) for name in ("operation", "method", "status")}

    def fits(each: Record) -> bool:
        own = str(each["operation"]), each["method"], each["status"]
        wanted = given.operation, given.method, given.status
        if given.operation is not None and given.operation in (own[0], own[0].partition(".")[2]):
            wanted = (own[0], *wanted[1:])
        return all(want in (None, value) for want, value in zip(wanted, own, strict=True))

    def show(each: Record) -> None:
        path = each["target"].removeprefix(f"/{each['account']}")
        outcome = each["status"] or each["fault"] or "no answer"
        took = "" if each["duration_ms"] is None else f"{each['duration_ms']:.0f} ms"
        _print_columns([each["at"], str(each["id"]), str(outcome), each["method"], path, took], (32, 6, 12, 6, 48, 0))

    _follow(
        remote, given, "requests", "request", chosen, show, lambda each: each["duration_ms"] is not None and fits(each)
    )


def _deliveries(remote: Remote, given: argparse.Namespace) -> None:
    def show(each: Record) -> None:
        attempts = [each] if "number" in each else each["attempts"]
        last: Record = attempts[-1] if attempts else {"at": "", "status": None, "error": each["reason"]}
        outcome = last["status"] or last["error"] or ""
        widths = (32, 8, 24, 10, 3, 0)
        count = str(each.get("number", len(attempts)))
        _print_columns([last["at"], str(each["id"]), each["event"], each["state"], count, str(outcome)], widths)

    chosen = {"event": given.event, "state": given.state}
    _follow(remote, given, "deliveries", "attempt", chosen, show, lambda each: given.event in (None, each["event"]))


def _redeliver(remote: Remote, given: argparse.Namespace) -> None:
    _print_json(remote.post(f"deliveries/{quote(given.id, safe=':')}/redeliver", {}))


def _follow(
    remote: Remote,
    given: argparse.Namespace,
    name: str,
    kind: str,
    chosen: Record,
    show: Callable[[Record], None],
    fits: Callable[[Record], bool],
) -> None:
    """Print the latest records, and with --follow each further one as it happens."""
    found = remote.get(name, order="desc", limit=given.limit, search=given.search, **chosen)
    for each in reversed(found[name]):
        (_print_json if given.json else show)(each)
    if not given.follow:
        if found["total"] > len(found[name]):
            print(f"the latest {len(found[name])} of {found['total']}: --limit N shows more", file=sys.stderr)
        return
    sys.stdout.flush()
    for each in remote.stream(kind, found["cursor"]):
        if fits(each):
            (_print_json if given.json else show)(each)
            sys.stdout.flush()
    raise Failed(EXIT_FAILED, "the sandbox has ended, or was reset")


def _print_json(value: Any) -> None:
    print(
        json.dumps(value, ensure_ascii=False)
        .encode(sys.stdout.encoding, "backslashreplace")
        .decode(sys.stdout.encoding)
    )


def _print_columns(columns: Sequence[str], widths: Sequence[int]) -> None:
    clean = [each.encode("unicode_escape").decode() for each in columns]
    if sys.stdout.isatty():
        clean = [f"{each:{width}}" if width else each for each, width in zip(clean, widths, strict=True)]
        print("  ".join(clean).rstrip())
    else:
        print("\t".join(clean))


# ---- Parsers ---------------------------------------------------------------------------------------------------------


def parsers(prog: str) -> dict[str, Parser]:
    """The parser of each command by its name."""

    def command(name: str, run: Callable[[Remote, argparse.Namespace], None], about: str, example: str) -> Parser:
        made = found[name] = Parser(prog=f"{prog} {name}", description=about, examples=f"{prog} {example}")
        made.set_defaults(run=run)
        return made

    found: dict[str, Parser] = {}
    made = command(
        "trigger",
        _trigger,
        "Run a scenario, or one that fires an event; without a name, list the scenarios.",
        "trigger order.paid",
    )
    made.add_argument("name", nargs="?", metavar="SCENARIO|EVENT", help="such as renewal-fails, or order.paid")
    made.add_argument("--on", metavar="ID", help="id of an existing subscription (default: a new one)")

    made = command("advance", _advance, "Move the account's clock forward, and print what happened.", "advance 35d")
    made.add_argument("by", metavar="TIME", help="35d, 12h, 1d12h30m, or a time such as 2026-03-31T09:00:00Z")
    made.add_argument(
        "--no-settle", dest="settle", action="store_false", help="all changes first, then their deliveries"
    )
    _add_timeout(made, 600.0)

    made = command(
        "fault",
        _fault,
        "Let requests or events fail; without a kind, list the faults.",
        "fault status operation=charge status=503 times=3",
    )
    made.add_argument(
        "kind", nargs="?", metavar="KIND", help="such as reset_after: README.md of the sandbox lists all kinds"
    )
    made.add_argument("fields", nargs="*", metavar="NAME=VALUE", help="selectors and fields of the kind")
    made.add_argument("--delete", metavar="ID", help="delete the fault with this id")

    made = command(
        "wait",
        _wait,
        "Wait until something is there, and print it; status 1 after the time-out.",
        "wait delivery event=order.paid --count 2",
    )
    made.add_argument("what", choices=("request", "delivery", "none-pending", "subscription", "order"))
    made.add_argument(
        "fields", nargs="*", metavar="NAME=VALUE", help="such as operation=charge, or id=480001 status=active"
    )
    made.add_argument("--count", type=int, default=1, metavar="N", help="so many requests or deliveries")
    made.add_argument(
        "--since", type=int, default=0, metavar="ID", help="only those after this id, or this seq of a delivery"
    )
    _add_timeout(made, 30.0)

    made = command("requests", _requests, "List the latest requests to the service.", "requests --follow")
    made.add_argument("--operation", metavar="NAME", help="such as charge")
    made.add_argument("--method", metavar="METHOD")
    made.add_argument("--status", type=int, metavar="N")
    _add_list(made)
    made = command(
        "deliveries",
        _deliveries,
        "List the latest deliveries of events; with --follow, each attempt.",
        "deliveries --follow --event order.paid",
    )
    made.add_argument("--event", metavar="NAME", help="such as order.paid")
    made.add_argument("--state", metavar="STATE", help="such as failed")
    _add_list(made)
    made = command(
        "redeliver", _redeliver, "Send a delivery again: the same bytes with the same id.", "redeliver 50001"
    )
    made.add_argument("id", metavar="ID", help="the id of the event, or seq: and the seq of a delivery")
    for made in found.values():
        made.add_argument("--json", action="store_true", help="print whole records, as JSON lines")
        made.add_argument(
            "--account",
            metavar="UUID",
            help="the account (default: that of BILLCORE_BASE_URL, or else the first, and of lists all)",
        )
        made.add_argument("--control-url", metavar="URL", help=f"control_url of the sandbox (default: {CONTROL})")
    return found


def _add_timeout(parser: Parser, default: float) -> None:
    about = f"real seconds, at most 600 (default: {default:g})"
    parser.add_argument("--timeout", type=float, default=default, metavar="S", help=about)


def _add_list(parser: Parser) -> None:
    parser.add_argument("--search", metavar="TEXT", help="only records that contain this text")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="at most so many records (default: 20)")
    parser.add_argument("--follow", action="store_true", help="then print what happens, until Ctrl-C")


def run(name: str, arguments: Sequence[str], prog: str) -> int:
    """Run a command; returns the exit status."""
    parser = parsers(prog)[name]
    given = parser.parse_args(arguments)
    url = given.control_url or os.environ.get(CONTROL)
    if not url:
        parser.error(f"give --control-url, or set {CONTROL} as the sandbox prints it")
    try:
        given.run(Remote(url, given.account or _own_account(url)), given)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the pipe has ended, such as head
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.raise_signal(signal.SIGPIPE)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except ConnectionRefusedError:
        return _end(parser, EXIT_NOT_REACHED, f"no sandbox listens at {url}: start one, or set {CONTROL}")
    except Failed as failed:
        return _end(parser, failed.status, str(failed))
    except (OSError, http.client.HTTPException, ValueError) as error:
        return _end(parser, EXIT_FAILED, str(error) or type(error).__name__)
    return EXIT_OK


def _own_account(url: str) -> str | None:
    """The account of BILLCORE_BASE_URL, if that is one of this sandbox."""
    base = urlsplit(os.environ.get("BILLCORE_BASE_URL", ""))
    return base.path.rpartition("/")[2] or None if base.netloc == urlsplit(url).netloc else None


def _end(parser: Parser, status: int, message: str) -> int:
    print(f"{parser.prog}: {message}", file=sys.stderr)
    return status
