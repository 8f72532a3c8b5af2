"""A walk by commands alone: a first order, whose webhook a broken receiver refuses; why, and the same webhook again."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from pathlib import Path

import billcore_sandbox
from billcore.testing import Sandbox
from conformance.server import Reply, Request, ScriptedServer
from support.accounts import new_account
from support.children import child_environment

from .support import billcore

SECRET = "0123456789abcdef" * 2


def test_a_refused_webhook_is_explained_and_sent_again(tmp_path: Path) -> None:
    is_mended = False

    def receiver(request: Request) -> Reply:
        body = (
            request.body if is_mended else json.dumps(json.loads(request.body)).encode()
        )  # parsed before it is checked
        right = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest() == request.header("Service-Signature")
        return Reply(204 if right else 400)

    with Sandbox(retry_schedule=[]) as sandbox, new_account(sandbox) as account, ScriptedServer(receiver) as server:
        places = [child_environment()["PYTHONPATH"], str(Path(billcore_sandbox.__file__).parent.parent)]
        environment = child_environment(
            PYTHONPATH=os.pathsep.join(places),
            BILLCORE_BASE_URL=account.base_url,
            BILLCORE_API_KEY=account.api_key,
            BILLCORE_SANDBOX_CONTROL=account.control_url,
            BILLCORE_WEBHOOK_SECRET=SECRET,
        )

        def run(*arguments: str, status: int = 0) -> str:
            done = billcore("", *arguments, env=environment)
            assert done.returncode == status, done
            return str(done.stdout)

        account.control.create_endpoint(server.url, secret=SECRET)
        run("sandbox", "trigger", "first-order")
        run("sandbox", "wait", "delivery", "event=order.paid", "state=failed")
        assert run("sandbox", "deliveries", "--event", "order.paid").split("\t")[2:] == [
            "order.paid",
            "failed",
            "1",
            "400\n",
        ]
        (failed,) = map(json.loads, run("sandbox", "deliveries", "--event", "order.paid", "--json").splitlines())
        (tmp_path / "seen").write_text(json.dumps(json.loads(failed["body"])))
        told = run("webhook", "explain", "--signature", failed["signature"], str(tmp_path / "seen"), status=1)
        assert "it was parsed and written again" in told
        is_mended = True
        run("sandbox", "redeliver", str(failed["id"]))
        run("sandbox", "wait", "delivery", "event=order.paid", "state=delivered")
