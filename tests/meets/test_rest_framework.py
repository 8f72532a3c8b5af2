"""Django REST Framework: an APIView verifies the raw body, not what it makes of `request.data`."""

from __future__ import annotations

import json

import django
from django.conf import settings

settings.configure(ALLOWED_HOSTS=["*"], INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes"])
django.setup()  # before rest_framework is imported

from rest_framework.request import Request  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.test import APIRequestFactory  # noqa: E402
from rest_framework.views import APIView  # noqa: E402

from billcore import testing, webhooks  # noqa: E402

verifier = webhooks.Verifier(testing.SECRET)


class Receiver(APIView):  # type: ignore[misc, unused-ignore]
    authentication_classes = ()
    permission_classes = ()
    takes_data = False  # whether the view makes bytes of the parsed data, which is the mistake

    def post(self, request: Request) -> Response:
        body = json.dumps(request.data).encode() if self.takes_data else request.body
        try:
            event = verifier.unwrap_request(body, request.headers)
        except webhooks.SignatureError as error:
            return Response(status=error.http_status)
        return Response({"id": event.id}, status=200)


def deliver(signature: str, body: bytes, **options: bool) -> Response:
    request = APIRequestFactory().post(
        "/", body, content_type="application/json", headers={"Service-Signature": signature}
    )
    return Receiver.as_view(**options)(request)


def test_a_view_verifies_the_raw_body() -> None:
    body, signature = testing.event("order.paid")
    assert deliver(signature, body).status_code == 200
    assert deliver("0" * 64, body).status_code == 401


def test_parsed_data_is_not_the_body() -> None:
    body, signature = testing.event("order.paid")
    assert deliver(signature, body, takes_data=True).status_code == 401
