"""DuckDB, as an example of a database that the inbox does not know."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy

from billcore import inbox, testing, webhooks


def test_the_inbox_refuses_it(tmp_path: Path) -> None:
    body, signature = testing.event("order.paid")
    event = webhooks.unwrap(body, signature, testing.SECRET)
    with sqlalchemy.create_engine(f"duckdb:///{tmp_path}/shop.db").begin() as connection:
        for call in (lambda: inbox.lock(connection, "order:1"), lambda: inbox.claim(connection, event)):
            with pytest.raises(
                inbox.InboxError, match=r"works with PostgreSQL, SQLite, MariaDB and MySQL, not with duckdb$"
            ):
                call()
