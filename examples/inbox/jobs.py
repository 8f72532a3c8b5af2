"""Work that runs later, as a job of procrastinate. Run a worker with: procrastinate --app jobs.app worker"""

from __future__ import annotations

import os

import psycopg
from procrastinate import App, PsycopgConnector

from billcore import inbox, webhooks

DATABASE = os.environ["DATABASE_URL"]  # such as postgresql://user@host/shop
app = App(connector=PsycopgConnector(conninfo=DATABASE))


def handle(event: webhooks.Event) -> None:
    """Called by the receiver: the claim and the job are one transaction. The job is inserted after the claim."""
    with psycopg.connect(DATABASE) as connection:
        if inbox.claim(connection, event) and isinstance(event, webhooks.OrderPaid):
            ship.configure(connection=connection).defer(body=event.raw.decode())


@app.task(name="ship")
def ship(body: str) -> None:
    """A job can run twice, if its worker is killed. So its effect has a claim of its own."""
    event = webhooks.parse_unverified(body.encode())
    with psycopg.connect(DATABASE) as connection:
        if inbox.claim(connection, event, consumer="ship") and isinstance(event, webhooks.OrderPaid):
            connection.execute("INSERT INTO paid_orders (id) VALUES (%s)", [str(event.data.id)])


@app.periodic(cron="* * * * *")
@app.task(name="sweep", queueing_lock="sweep")
async def sweep(timestamp: int) -> None:
    """Starts the jobs of killed workers again, which procrastinate leaves to its user."""
    for job in await app.job_manager.get_stalled_jobs():
        await app.job_manager.retry_job(job)
