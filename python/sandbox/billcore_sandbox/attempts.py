"""One attempt of a delivery, and its record."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import suppress
from typing import Any

from billcore_sandbox import clock, events
from billcore_sandbox.options import Options
from billcore_sandbox.receiver import LOST, Answer, Connection, Headers, host
from billcore_sandbox.store import Account

Record = dict[str, Any]
# What a record of an older database file does not have.
_OLDER: Record = {"headers": [], "answer_headers": [], "answer_body": "", "fault": None}


async def make(
    options: Options,
    account: Account,
    endpoint: sqlite3.Row,
    delivery: sqlite3.Row,
    connection: Connection,
    meeting: asyncio.Barrier | None = None,
) -> Record:
    """POST once; returns the record of it. meeting: where attempts wait that are made at the same moment."""
    headers: Headers = [
        ("Host", host(delivery["url"])),
        ("User-Agent", events.USER_AGENT),
        ("Content-Type", "application/json"),
        (options.signature_header, delivery["signature"]),
        ("Content-Length", str(len(delivery["body"]))),
        *([] if endpoint["keep_alive"] else [("Connection", "close")]),
    ]
    record: Record = {"at": clock.iso_precise(account.clock.now()), "status": None, "error": None, "headers": headers}
    answer = Answer()
    try:
        async with asyncio.timeout(options.delivery_timeout):
            await _open(connection, delivery["url"], meeting)
            await connection.post(delivery["url"], headers, delivery["body"], answer)
    except TimeoutError:
        record["error"] = late(options)
    except Exception as error:  # whatever a receiver does, the other deliveries go on
        record["error"] = str(error) or type(error).__name__
    if record["error"] is not None:
        connection.close()
    return {
        **record,
        "status": answer.status,
        "answer_headers": answer.headers,
        "answer_body": answer.body,
        "fault": None,
    }


async def _open(connection: Connection, url: str, meeting: asyncio.Barrier | None) -> None:
    """Connect; with others, wait until they are connected too, or one of them cannot connect."""
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
    """The error of an attempt that timed out."""
    return f"no answer within {options.delivery_timeout:g} s"


def succeeded(record: Record) -> bool:
    return record["status"] is not None and 200 <= record["status"] < 300


def retries(records: list[Record]) -> int:
    """How many retries of the schedule are used up."""
    return sum(1 for each in records if each["error"] != LOST) - 1


def shown(delivery: sqlite3.Row) -> list[Record]:
    """The attempts of a delivery as the control routes show them."""
    return [{**_OLDER, **record} for record in json.loads(delivery["attempts"])]
