"""The journal's tables and statements, for SQLite and PostgreSQL. python/docs/journal.md explains them.

`{now}` is the database's time in seconds since 1970. Parameters are written as `:name`.
"""

from __future__ import annotations

from typing import Literal

from .._errors import InvalidArgumentError
from . import _charge

VERSION = "2"

_SQL_TYPES: dict[type, str] = {int: "bigint", str: "text"}
# The arguments of a charge, with their types; a key belongs to one set of arguments.
ARGUMENTS = {"subscription": "text"} | {name: _SQL_TYPES[kind] for name, kind in _charge.ARGUMENTS.items()}
_REQUIRED = ("subscription", *_charge.REQUIRED)
_ARGUMENTS = ", ".join(ARGUMENTS)

# A key is open while a charge may have been made for it, but the journal does not know the charge's order.
_UNCERTAIN = "state IN ('refused', 'not_sent') AND uncertain IS NOT NULL"
OPEN = f"(state IN ('held', 'sending', 'unknown', 'unread') OR ({_UNCERTAIN}))"
# A late key is open too, but outside of the unique index: it is stored beside a key that was opened meanwhile.
OPEN_OR_LATE = f"({OPEN} OR late IS NOT NULL)"

SCHEMA = (
    f"""CREATE TABLE billcore_charges (
  account text NOT NULL, key text NOT NULL, state text NOT NULL, attempt bigint NOT NULL,
  {", ".join(f"{name} {kind}{' NOT NULL' * (name in _REQUIRED)}" for name, kind in ARGUMENTS.items())},
  baseline text NOT NULL, candidates text, shown text, created double precision NOT NULL,
  deadline double precision NOT NULL, uncertain double precision, late double precision, order_id text, answer text,
  changed double precision NOT NULL, PRIMARY KEY (account, key))""",
    f"CREATE UNIQUE INDEX billcore_charges_open ON billcore_charges (account, subscription, product_id) WHERE {OPEN}",
    "CREATE UNIQUE INDEX billcore_charges_order ON billcore_charges (account, order_id) WHERE order_id IS NOT NULL",
    "CREATE TABLE billcore_journal (account text NOT NULL, name text NOT NULL, value text NOT NULL,"
    " PRIMARY KEY (account, name))",
    f"INSERT INTO billcore_journal VALUES ('', 'version', '{VERSION}')",
)
READ_NOTE = "SELECT value FROM billcore_journal WHERE account = :account AND name = :name"
NOTE = "INSERT INTO billcore_journal VALUES (:account, :name, :value) ON CONFLICT DO NOTHING"
FORGET = "DELETE FROM billcore_journal WHERE account = :account AND name = :name"

COLUMNS = (
    "state", "attempt", *ARGUMENTS, "baseline", "candidates", "shown", "created", "deadline", "uncertain", "late",
    "order_id", "answer",
)  # fmt: skip
_READ = f"SELECT {{now}}, key, {', '.join(COLUMNS)} FROM billcore_charges WHERE account = :account AND "
READ = f"{_READ}key = :key"
READ_OPEN = f"{_READ}{OPEN_OR_LATE}"
BLOCKED_BY = f"""{_READ}subscription = :subscription AND product_id = :product_id AND key <> :key AND {OPEN_OR_LATE}"""
# Finds only other keys: another call with the same key may have stored the order since this call read the row.
ADOPTED_BY = "SELECT key FROM billcore_charges WHERE account = :account AND order_id = :order_id AND key <> :key"

# Each transition is one conditional statement, so that only one of two processes makes the transition.
_THIS = "account = :account AND key = :key AND state = :state AND attempt = :attempt"
_NONE_LATE = """NOT EXISTS (SELECT 1 FROM billcore_charges WHERE account = :account AND subscription = :subscription
  AND product_id = :product_id AND key <> :key AND late IS NOT NULL)"""
INTEND = f"""INSERT INTO billcore_charges (account, key, state, attempt, {_ARGUMENTS}, baseline, candidates, created,
  deadline, changed) SELECT CAST(:account AS text), CAST(:key AS text), CAST(:to AS text), 1,
  {", ".join(f"CAST(:{name} AS {kind})" for name, kind in ARGUMENTS.items())}, CAST(:baseline AS text),
  CAST(:candidates AS text), {{now}}, {{now}} + CAST(:timeout AS double precision), {{now}} WHERE {_NONE_LATE}
  ON CONFLICT DO NOTHING"""
INTEND_AGAIN = f"""UPDATE billcore_charges SET state = :to, attempt = attempt + 1, baseline = :baseline,
  candidates = :candidates, late = NULL, deadline = {{now}} + :timeout, answer = NULL, changed = {{now}}
  WHERE {_THIS} AND {_NONE_LATE}"""
LAPSE = f"""UPDATE billcore_charges SET state = 'unknown', uncertain = deadline, changed = {{now}}
  WHERE {_THIS} AND deadline <= {{now}}"""
# Records the outcome of an attempt that was sent. The service's answer overrides a state that was set before the answer
# arrived: by another process (`unknown`, after the deadline) or by a person (`not_sent`: nothing was charged). Returns
# `late`, which another attempt of the key may have set meanwhile.
_ATTEMPT = "account = :account AND key = :key AND attempt = :attempt"
CERTAIN = f"""UPDATE billcore_charges SET state = :to, order_id = :order_id, answer = :answer, changed = {{now}}
  WHERE {_ATTEMPT} AND state IN ('sending', 'unknown', 'not_sent') RETURNING late"""
UNCERTAIN = f"""UPDATE billcore_charges SET state = :to, uncertain = deadline, changed = {{now}}
  WHERE {_ATTEMPT} AND state IN ('sending', 'unknown')"""
# Records that an attempt found that it had sent after its deadline, whatever has happened to the key meanwhile.
LATE = "UPDATE billcore_charges SET late = {now}, changed = {now} WHERE account = :account AND key = :key"
NOT_LATE = f"UPDATE billcore_charges SET late = NULL, changed = {{now}} WHERE {_THIS} AND late = :late"
FREEZE = f"UPDATE billcore_charges SET candidates = :candidates, changed = {{now}} WHERE {_THIS} AND candidates IS NULL"
SHOW = f"UPDATE billcore_charges SET shown = :shown, changed = {{now}} WHERE {_THIS}"
ADOPT = f"""UPDATE billcore_charges SET state = 'charged', order_id = :order_id, answer = :answer, late = NULL,
  changed = {{now}} WHERE {_THIS}"""
DECLINE = f"UPDATE billcore_charges SET state = 'declined', late = NULL, changed = {{now}} WHERE {_THIS}"
ASSERT_NOTHING = f"""UPDATE billcore_charges SET state = 'not_sent', uncertain = NULL, late = NULL, candidates = NULL,
  shown = '[]', baseline = :baseline, answer = NULL, changed = {{now}} WHERE {_THIS}"""
# Keeps the keys that were settled after an open key began: otherwise the open key could take one of their orders.
PURGE = f"""DELETE FROM billcore_charges WHERE account = :account AND created < :before AND NOT {OPEN_OR_LATE}
  AND changed < COALESCE((SELECT min(created) FROM billcore_charges WHERE account = :account AND {OPEN_OR_LATE}),
  changed + 1)"""
NOW = "SELECT {now}"


def schema(dialect: Literal["postgresql", "sqlite"]) -> str:
    """The SQL that makes the journal's tables, for your migrations."""
    if dialect not in ("postgresql", "sqlite"):
        raise InvalidArgumentError(f"a journal works with PostgreSQL and SQLite, not with {dialect!r}")
    return "".join(f"{text};\n" for text in SCHEMA)
