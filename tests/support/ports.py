"""Ports for servers that cannot choose one themselves."""

from __future__ import annotations

import socket


def reserve_port() -> socket.socket:
    """Returns a socket that keeps a free loopback port until it is closed.

    SO_REUSEADDR lets a server that sets it as well bind the same port and listen there. No other program gets the port,
    because the kernel gives away only ports that no socket has.
    """
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved
