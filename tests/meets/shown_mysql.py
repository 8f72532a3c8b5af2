"""A receiver's transaction with MariaDB, shown in python/docs/with/databases.md. test_mariadb.py calls it."""

from __future__ import annotations

import sqlalchemy

from billcore import inbox, webhooks


def handle(engine: sqlalchemy.Engine, event: webhooks.Event) -> bool:
    """The engine is create_engine("mysql+pymysql://…")."""
    with engine.begin() as connection:
        if not inbox.claim(connection, event):
            return False  # a duplicate: answer 200
        connection.execute(sqlalchemy.text("INSERT INTO effects VALUES (:id)"), {"id": str(event.id)})
        return True
