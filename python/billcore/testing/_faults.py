"""Faults of a sandbox: what goes wrong on demand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from .._not_given import NOT_GIVEN
from ._calls import Calls

FaultKind = Literal["status", "delay", "reset_before", "reset_after", "half_body"]


class FaultControl(Calls):
    """Methods of Control."""

    def fault(
        self,
        kind: FaultKind,
        *,
        method: str | None = None,
        path: str | None = None,
        times: int = 1,
        status: int = 503,
        body: Any = NOT_GIVEN,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
        delay: float = 1.0,
        effect: bool = False,
        abort: bool = False,
    ) -> int:
        """Make the next `times` matching requests fail; returns the fault's id.

        `path` is a glob for the path below the base URL. `body` is the body of the answer: JSON, or with
        `content_type` a string that is sent verbatim. If the kind is `status` and `effect` is true, the sandbox
        performs the request before it sends that status. If the kind is `half_body` and `abort` is true, the sandbox
        resets the connection after half of the body.
        """
        fields: dict[str, Any] = {
            "kind": kind,
            "method": method,
            "path": path,
            "times": times,
            "status": status,
            "content_type": content_type,
            "headers": dict(headers or {}),
            "delay": delay,
            "effect": effect,
            "abort": abort,
        }
        if body is not NOT_GIVEN:
            fields["body"] = body
        return int(self._call("POST", "faults", fields)["id"])
