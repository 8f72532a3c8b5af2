"""The zips for AWS Lambda: a function that only receives webhooks, and a layer with the whole package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

from python.support import SECRET, sign

ROOT = Path(__file__).resolve().parent.parent.parent
BODY = json.dumps({"name": "test.hook"})
# This program runs without site-packages and environment variables: it can import only the unpacked zip and the
# standard library.
HANDLE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import aws_lambda, billcore
assert billcore.__file__.startswith(sys.argv[1])
answers = [aws_lambda.handler(event, None) for event in json.load(sys.stdin)]
print(json.dumps(answers))
"""


def bundle(output: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "python/wheel/bundle.py"), os.environ["BILLCORE_WHEEL"], *more]
    return subprocess.run([*command, "--output", str(output)], capture_output=True, text=True)


def test_the_handler_runs_with_nothing_else_on_the_path(tmp_path: Path) -> None:
    made = bundle(tmp_path / "function.zip", str(ROOT / "examples/serverless/aws_lambda.py"))
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "function.zip").stat().st_size <= 520_000
    with zipfile.ZipFile(tmp_path / "function.zip") as archive:
        archive.extractall(tmp_path / "task")
        assert not [name for name in archive.namelist() if "_client" in name or "sandbox" in name]
        assert "billcore-0.1.0.dist-info/licenses/third_party/openssl/LICENSE.txt" in archive.namelist()
    events = [
        {"headers": {"service-signature": sign(BODY.encode())}, "body": BODY, "isBase64Encoded": False},
        {"headers": {"service-signature": sign(b"other")}, "body": BODY, "isBase64Encoded": False},
        {"headers": {}, "body": BODY, "isBase64Encoded": False},
    ]
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", HANDLE, str(tmp_path / "task")],
        input=json.dumps(events),
        capture_output=True,
        text=True,
        env={"WEBHOOK_SECRET": SECRET},
    )
    assert ran.returncode == 0, ran.stderr
    said, answers = ran.stdout.strip().split("\n")
    assert said == "test.hook"
    assert [answer["statusCode"] for answer in json.loads(answers)] == [200, 401, 401]


def test_a_layer_has_the_whole_package(tmp_path: Path) -> None:
    made = bundle(tmp_path / "layer.zip", "--layer")
    assert made.returncode == 0, made.stderr
    with zipfile.ZipFile(tmp_path / "layer.zip") as archive:
        archive.extractall(tmp_path / "opt")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import billcore; print(billcore.build_info()['self_contained'])"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(tmp_path / "opt/python")]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "True\n"), ran.stderr
