"""Tables of the store. Times are the texts of clock.iso (they sort as they are); nested JSON is stored as text."""

VERSION = "1"

# First envelope id: one row of sqlite_sequence, so that ids of deliveries never repeat within one state.
FIRST_DELIVERY = 50_001

TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE accounts (number INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, api_key TEXT NOT NULL UNIQUE);

CREATE TABLE products (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, name TEXT NOT NULL, description TEXT,
  type TEXT NOT NULL, price INTEGER NOT NULL, currency TEXT NOT NULL, vat_rate REAL NOT NULL, interval TEXT,
  price_includes_vat INTEGER NOT NULL, image TEXT, images TEXT NOT NULL, use_cart INTEGER NOT NULL,
  stock_tracking INTEGER NOT NULL, out_of_stock INTEGER NOT NULL, stays_active INTEGER NOT NULL, deleted_at TEXT);
CREATE INDEX products_of_account ON products (account, deleted_at, id);

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
