"""A shop that charges, behind gunicorn: gunicorn -c gunicorn_conf.py app:app"""

from __future__ import annotations

import os
from pathlib import Path

from flask import Flask
from sqlalchemy import create_engine

import billcore
from billcore.journal import Journal

# The key is a file that systemd or Kubernetes provides, so it is in no environment variable and in no argument.
key = Path(os.environ["SHOP_KEY_FILE"]).read_text("utf-8").strip()
client = billcore.Client(api_key=key, timeout=10)
engine = create_engine(os.environ["DATABASE_URL"])
journal = Journal(engine, client, timeout=20, settle=600)
app = Flask(__name__)

# gunicorn's preload_app forks its workers after this module was imported. billcore opens connections of its own in each
# worker. SQLAlchemy needs this call, because two processes must not use one connection to the database.
os.register_at_fork(after_in_child=lambda: engine.dispose(close=False))


@app.post("/pay/<invoice>/<subscription>/<int:cents>")
def pay(invoice: str, subscription: str, cents: int) -> tuple[str, int]:
    try:
        order = journal.charge(invoice, subscription, product_id=102, amount=cents)
    except billcore.PaymentError as error:
        return error.message or "declined", 402
    except billcore.BillcoreError as error:
        app.logger.warning("%s: %s", invoice, error)
        return "checking", 202  # the same request later finds out what happened
    return f"order {order.id}", 200


@app.get("/healthz")
def healthz() -> str:
    return "ok"  # does not ask the billing service: its outage must not restart the shop
