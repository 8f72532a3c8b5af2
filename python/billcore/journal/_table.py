"""The journal's tables and statements, for SQLite and PostgreSQL. python/journal.md explains them.

`{now}` is the database's time in seconds since 1970. Parameters are written as `:name`.
"""

from __future__ import annotations

VERSION = "1"

# A key is open while a charge may have been made for it, but the journal does not know the charge's order.
OPEN = "(state IN ('sending', 'unknown', 'unread') OR (state IN ('refused', 'not_sent') AND uncertain IS NOT NULL))"

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS billcore_charges (
  account text NOT NULL, key text NOT NULL, state text NOT NULL, attempt bigint NOT NULL,
  subscription text NOT NULL, product_id bigint NOT NULL, amount bigint NOT NULL, quantity bigint, vat bigint,
  description text, baseline text NOT NULL, since double precision NOT NULL, deadline double precision NOT NULL,
  uncertain double precision, order_id text, answer text, changed double precision NOT NULL,
  PRIMARY KEY (account, key))""",
    f"""CREATE UNIQUE INDEX IF NOT EXISTS billcore_charges_open
  ON billcore_charges (account, subscription, product_id) WHERE {OPEN}""",
    """CREATE UNIQUE INDEX IF NOT EXISTS billcore_charges_order
  ON billcore_charges (account, order_id) WHERE order_id IS NOT NULL""",
    """CREATE TABLE IF NOT EXISTS billcore_journal (
  account text NOT NULL, name text NOT NULL, value text NOT NULL, PRIMARY KEY (account, name))""",
    f"INSERT INTO billcore_journal VALUES ('', 'version', '{VERSION}') ON CONFLICT DO NOTHING",
)
READ_NOTE = "SELECT value FROM billcore_journal WHERE account = :account AND name = :name"
NOTE = "INSERT INTO billcore_journal VALUES (:account, :name, :value) ON CONFLICT DO NOTHING"

COLUMNS = (
    "state", "attempt", "subscription", "product_id", "amount", "quantity", "vat", "description", "baseline", "since",
    "deadline", "uncertain", "order_id", "answer",
)  # fmt: skip
READ = f"SELECT {{now}}, key, {', '.join(COLUMNS)} FROM billcore_charges WHERE account = :account AND key = :key"
READ_OPEN = f"SELECT {{now}}, key, {', '.join(COLUMNS)} FROM billcore_charges WHERE account = :account AND {OPEN}"
BLOCKED_BY = f"""SELECT key FROM billcore_charges WHERE account = :account AND subscription = :subscription
  AND product_id = :product_id AND key <> :key AND {OPEN}"""
# Finds only other keys: another call with the same key may have stored the order since this call read the row.
ADOPTED_BY = "SELECT key FROM billcore_charges WHERE account = :account AND order_id = :order_id AND key <> :key"

# Each transition is one conditional statement, so that only one of two processes makes the transition.
_THIS = "account = :account AND key = :key AND state = :state AND attempt = :attempt"
INTEND = """INSERT INTO billcore_charges (account, key, state, attempt, subscription, product_id, amount, quantity, vat,
  description, baseline, since, deadline, changed) VALUES (:account, :key, 'sending', 1, :subscription, :product_id,
  :amount, :quantity, :vat, :description, :baseline, :since, {now} + :timeout, {now}) ON CONFLICT DO NOTHING"""
INTEND_AGAIN = f"""UPDATE billcore_charges SET state = 'sending', attempt = attempt + 1, baseline = :baseline,
  since = :since, deadline = {{now}} + :timeout, answer = NULL, changed = {{now}} WHERE {_THIS}"""
LAPSE = f"""UPDATE billcore_charges SET state = 'unknown', uncertain = deadline, changed = {{now}}
  WHERE {_THIS} AND deadline <= {{now}}"""
# Records the outcome of an attempt that was sent. The service's answer overrides a state that was set before the answer
# arrived: by another process (`unknown`, after the deadline) or by a person (`not_sent`: nothing was charged).
_ATTEMPT = "account = :account AND key = :key AND attempt = :attempt"
CERTAIN = f"""UPDATE billcore_charges SET state = :to, order_id = :order_id, answer = :answer, changed = {{now}}
  WHERE {_ATTEMPT} AND state IN ('sending', 'unknown', 'not_sent')"""
UNCERTAIN = f"""UPDATE billcore_charges SET state = :to, uncertain = deadline, changed = {{now}}
  WHERE {_ATTEMPT} AND state IN ('sending', 'unknown')"""
ADOPT = f"""UPDATE billcore_charges SET state = 'charged', order_id = :order_id, answer = :answer, changed = {{now}}
  WHERE {_THIS}"""
DECLINE = f"UPDATE billcore_charges SET state = 'declined', changed = {{now}} WHERE {_THIS}"
ASSERT_NOTHING = (
    f"""UPDATE billcore_charges SET state = 'not_sent', uncertain = NULL, changed = {{now}} WHERE {_THIS}"""
)
# Keeps the keys that were settled after an open key began: otherwise the open key could take one of their orders.
PURGE = f"""DELETE FROM billcore_charges WHERE account = :account AND changed < :before AND NOT {OPEN} AND changed <
  COALESCE((SELECT min(since) FROM billcore_charges WHERE account = :account AND {OPEN}), changed + 1)"""
