"""One attempt of a delivery, and its record."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import suppress
from time import perf_counter
from typing import Any

import h11

from billcore_sandbox import clock, event_faults, events
from billcore_sandbox.faults import Fault
from billcore_sandbox.options import Options
from billcore_sandbox.receiver import LOST, Answer, Connection, Headers, host
from billcore_sandbox.store import Account

Record = dict[str, Any]


async def make(
    options: Options,
    account: Account,
    endpoint: sqlite3.Row,
    delivery: sqlite3.Row,
    fault: Fault | None,
    connection: Connection,
    meeting: asyncio.Barrier | None = None,
) -> Record:
    """POST once; returns the attempt's record.

    meeting: a barrier at which attempts wait for each other after they have connected, to send at the same moment.
    """
    body, signature = delivery["body"], delivery["signature"]
    record: Record = {"at": clock.iso_precise(account.clock.now()), "status": None, "error": None, "fault": None}
    if fault is not None:
        body, signature = event_faults.change(fault.kind, fault.fields, endpoint, body, signature)
        record |= {"fault": fault.kind, **fault.fields}
        if signature != delivery["signature"]:
            record["signature"] = signature
    headers: Headers = [
        ("Host", host(delivery["url"])),
        ("User-Agent", events.USER_AGENT),
        ("Content-Type", "application/json"),
        (options.signature_header, signature),
        ("Content-Length", str(len(body))),
        *([] if endpoint["keep_alive"] else [("Connection", "close")]),
    ]
    answer, begin = Answer(), perf_counter()
    try:
        async with asyncio.timeout(options.delivery_timeout):
            await _open(connection, delivery["url"], meeting)
            await connection.post(delivery["url"], headers, body, answer)
    except TimeoutError:
        record["error"] = late(options)
    except h11.RemoteProtocolError as error:
        record["error"] = f"the receiver's answer is no valid HTTP: {error}"
    except Exception as error:  # no error of a receiver may stop the other deliveries
        record["error"] = str(error) or type(error).__name__
    if record["error"] is not None:
        connection.close()
    answer_body, answer_encoding = answer.body
    return {
        **record,
        "headers": headers,
        "answer_headers": answer.headers,
        "answer_body": answer_body,
        "answer_encoding": answer_encoding,
        "status": answer.status,
        "duration_ms": clock.milliseconds(begin),
    }


async def _open(connection: Connection, url: str, meeting: asyncio.Barrier | None) -> None:
    """Connect; then wait at `meeting` until the other attempts are connected or one of them cannot connect."""
    try:
        await connection.open(url)
    except BaseException:
        if meeting is not None:
            await meeting.abort()
        raise
    if meeting is not None:
        with suppress(asyncio.BrokenBarrierError):
            await meeting.wait()


def late(options: Options) -> str:
    """The error text of an attempt that timed out."""
    return f"no answer within {options.delivery_timeout:g} s"


def succeeded(record: Record) -> bool:
    return record["status"] is not None and 200 <= record["status"] < 300


def retries(records: list[Record]) -> int:
    """The number of retries made so far. An attempt whose kept connection was closed is not counted."""
    return sum(1 for each in records if each["error"] != LOST) - 1


def shown(delivery: sqlite3.Row) -> list[Record]:
    """The attempts of a delivery as the control routes show them."""
    records = json.loads(delivery["attempts"])
    return [{"number": number, **_shown(each, delivery["body"])} for number, each in enumerate(records, 1)]


def _shown(record: Record, body: bytes) -> Record:
    """Add the body that a fault changed: the database stores only the original body, not one for each attempt."""
    size = record.pop("bytes", 0)
    if record["fault"] == "event_truncated":
        record["body"] = event_faults.truncated(body).decode("utf-8")
    if record["fault"] == "event_oversize":
        record["body"] = event_faults.oversize(body, size).decode("utf-8")
    return record
