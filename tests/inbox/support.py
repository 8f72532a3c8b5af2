"""Shared by the tests of the inbox: events, a database for one test, and a program that claims with Django."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, Literal

from billcore import inbox, testing, webhooks
from journal.support import Database, SqliteDatabase


def event(number: Any = 41, name: str = "order.paid", **fields: Any) -> webhooks.Event:
    body, signature = testing.event(name, event_id=number, **fields)
    return webhooks.unwrap(body, signature, testing.SECRET)


def dialect(database: Database) -> Literal["postgresql", "sqlite"]:
    return "sqlite" if isinstance(database, SqliteDatabase) else "postgresql"


def prepare(database: Database) -> None:
    """Creates the inbox's table, and a table for effects."""
    for statement in inbox.schema(dialect(database)).split(";\n"):
        if statement.strip():
            database.execute(statement)
    database.execute("CREATE TABLE effects (id text NOT NULL)")


DJANGO = """
import json, sys
import django
from django.conf import settings

settings.configure(DATABASES={"default": json.loads(sys.argv[1])}, USE_TZ=True)
django.setup()
from django.db import connection, transaction
from billcore import inbox
from inbox.support import event

claims = []
for raises in (True, False, False):
    try:
        with transaction.atomic():
            claims.append(inbox.claim(connection, event(), keep=True))
            inbox.lock(connection, "subscription:1")
            if raises:
                raise ZeroDivisionError
    except ZeroDivisionError:
        pass
try:
    inbox.claim(connection, event(99))
except inbox.InboxError as error:
    claims.append(str(error))
print(json.dumps(claims))
"""


def claim_in_django(database: dict[str, str]) -> None:
    """Claims an event in Django, in a transaction that is rolled back and in two that are committed; then without one.

    `database` is what Django's settings say of the database.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", DJANGO, json.dumps(database)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    *claims, error = json.loads(done.stdout)
    assert claims == [True, True, False] and "no transaction is open" in error
