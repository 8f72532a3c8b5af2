"""Runs the recipes of python/docs/journal.md: in a web request, in a Celery worker, from cron, with Django."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import celery
import django.conf
import django.db.transaction
import django.db.utils
import pytest
from celery.contrib.testing.worker import start_worker

from billcore.journal import ChargePendingError, Journal

from .support import PAST, PostgresDatabase, Scene

PAGE = Path(__file__).resolve().parents[2] / "python" / "docs" / "journal.md"


@pytest.fixture
def recipes(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The page's program, with a journal on the test's database and a Celery application."""
    monkeypatch.setenv("BILLCORE_BASE_URL", scene.account.base_url)
    monkeypatch.setenv("BILLCORE_API_KEY", scene.account.api_key)
    app = celery.Celery(broker="memory://", backend="cache+memory://", set_as_current=False)
    names: dict[str, Any] = {"app": app, "__name__": scene.account.api_key, "django": django}
    first, *blocks = re.findall(r"^ *```python\n(.*?)^ *```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    exec(first.replace("order = ", "# "), names)
    names["journal"] = scene.journal(settle=1.0, timeout=1.0)
    for block in blocks:
        exec(textwrap.dedent(block), names)
    yield names
    app.close()


def test_a_web_request(scene: Scene, recipes: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    pay = recipes["pay"]
    assert pay("first", scene.subscription, scene.product, 1500) == f"order {scene.charges()[0]['order_id']}"
    assert pay("declined", scene.declining, scene.product, 1500) == "declined"
    scene.control.fault("reset_after", operation="charge")
    assert pay("lost", scene.subscription, scene.product, 1500) == "checking"
    assert capsys.readouterr().out == ""
    recipes["journal"] = scene.journal(settle=None)
    scene.control.fault("status", operation="charge", status=500, effect=False)
    pay("unknown", scene.declining, scene.product, 1500)
    scene.database.age(PAST)
    assert pay("unknown", scene.declining, scene.product, 1500) == "checking"
    assert "for a person: the charge 'unknown' may have been made" in capsys.readouterr().out


def test_a_celery_task(scene: Scene, recipes: dict[str, Any]) -> None:
    scene.control.fault("reset_after", operation="charge")
    scene.control.fault("status", operation="subscriptions.orders", status=503, effect=False, nth=1, retry_after=0)
    with start_worker(recipes["app"], perform_ping_check=False, pool="solo"):
        recipes["collect"].delay("k", scene.subscription, scene.product, 1500).get(timeout=120)
    order = scene.journal().get("k")
    assert order is not None and [order.order_id] == [each["order_id"] for each in scene.charges()]


def test_the_recipe_for_cron_settles_a_pending_charge(
    scene: Scene, recipes: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    scene.control.fault("reset_before", operation="charge")
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal(), quantity=2, vat=1000, description="two")
    scene.database.age(PAST)
    recipes["finish"]()
    assert capsys.readouterr().out == "" and scene.journal().open() == []
    assert scene.charge(scene.journal(), quantity=2, vat=1000, description="two").total == 3000


def test_a_connection_of_django(scene: Scene, recipes: dict[str, Any]) -> None:
    database = scene.database
    settings: dict[str, Any] = {"ENGINE": "django.db.backends.sqlite3", "NAME": database.where()}
    if isinstance(database, PostgresDatabase):
        server = database.server
        settings = {"ENGINE": "django.db.backends.postgresql", "NAME": database.name, "USER": "postgres"}
        settings |= {"HOST": server.host, "PORT": server.port}
    if not django.conf.settings.configured:
        django.conf.settings.configure()
    whole = django.db.connections.configure_settings({"default": settings})["default"]
    django.db.connections["default"] = connection = django.db.utils.load_backend(whole["ENGINE"]).DatabaseWrapper(whole)
    try:
        with django.db.transaction.atomic():
            journal = Journal(recipes["connect"], scene.client, settle=60)
            order = scene.charge(journal)
            assert scene.charge(scene.journal()) == order
    finally:
        connection.close()
        del django.db.connections["default"]
