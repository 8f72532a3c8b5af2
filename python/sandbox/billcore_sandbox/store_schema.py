"""Tables of the store. Nested JSON is stored as text, and so are times; the text of an earlier time sorts first."""

# First envelope id of a sandbox with a seed. sqlite_sequence has the last id, so ids of deliveries never repeat.
FIRST_DELIVERY = 50_001
VERSION = 6  # of the tables; a file with another version is refused
ENDED = "state NOT IN ('pending', 'on_hold')"  # true for deliveries that are not sent any more

TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE accounts (
  number INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL UNIQUE, api_key TEXT NOT NULL UNIQUE,
  offset_us INTEGER NOT NULL DEFAULT 0, frozen_at TEXT, options TEXT NOT NULL DEFAULT '{{}}',
  events INTEGER NOT NULL DEFAULT 0);
CREATE TABLE api_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, key TEXT NOT NULL UNIQUE, state TEXT NOT NULL);

CREATE TABLE products (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, name TEXT NOT NULL, description TEXT,
  type TEXT NOT NULL, price INTEGER NOT NULL, currency TEXT NOT NULL, vat_rate REAL NOT NULL, interval TEXT,
  price_includes_vat INTEGER NOT NULL DEFAULT 0, image TEXT, images TEXT NOT NULL DEFAULT '[]',
  use_cart INTEGER NOT NULL DEFAULT 0, stock_tracking INTEGER NOT NULL DEFAULT 0,
  out_of_stock INTEGER NOT NULL DEFAULT 0, stays_active INTEGER NOT NULL, cycles INTEGER,
  state TEXT NOT NULL DEFAULT 'live');
CREATE INDEX products_of_account ON products (account, state, id);

CREATE TABLE product_groups (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, name TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'live');
CREATE TABLE group_members (
  group_id INTEGER NOT NULL, product_id INTEGER NOT NULL, PRIMARY KEY (group_id, product_id)) WITHOUT ROWID;
CREATE INDEX members_of_product ON group_members (product_id);

CREATE TABLE subscriptions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, product_id INTEGER NOT NULL, price INTEGER NOT NULL,
  vat INTEGER NOT NULL, currency TEXT NOT NULL, created_at TEXT NOT NULL, starts_at TEXT, renews_at TEXT, ends_at TEXT,
  trial_ends_at TEXT, retry_at TEXT, anchor TEXT, reference_id TEXT, reference_name TEXT, status TEXT NOT NULL,
  cancelled INTEGER NOT NULL DEFAULT 0, billing TEXT NOT NULL, declines INTEGER NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0, cycles_paid INTEGER NOT NULL DEFAULT 0,
  custom_fields TEXT NOT NULL DEFAULT '[]', metadata TEXT NOT NULL);
CREATE INDEX subscriptions_of_account ON subscriptions (account, id);
CREATE INDEX subscriptions_by_reference ON subscriptions (account, reference_id, id);

CREATE TABLE orders (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, subscription_id INTEGER, product_id INTEGER NOT NULL,
  created_at TEXT NOT NULL, total INTEGER NOT NULL, total_with_vat INTEGER NOT NULL, currency TEXT NOT NULL,
  reference_id TEXT, reference_name TEXT, state TEXT NOT NULL, billing TEXT NOT NULL, remote_id TEXT, delivery TEXT,
  is_first INTEGER NOT NULL DEFAULT 0, custom_fields TEXT NOT NULL DEFAULT '[]', metadata TEXT NOT NULL);
CREATE INDEX orders_of_subscription ON orders (subscription_id, created_at DESC, id DESC);
CREATE INDEX orders_of_account ON orders (account);

CREATE TABLE endpoints (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, url TEXT NOT NULL, secret TEXT NOT NULL,
  state TEXT NOT NULL, old_secret TEXT, old_secret_until TEXT, concurrency INTEGER NOT NULL DEFAULT 1,
  paused INTEGER NOT NULL DEFAULT 0, retry_schedule TEXT, keep_alive INTEGER NOT NULL DEFAULT 1, UNIQUE (account, url));

CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL, account INTEGER NOT NULL, endpoint_id INTEGER NOT NULL,
  event TEXT NOT NULL, url TEXT NOT NULL, body BLOB NOT NULL, signature TEXT NOT NULL, state TEXT NOT NULL,
  reason TEXT, together INTEGER, faults TEXT NOT NULL, attempts TEXT NOT NULL DEFAULT '[]',
  request_id INTEGER, effect_id INTEGER, state_id INTEGER);
CREATE INDEX deliveries_of_account ON deliveries (account, seq);
CREATE INDEX deliveries_pending ON deliveries (account, seq) WHERE state = 'pending';
CREATE INDEX deliveries_by_id ON deliveries (id);
CREATE INDEX deliveries_of_endpoint ON deliveries (endpoint_id, state, seq);
CREATE INDEX deliveries_ended ON deliveries (seq) WHERE {ENDED};

CREATE TABLE ledger (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, account INTEGER NOT NULL, kind TEXT NOT NULL,
  details TEXT NOT NULL, request_id INTEGER);
CREATE INDEX ledger_of_account ON ledger (account, id);

CREATE TABLE state_changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, account INTEGER NOT NULL, object TEXT NOT NULL,
  object_id INTEGER NOT NULL, "from" TEXT NOT NULL, "to" TEXT NOT NULL, cause TEXT NOT NULL, event TEXT,
  request_id INTEGER, effect_id INTEGER);
CREATE INDEX changes_of_object ON state_changes (object_id);

CREATE TABLE requests (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, account INTEGER, operation TEXT, method TEXT NOT NULL,
  target TEXT NOT NULL, headers BLOB NOT NULL, body BLOB NOT NULL, status INTEGER, fault TEXT, unknown TEXT NOT NULL,
  late TEXT, repeats INTEGER, duration_ms REAL, answer_headers BLOB, answer_body BLOB);
CREATE INDEX requests_of_account ON requests (account, id);
CREATE TABLE late_requests (
  id INTEGER PRIMARY KEY, account INTEGER NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL, query BLOB NOT NULL,
  headers TEXT NOT NULL, body BLOB NOT NULL);

CREATE TABLE jobs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, due TEXT NOT NULL, kind TEXT NOT NULL,
  subject INTEGER NOT NULL, cause TEXT NOT NULL, UNIQUE (kind, subject));
CREATE INDEX jobs_due ON jobs (account, due, seq);
CREATE INDEX jobs_reorder ON jobs (subject) WHERE cause = 'reorder';

-- The history in the order in which it happened: one row for each change of a record, whose key is `subject`. Streams
-- and waits read only the rows after the last row that they have seen. details: JSON of what is in no other table.
-- made: 1 if it is the first change of the record.
CREATE TABLE changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, account INTEGER, subject INTEGER NOT NULL, details TEXT,
  made INTEGER NOT NULL DEFAULT 0);
CREATE TRIGGER request_came AFTER INSERT ON requests BEGIN
  INSERT INTO changes (kind, account, subject, made) VALUES ('request', new.account, new.id, 1); END;
CREATE TRIGGER request_answered AFTER UPDATE OF duration_ms, late ON requests BEGIN
  INSERT INTO changes (kind, account, subject) VALUES ('request', new.account, new.id); END;
CREATE TRIGGER effect_recorded AFTER INSERT ON ledger BEGIN
  INSERT INTO changes (kind, account, subject, made) VALUES ('effect', new.account, new.id, 1); END;
CREATE TRIGGER state_changed AFTER INSERT ON state_changes BEGIN
  INSERT INTO changes (kind, account, subject, made) VALUES ('state', new.account, new.id, 1); END;
CREATE TRIGGER delivery_made AFTER INSERT ON deliveries BEGIN
  INSERT INTO changes (kind, account, subject, made) VALUES ('delivery', new.account, new.seq, 1); END;
CREATE TRIGGER delivery_changed AFTER UPDATE OF state, attempts ON deliveries BEGIN
  INSERT INTO changes (kind, account, subject) VALUES ('delivery', new.account, new.seq); END;

-- How many records of a list were deleted to keep the history small, and the greatest key of these records. account: 0
-- for requests without an account.
CREATE TABLE forgotten (
  list TEXT NOT NULL, account INTEGER NOT NULL, records INTEGER NOT NULL, last INTEGER NOT NULL,
  PRIMARY KEY (list, account)) WITHOUT ROWID;

INSERT INTO sqlite_sequence (name, seq) VALUES ('deliveries', {FIRST_DELIVERY - 1});
"""
