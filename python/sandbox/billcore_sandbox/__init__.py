"""A local billing service: the whole service interface over real sockets, with demo data, events and faults.

The sandbox implements the interface independently of billcore's compiled core: it uses Python's own hmac, json
and sqlite3, so that client and sandbox cannot share a mistake. Start it with `billcore-sandbox`, with
`python -m billcore_sandbox`, or from a test with `billcore.testing.Sandbox`.
"""

__version__ = "0.1.0"
