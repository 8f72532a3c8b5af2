"""Starts a new MariaDB server on a socket of its own."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pymysql

from support.waiting import until

_numbers = itertools.count(1)


class MariaDB:
    """A MariaDB server on which every user has all rights and needs no password."""

    def __init__(self) -> None:
        server = shutil.which("mariadbd", path=os.environ["PATH"] + ":/usr/sbin")
        assert server is not None, "there is no mariadbd: apt-get install mariadb-server-core"
        self._temporary = tempfile.TemporaryDirectory(prefix="billcore-mariadb-")
        folder = Path(self._temporary.name)
        (folder / "data").mkdir()  # the server starts with an empty folder, because it needs no table of rights
        self.socket = str(folder / "socket")
        self._log = (folder / "log").open("w")
        command = [server, "--no-defaults", f"--datadir={folder}/data", f"--socket={self.socket}"]
        command += [f"--pid-file={folder}/pid", "--skip-networking", "--skip-grant-tables"]
        command += ["--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M"]
        if os.geteuid() == 0:
            command.append("--user=root")
        self._server = subprocess.Popen(command, stdout=self._log, stderr=subprocess.STDOUT)
        until(self._answers)

    def _answers(self) -> bool:
        assert self._server.poll() is None, Path(self._log.name).read_text()
        with contextlib.suppress(pymysql.OperationalError):
            pymysql.connect(unix_socket=self.socket, user="root").close()
            return True
        return False

    def new_database(self) -> str:
        name = f"inbox_{next(_numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        return name

    def execute(self, sql: str, database: str | None = None) -> list[tuple[Any, ...]]:
        """Runs a statement; returns its rows."""
        with pymysql.connect(unix_socket=self.socket, user="root", database=database, autocommit=True) as connection:
            cursor = connection.cursor()
            cursor.execute(sql)
            return list(cursor.fetchall())

    def close(self) -> None:
        self._server.terminate()
        self._server.wait(60)
        self._log.close()
        self._temporary.cleanup()
