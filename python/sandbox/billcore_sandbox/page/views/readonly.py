"""Reads a database of somebody else without changing it: a SQLite file, or PostgreSQL if psycopg is installed."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

_BUSY = 2  # seconds until a locked SQLite file is given up
_LONGEST = 3  # seconds of reading, and of connecting to PostgreSQL
_IN_ALL = 10  # seconds; then the page answers, although the thread may still wait for a disk or a name server
_OTHER = re.compile(r"://|password\s*=", re.IGNORECASE)
_SLOW = f"Reading took longer than {_LONGEST} seconds, and was given up."
# What SQLite says, and what that means.
_MEANINGS = {
    "no such": "It has no table of billcore for this, or one of another version ({}).",
    "not a database": "It is not a SQLite file.",
    "locked": "It is locked by a program that is writing: reload the page in a moment.",
    "unable to open": "It cannot be opened: check that the sandbox may read the file and its folder.",
    "readonly database": "A program ended while it was writing: start it again, so that it repairs the file.",
    "interrupted": _SLOW,
}
_T = TypeVar("_T")
Run = Callable[..., list[dict[str, Any]]]


class Unreadable(Exception):
    """Why a database cannot be read, as a sentence."""


class Place(NamedTuple):
    """Where a database is.

    Args:
        shown: Its path or URL, without a password.
        path: The SQLite file; None: PostgreSQL.
        parts: The parameters for psycopg, which may have a password.
    """

    shown: str
    path: Path | None
    parts: dict[str, Any]


def place(variable: str) -> Place | None:
    """The database that a variable of the environment names; None if it is not set. Raises Unreadable."""
    given = os.environ.get(variable)
    if not given:
        return None
    if re.match(r"postgres(ql)?://", given):
        return _postgresql(variable, given)
    if _OTHER.search(given):  # which may have a password, and is not shown
        raise Unreadable(f"{variable} must name the path of a SQLite file, or a URL that begins with postgresql://.")
    path = Path(given).absolute()
    return Place(str(path), path, {})


def _postgresql(variable: str, url: str) -> Place:
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise Unreadable(f"{variable} needs psycopg: pip install 'psycopg[binary]'") from None
    authority, _, rest = url.partition("://")[2].partition("/")
    try:
        if authority.count("@") > 1 or "@" in rest:  # a part of the password would be taken for a host, and shown
            raise psycopg.ProgrammingError
        parts: dict[str, Any] = conninfo_to_dict(url)
    except psycopg.Error:  # its text may have a part of the password
        hint = "percent-encode its user, its password and its names"
        raise Unreadable(f"{variable} is not a URL of PostgreSQL: {hint}.") from None
    user, port = (f"{sign}{parts[name]}" if name in parts else "" for name, sign in (("user", ""), ("port", ":")))
    host = f"{user}@{parts.get('host', '')}" if user else parts.get("host", "")
    return Place(f"postgresql://{host}{port}/{parts.get('dbname', '')}", None, parts)


async def read(where: Place, work: Callable[[Run], _T]) -> _T:
    """What `work` returns. It gets a function that runs a statement with `?` for each value, and returns its rows.

    Raises Unreadable.
    """
    function = _read_postgresql if where.path is None else _read_sqlite
    try:
        return await asyncio.wait_for(asyncio.to_thread(function, where, work), _IN_ALL)
    except TimeoutError:
        raise Unreadable(f"The database did not answer within {_IN_ALL} seconds.") from None


def _read_sqlite(where: Place, work: Callable[[Run], _T]) -> _T:
    path = where.path
    assert path is not None
    if not path.is_file():
        raise Unreadable("There is no such file.")
    try:
        if (still := _unused(path)) is not None:
            try:
                found = _query(path, "&immutable=1", work)
            except sqlite3.Error:
                if _unused(path) == still:
                    raise
            else:
                if _unused(path) == still:
                    return found
        return _query(path, "", work)
    except sqlite3.Error as error:
        text = str(error)
        meaning = next((meaning for part, meaning in _MEANINGS.items() if part in text), "The database failed: {}.")
        raise Unreadable(meaning.format(text)) from None


def _unused(path: Path) -> int | None:
    """When the file was changed, if it is in WAL mode and no program has it open; else None.

    Even a connection that only reads such a file would leave two files beside it, maybe of another owner than the
    file's. So it is read as a file that does not change, and read again if it did.
    """
    try:
        with path.open("rb") as file:
            is_wal = file.read(20)[18:] == b"\2\2"
        return path.stat().st_mtime_ns if is_wal and not Path(f"{path}-wal").exists() else None
    except OSError:
        return None


def _query(path: Path, more: str, work: Callable[[Run], _T]) -> _T:
    uri = f"{path.as_uri()}?mode=ro{more}"
    with closing(sqlite3.connect(uri, timeout=_BUSY, isolation_level=None, uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        end = time.monotonic() + _LONGEST
        connection.set_progress_handler(lambda: time.monotonic() > end, 10_000)
        return work(lambda sql, *values: [dict(row) for row in connection.execute(sql, values)])


def _read_postgresql(where: Place, work: Callable[[Run], _T]) -> _T:
    import psycopg
    from psycopg.rows import dict_row

    settings = {**where.parts, "connect_timeout": _LONGEST, "prepare_threshold": None}
    try:
        with psycopg.connect(**settings, row_factory=dict_row) as connection:
            connection.read_only = True
            connection.execute(f"SET LOCAL statement_timeout = {_LONGEST * 1000}; SET LOCAL timezone = 'UTC'")
            return work(lambda sql, *values: connection.execute(sql.replace("?", "%s").encode(), values).fetchall())
    except psycopg.Error as error:
        text = str(error).strip().partition("\n")[0]
        if error.sqlstate in ("42P01", "42703"):
            raise Unreadable(_MEANINGS["no such"].format(text)) from None
        raise Unreadable(_SLOW if error.sqlstate == "57014" else f"The database failed: {text}.") from None
