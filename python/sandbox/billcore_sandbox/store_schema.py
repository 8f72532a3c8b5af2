"""Tables of the store. Nested JSON is stored as text, and so are times; the text of an earlier time sorts first."""

# First envelope id of a sandbox with a seed. sqlite_sequence has the last id, so ids of deliveries never repeat.
FIRST_DELIVERY = 50_001

# Tables of version 1, which was part of the package billcore. A migration makes each later version from the
# previous version.
VERSION_1 = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE accounts (number INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, api_key TEXT NOT NULL UNIQUE);

CREATE TABLE products (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, name TEXT NOT NULL, description TEXT,
  type TEXT NOT NULL, price INTEGER NOT NULL, currency TEXT NOT NULL, vat_rate REAL NOT NULL, interval TEXT,
  price_includes_vat INTEGER NOT NULL, image TEXT, images TEXT NOT NULL, use_cart INTEGER NOT NULL,
  stock_tracking INTEGER NOT NULL, out_of_stock INTEGER NOT NULL, stays_active INTEGER NOT NULL, deleted_at TEXT);

CREATE TABLE product_groups (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, name TEXT NOT NULL, deleted_at TEXT);
CREATE TABLE group_members (
  group_id INTEGER NOT NULL, product_id INTEGER NOT NULL, PRIMARY KEY (group_id, product_id)) WITHOUT ROWID;

CREATE TABLE subscriptions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, product_id INTEGER NOT NULL, price INTEGER NOT NULL,
  vat INTEGER NOT NULL, currency TEXT NOT NULL, created_at TEXT NOT NULL, starts_at TEXT, renews_at TEXT, ends_at TEXT,
  trial_ends_at TEXT, reference_id TEXT, reference_name TEXT, status TEXT NOT NULL, cancelled INTEGER NOT NULL,
  billing TEXT NOT NULL, declines INTEGER NOT NULL, custom_fields TEXT NOT NULL, metadata TEXT NOT NULL);
CREATE INDEX subscriptions_of_account ON subscriptions (account, id);
CREATE INDEX subscriptions_by_reference ON subscriptions (account, reference_id, id);

CREATE TABLE orders (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, subscription_id INTEGER, product_id INTEGER NOT NULL,
  created_at TEXT NOT NULL, total INTEGER NOT NULL, total_with_vat INTEGER NOT NULL, currency TEXT NOT NULL,
  reference_id TEXT, reference_name TEXT, state TEXT NOT NULL, billing TEXT NOT NULL, remote_id TEXT, delivery TEXT,
  is_first INTEGER NOT NULL, custom_fields TEXT NOT NULL, metadata TEXT NOT NULL);
CREATE INDEX orders_of_subscription ON orders (subscription_id, created_at DESC, id DESC);

CREATE TABLE endpoints (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, url TEXT NOT NULL, secret TEXT NOT NULL,
  UNIQUE (account, url));

CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL, account INTEGER NOT NULL, endpoint_id INTEGER NOT NULL,
  event TEXT NOT NULL, url TEXT NOT NULL, created_at TEXT NOT NULL, data BLOB NOT NULL, body BLOB NOT NULL,
  signature TEXT NOT NULL, state TEXT NOT NULL, attempts TEXT NOT NULL);
CREATE INDEX deliveries_by_id ON deliveries (id);

CREATE TABLE ledger (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, account INTEGER NOT NULL, kind TEXT NOT NULL,
  details TEXT NOT NULL);

CREATE TABLE requests (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, account TEXT, method TEXT NOT NULL, target TEXT NOT NULL,
  headers TEXT NOT NULL, body TEXT NOT NULL, status INTEGER, fault TEXT);

INSERT INTO sqlite_sequence (name, seq) VALUES ('deliveries', {FIRST_DELIVERY - 1});
"""

# Version 2 adds clocks, jobs, and states of products, groups, endpoints and keys.
VERSION_2 = """
ALTER TABLE accounts ADD COLUMN offset_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN frozen_at TEXT;
CREATE TABLE api_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, key TEXT NOT NULL UNIQUE, state TEXT NOT NULL);
INSERT INTO api_keys (account, key, state) SELECT number, api_key, 'valid' FROM accounts ORDER BY number;

ALTER TABLE products ADD COLUMN state TEXT NOT NULL DEFAULT 'live';
ALTER TABLE products ADD COLUMN cycles INTEGER;
UPDATE products SET state = 'deleted' WHERE deleted_at IS NOT NULL;
ALTER TABLE products DROP COLUMN deleted_at;
CREATE INDEX products_of_account ON products (account, state, id);

ALTER TABLE product_groups ADD COLUMN state TEXT NOT NULL DEFAULT 'live';
UPDATE product_groups SET state = 'deleted' WHERE deleted_at IS NOT NULL;
ALTER TABLE product_groups DROP COLUMN deleted_at;

ALTER TABLE subscriptions ADD COLUMN anchor TEXT;
ALTER TABLE subscriptions ADD COLUMN retry_at TEXT;
ALTER TABLE subscriptions ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE subscriptions ADD COLUMN cycles_paid INTEGER NOT NULL DEFAULT 0;

ALTER TABLE endpoints ADD COLUMN state TEXT NOT NULL DEFAULT 'enabled';
ALTER TABLE endpoints ADD COLUMN old_secret TEXT;
ALTER TABLE endpoints ADD COLUMN old_secret_until TEXT;

CREATE INDEX orders_of_account ON orders (account);
CREATE INDEX deliveries_of_endpoint ON deliveries (endpoint_id, state, seq);
CREATE INDEX ledger_of_account ON ledger (account, id);
CREATE INDEX members_of_product ON group_members (product_id);

CREATE TABLE jobs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, due TEXT NOT NULL, kind TEXT NOT NULL,
  subject INTEGER NOT NULL, cause TEXT NOT NULL, UNIQUE (kind, subject));
CREATE INDEX jobs_due ON jobs (account, due, seq);
"""

# Version 3 adds late requests, settings of endpoints, and columns: for a request its operation and unknown parameters;
# for a delivery its faults, the reason of its end, and the deliveries that start at the same moment.
VERSION_3 = """
ALTER TABLE requests ADD COLUMN unknown TEXT NOT NULL DEFAULT '[]';
ALTER TABLE requests ADD COLUMN late TEXT;
ALTER TABLE requests ADD COLUMN operation TEXT;
CREATE TABLE late_requests (
  id INTEGER PRIMARY KEY, account INTEGER NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL, query BLOB NOT NULL,
  headers TEXT NOT NULL, body BLOB NOT NULL);

ALTER TABLE endpoints ADD COLUMN concurrency INTEGER NOT NULL DEFAULT 1;
ALTER TABLE endpoints ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
ALTER TABLE endpoints ADD COLUMN retry_schedule TEXT;
ALTER TABLE endpoints ADD COLUMN keep_alive INTEGER NOT NULL DEFAULT 1;

ALTER TABLE deliveries ADD COLUMN reason TEXT;
ALTER TABLE deliveries ADD COLUMN together INTEGER;
ALTER TABLE deliveries ADD COLUMN faults TEXT NOT NULL DEFAULT '[]';
ALTER TABLE deliveries DROP COLUMN data;
ALTER TABLE deliveries DROP COLUMN created_at;
CREATE INDEX jobs_reorder ON jobs (subject) WHERE cause = 'reorder';
CREATE INDEX deliveries_ended ON deliveries (seq) WHERE state != 'pending';
"""

MIGRATIONS = (VERSION_1, VERSION_2, VERSION_3)
VERSION = len(MIGRATIONS)
