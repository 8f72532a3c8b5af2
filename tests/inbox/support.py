"""Shared by the tests of the inbox: prepares a database for one test."""

from __future__ import annotations

from typing import Literal

from billcore import inbox
from journal.support import Database, SqliteDatabase


def dialect(database: Database) -> Literal["postgresql", "sqlite"]:
    return "sqlite" if isinstance(database, SqliteDatabase) else "postgresql"


def prepare(database: Database) -> None:
    """Creates the inbox's table, and a table for effects."""
    for statement in inbox.schema(dialect(database)).split(";\n"):
        if statement.strip():
            database.execute(statement)
    database.execute("CREATE TABLE effects (id text NOT NULL)")
