"""Runs an application in a real gunicorn."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from support.children import child_environment
from support.waiting import GENEROUS


@contextmanager
def gunicorn(folder: Path, options: Sequence[str], **environment: str) -> Iterator[int]:
    """Runs application.py of the folder in gunicorn, and yields its port; gunicorn must exit without errors."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening, (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", *options, "--bind", f"fd://{listening.fileno()}", "application"],
            cwd=folder,
            env=child_environment(**environment),
            stdout=output,
            stderr=output,
            pass_fds=[listening.fileno()],
        )
        port = listening.getsockname()[1]
    try:
        yield port
        process.send_signal(signal.SIGTERM)
        assert process.wait(GENEROUS) == 0
    except BaseException as error:
        error.add_note((folder / "output").read_text())
        raise
    finally:
        process.kill()
        process.wait()
    text = (folder / "output").read_text()
    assert "Traceback" not in text and "ERROR" not in text, text
