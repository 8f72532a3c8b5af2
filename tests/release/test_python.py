"""The Python packages of a release, installed by pip in a root that has only Python and its venv."""

from __future__ import annotations

import hashlib
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

from release.roots import Root

ROOT = Path(__file__).resolve().parent.parent.parent
# Ours by file, and only what they depend on from the index, where anybody could take the names that we have not taken.
INSTALL = (
    "python3 -m venv env && env/bin/pip install --quiet /dist/billcore-*-cp311-*manylinux*_$(uname -m).whl {sandbox}"
)
PROGRAM = """
import billcore, billcore.testing
from billcore import webhooks

with billcore.testing.Sandbox() as sandbox:
    client = billcore.Client(base_url=sandbox.base_url, api_key=sandbox.api_key)
    subscription = client.subscriptions.list(reference_id="demo-active").first()
    order = client.subscriptions.charge(subscription.id, product_id=102, amount=500)
    print(client.orders.get(order.id).total)
body, signature = billcore.testing.event("order.paid", total=19900)
print(webhooks.Verifier(billcore.testing.SECRET).unwrap(body, signature).data.total)
"""


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_two_commands_reach_the_first_call(minimal_root: Callable[..., Root]) -> None:
    root = minimal_root("python3", "python3-venv")
    root.write("first.py", PROGRAM)
    root.run(INSTALL.format(sandbox="/dist/billcore_sandbox-*.whl"))
    # Nothing is written to the home folder: /sys cannot be written, even by root.
    printed = root.run("~root/env/bin/python ~root/first.py", env={"HOME": "/sys"}).stdout
    assert printed.splitlines() == ["500", "19900"]
    licences = root.run("ls env/lib/python3*/site-packages/billcore_sandbox-*.dist-info/licenses").stdout
    assert "LICENSE" in licences.split()


def test_the_source_distribution_of_the_sandbox_installs(minimal_root: Callable[..., Root]) -> None:
    """Its build takes htmx from a package of the index."""
    root = minimal_root("python3", "python3-venv")
    root.write("first.py", PROGRAM)
    root.run(INSTALL.format(sandbox="/dist/billcore_sandbox-*.tar.gz"))
    root.run("ls env/lib/python3*/site-packages/billcore_sandbox/page/static/htmx.min.js")
    assert root.run("env/bin/python first.py").stdout.startswith("500\n")


def test_another_build_of_the_source_distributions_is_equal(dist: Path, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    listed = "git ls-files -z --cached --others --exclude-standard"
    copy = f'{listed} | tar -c --null --ignore-failed-read -T - | tar -x -C "$0"'
    subprocess.run(["sh", "-c", copy, tmp_path / "tree"], cwd=ROOT, check=True)
    (tmp_path / "dist").mkdir()
    with tarfile.open(next(dist.glob("billcore-[0-9]*.tar.gz"))) as archive:
        epoch = str(archive.getmembers()[0].mtime)
    command = ["env", f"SOURCE_DATE_EPOCH={epoch}", "python/wheel/sdist.sh", str(tmp_path / "dist")]
    done = subprocess.run(command, cwd=tmp_path / "tree", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = {path.name: digest(path) for path in (tmp_path / "dist").iterdir()}
    assert len(made) == 3 and made == {name: digest(dist / name) for name in made}
