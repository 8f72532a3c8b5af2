"""Starts a new PostgreSQL server: on a socket of its own, or with TLS on a port of localhost."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from support.ports import reserve_port
from support.waiting import until


def find(program: str) -> str:
    found = shutil.which(program) or next(map(str, sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))), None)
    assert found is not None, f"there is no {program}: apt-get install postgresql"
    return found


class Postgres:
    """A PostgreSQL server on which the user postgres needs no password. If the test runs as root, the server runs as
    the user nobody, because PostgreSQL refuses to run as root.

    Without a certificate, the server listens only on a Unix socket. The server's folder is not in the temporary folder
    of pytest, because each start of pytest removes the access rights of other users from that folder.
    """

    def __init__(self, tls: tuple[Path, Path] | None = None) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="billcore-postgres-")
        folder = Path(self._temporary.name)
        self._user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
        self._folder = folder / "data"
        folder.chmod(0o777)
        for parent in folder.parents:
            if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
                parent.chmod(parent.stat().st_mode | 0o011)
        self._run(find("initdb"), "-D", str(self._folder), "-U", "postgres", "--auth=trust", "--no-sync")
        self.port = 5432
        self._reserved = reserve_port()
        self.host = "localhost" if tls else str(folder)
        settings: dict[str, object] = {"fsync": "off", "unix_socket_directories": "", "listen_addresses": ""}
        if tls is None:
            settings["unix_socket_directories"] = folder
        else:
            self.port = self._reserved.getsockname()[1]
            settings |= {"listen_addresses": "localhost", "ssl": "on"}
            for source, option, name in zip(
                tls, ("ssl_cert_file", "ssl_key_file"), ("server.crt", "server.key"), strict=True
            ):
                settings[option] = shutil.copy(source, folder / name)
                if self._user:
                    shutil.chown(folder / name, "nobody", "nogroup")
                (folder / name).chmod(0o600)
        settings["port"] = self.port
        options = [f"--{name}={value}" for name, value in settings.items()]
        self._log = (folder / "log").open("w")
        self._command = [*self._user, find("postgres"), "-D", str(self._folder), *options]
        self.start()

    def start(self) -> None:
        self._server = subprocess.Popen(self._command, stdout=self._log, stderr=subprocess.STDOUT)
        until(self._answers)

    def _run(self, *command: str) -> None:
        done = subprocess.run([*self._user, *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def _answers(self) -> bool:
        assert self._server.poll() is None, Path(self._log.name).read_text()
        return subprocess.run([find("pg_isready"), "-h", self.host, "-p", str(self.port), "-q"]).returncode == 0

    def kill(self) -> None:
        """Ends the server like a crash; start() starts it again with its data."""
        os.kill(self._server.pid, signal.SIGQUIT)
        self._server.wait(60)

    def close(self) -> None:
        self._server.send_signal(signal.SIGINT)  # SIGINT also ends the open connections
        self._server.wait(60)
        self._reserved.close()
        self._log.close()
        self._temporary.cleanup()
