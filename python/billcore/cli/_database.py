"""Opens the database that a command names: a SQLite file, which is never made here, or a URL of PostgreSQL.

A password is only read from the environment, because other users can see the arguments of a process.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ._command import EXIT_USAGE, Failure, local_path

_CONNECT = 10  # seconds until a PostgreSQL server that does not answer is given up
_OTHER = re.compile(r"://|password\s*=", re.IGNORECASE)


def connector(given: str, source: str, make: str) -> Callable[[], Any]:
    """A function that returns a new connection of sqlite3 or psycopg.

    Args:
        given: A path or a URL.
        source: What named it: an option, a profile, or an environment variable, which alone may have a password.
        make: How to make a SQLite file that is missing.
    """
    if re.match(r"postgres(ql)?://", given):
        return _postgresql(given, source)
    if _OTHER.search(given):  # which may have a password, and is not shown
        raise Failure(EXIT_USAGE, f"{source}: name the path of a SQLite file, or a URL that begins with postgresql://")
    path = local_path(source, given).absolute()
    if not path.is_file():
        raise Failure(EXIT_USAGE, f"{source}: there is no file {path}: {make}")

    def connect() -> Any:
        import sqlite3

        return sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True)

    return connect


def _postgresql(url: str, source: str) -> Callable[[], Any]:
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise Failure(EXIT_USAGE, f"{source}: PostgreSQL needs psycopg: pip install 'psycopg[binary]'") from None
    authority, _, rest = url.partition("://")[2].partition("/")
    try:
        if authority.count("@") > 1 or "@" in rest:  # a part of the password would be taken for a host, and shown
            raise psycopg.ProgrammingError
        parts: dict[str, Any] = conninfo_to_dict(url)
    except psycopg.Error:  # its text may have a part of the password
        raise Failure(
            EXIT_USAGE, f"{source} is not a URL of PostgreSQL: percent-encode its user, its password and its names"
        ) from None
    if not source.startswith("BILLCORE_") and ("password" in parts or "sslpassword" in parts):
        raise Failure(
            EXIT_USAGE,
            f"{source}: leave the password out of the URL: set PGPASSWORD, write ~/.pgpass, or set the URL with its "
            "password in the environment",
        )
    return lambda: psycopg.connect(prepare_threshold=None, **{"connect_timeout": _CONNECT, **parts})
