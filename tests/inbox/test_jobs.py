"""examples/inbox/jobs.py: the claim and the job are one transaction; the job of a killed worker starts again."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
import sqlalchemy

from billcore import inbox
from journal.support import PostgresDatabase
from serverless.support import load
from support.children import child_environment
from support.waiting import until

from .receivers import EXAMPLES
from .support import event

README = (EXAMPLES / "README.md").read_text()
COMMAND = "python -m procrastinate --app jobs.app worker"
WORKER = [sys.executable, *COMMAND.split()[1:]]


@pytest.fixture
def jobs(postgresql: PostgresDatabase, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The example's module, connected to a database of its own."""
    monkeypatch.setenv("DATABASE_URL", postgresql.conninfo())
    module = load(EXAMPLES / "jobs.py")
    postgresql.execute("CREATE TABLE paid_orders (id text NOT NULL)")
    with psycopg.connect(postgresql.conninfo()) as connection:
        connection.execute(module.app.schema_manager.get_schema())
    yield module


def statuses(database: PostgresDatabase) -> list[str]:
    rows = database.execute("SELECT status::text FROM procrastinate_jobs WHERE task_name = 'ship' ORDER BY id")
    return [status for (status,) in rows]


def work(jobs: Any, *, sweep: bool = False) -> None:
    """Runs all waiting jobs; with `sweep`, first runs the sweep that restarts jobs of killed workers."""

    async def run() -> None:
        async with jobs.app.open_async():
            if sweep:
                await jobs.sweep(timestamp=0)
            await jobs.app.run_worker_async(wait=False, install_signal_handlers=False, listen_notify=False)

    asyncio.run(run())


def test_duplicates_make_one_job(jobs: Any, postgresql: PostgresDatabase) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: jobs.handle(event()), range(8)))
    assert statuses(postgresql) == ["todo"]
    work(jobs)
    assert statuses(postgresql) == ["succeeded"]
    assert len(postgresql.execute("SELECT * FROM paid_orders")) == 1


def test_the_job_is_part_of_the_transaction(jobs: Any, postgresql: PostgresDatabase) -> None:
    engine = sqlalchemy.create_engine(postgresql.url())
    for raises in (True, False):
        with pytest.raises(ZeroDivisionError) if raises else engine.connect(), engine.begin() as connection:
            assert inbox.claim(connection, event())
            driver = connection.connection.dbapi_connection
            jobs.ship.configure(connection=driver).defer(body=event().raw.decode())
            if raises:
                raise ZeroDivisionError
        assert len(statuses(postgresql)) == (0 if raises else 1)
    engine.dispose()


def test_the_job_of_a_killed_worker(jobs: Any, postgresql: PostgresDatabase) -> None:
    assert COMMAND in " ".join(README.split()) and COMMAND in (EXAMPLES / "jobs.py").read_text()
    jobs.handle(event())
    environment = child_environment(DATABASE_URL=postgresql.conninfo())
    with postgresql.connect() as held:
        inbox.claim(held, event(), consumer="ship")  # the job's own claim waits for this transaction
        worker = subprocess.Popen(WORKER, cwd=EXAMPLES, env=environment, stderr=subprocess.DEVNULL)
        until(lambda: statuses(postgresql) == ["doing"])
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        held.rollback()
    postgresql.execute("UPDATE procrastinate_workers SET last_heartbeat = now()")  # this test may be slow
    work(jobs, sweep=True)
    assert statuses(postgresql) == ["doing"], "the worker may still be alive"
    postgresql.execute("UPDATE procrastinate_workers SET last_heartbeat = last_heartbeat - interval '1 minute'")
    work(jobs, sweep=True)
    assert statuses(postgresql) == ["succeeded"]
    assert len(postgresql.execute("SELECT * FROM paid_orders")) == 1


def test_a_job_that_runs_twice(jobs: Any, postgresql: PostgresDatabase) -> None:
    """The effect is made once if a worker is killed after the effect's commit but before the end of the job."""
    jobs.handle(event())
    work(jobs)
    postgresql.execute("UPDATE procrastinate_jobs SET status = 'doing'")
    work(jobs, sweep=True)
    assert postgresql.execute("SELECT attempts > 1, status::text FROM procrastinate_jobs WHERE task_name = 'ship'") == [
        (True, "succeeded")
    ]
    assert len(postgresql.execute("SELECT * FROM paid_orders")) == 1
