"""Webhooks: verify the raw bytes first, then parse. Loads no HTTP client.

    event = webhooks.unwrap(body, request.headers.get("Service-Signature"), secret)

A receiver that runs often keeps a Verifier. Service interface: Events.
"""

from ._errors import SignatureError
from ._webhook import Event, Verified, Verifier, sign, unwrap, verify

__all__ = ["Event", "SignatureError", "Verified", "Verifier", "sign", "unwrap", "verify"]
