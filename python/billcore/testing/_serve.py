"""Runs a test's ASGI or WSGI application as a webhook receiver; public as billcore.testing.Receiver."""

from __future__ import annotations

import inspect
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from socketserver import ThreadingMixIn
from typing import Any, Self
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from .._errors import InvalidArgumentError
from ._calls import ControlError
from ._control import Control

_HOST = "127.0.0.1"
_STARTING = 30.0  # seconds
_STOPPING = 5.0  # seconds: stop() does not wait longer for running requests; their threads end with the process


class Receiver:
    """An application that receives webhooks in a thread of the test. close() or the end of `with` ends the application.

    Attributes:
        url: The URL of the application.
        endpoint_id: The id of the application's webhook endpoint, which close() deletes.
        secret: The secret with which the webhooks to the application are signed.
    """

    url: str
    endpoint_id: int
    secret: str

    def __init__(self, app: Callable[..., Any], path: str) -> None:
        if not path.startswith("/"):
            raise InvalidArgumentError(f"path must begin with a slash, not {path!r}")
        self._server: _Asgi | _Wsgi = _Asgi(app) if _is_asgi(app) else _Wsgi(app)
        self._control: Control | None = None
        self.url = f"http://{_HOST}:{self._server.port}{path}"

    def close(self) -> None:
        """End the application and delete its endpoint; a second call does nothing."""
        control, self._control = self._control, None
        if control is not None:
            with suppress(ControlError, OSError):  # the account was deleted, or the sandbox has ended
                control.endpoint(self.endpoint_id, "delete")
        self._server.stop()

    def __repr__(self) -> str:
        return f"<Receiver {self.url}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_asgi(app: Any) -> bool:
    """Whether the application takes the three arguments of ASGI; a WSGI application takes two."""
    if callable(app):
        called: Any = app if inspect.isroutine(app) else app.__call__
        if inspect.iscoroutinefunction(called):
            return True
        with suppress(TypeError, ValueError):
            signature = inspect.signature(app)
            for count in (3, 2):
                with suppress(TypeError):
                    signature.bind(*[None] * count)
                    return count == 3
    raise InvalidArgumentError(
        "serve() takes an ASGI or a WSGI application, which is called with (scope, receive, send) or with "
        f"(environ, start_response), not {app!r}"
    )


class _Wsgi:
    def __init__(self, app: Any) -> None:
        self._server = _ThreadingServer((_HOST, 0), _QuietHandler)
        self._server.set_app(app)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _ThreadingServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 128


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


class _Asgi:
    def __init__(self, app: Any) -> None:
        try:
            import uvicorn
        except ImportError:
            raise InvalidArgumentError("an ASGI application needs uvicorn: install billcore-sandbox") from None

        # With log_config=None, uvicorn does not configure logging: the test run decides how exceptions are logged.
        config = uvicorn.Config(
            app, loop="asyncio", http="h11", ws="none", log_config=None, access_log=False, timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        listening = socket.create_server((_HOST, 0), backlog=128)
        self.port = int(listening.getsockname()[1])
        self._thread = threading.Thread(target=self._run, args=(listening,), daemon=True)
        self._thread.start()
        deadline = time.monotonic() + _STARTING
        while not self._server.started:
            self._thread.join(0.005)
            if not self._thread.is_alive():
                listening.close()
                raise InvalidArgumentError("the application's lifespan failed to start: its error is in the log")
            if time.monotonic() > deadline:
                self._server.force_exit = True
                raise InvalidArgumentError(f"the application's lifespan did not start within {_STARTING:g} s")

    def _run(self, listening: socket.socket) -> None:
        with suppress(SystemExit):  # uvicorn exits if the application's lifespan fails
            self._server.run([listening])

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(_STOPPING)
