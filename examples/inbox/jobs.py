"""Applies effects later, in jobs of procrastinate. Run a worker with: python -m procrastinate --app jobs.app worker"""

from __future__ import annotations

import os

import psycopg
from procrastinate import App, PsycopgConnector

from billcore import inbox, webhooks

DATABASE = os.environ["DATABASE_URL"]  # such as postgresql://user@host/shop
app = App(connector=PsycopgConnector(conninfo=DATABASE))


def handle(event: webhooks.Event) -> None:
    """Call this from a receiver: it inserts the claim, and then the job, in one transaction."""
    with psycopg.connect(DATABASE) as connection:
        if inbox.claim(connection, event) and isinstance(event, webhooks.OrderPaid) and "id" in event.data:
            ship.configure(connection=connection).defer(body=event.raw.decode())


@app.task(name="ship")
def ship(body: str) -> None:
    """If its worker is killed, a job can run twice, so the effect has a claim of its own."""
    event = webhooks.parse_unverified(body.encode())
    with psycopg.connect(DATABASE) as connection:
        if inbox.claim(connection, event, consumer="ship") and isinstance(event, webhooks.OrderPaid):
            connection.execute("INSERT INTO paid_orders (id) VALUES (%s)", [str(event.data.id)])


@app.periodic(cron="* * * * *")
@app.task(name="sweep", queueing_lock="sweep")
async def sweep(timestamp: int) -> None:
    """Restarts the jobs of killed workers, which procrastinate does not do itself."""
    for job in await app.job_manager.get_stalled_jobs():
        await app.job_manager.retry_job(job)
