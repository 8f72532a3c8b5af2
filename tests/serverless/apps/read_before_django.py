"""A common mistake with Django: code reads the body before from_wsgi(). The response is the text of the error."""

from __future__ import annotations

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

from billcore import BillcoreError, webhooks

verifier = webhooks.Verifier(os.environ["WEBHOOK_SECRET"])


def once(request: HttpRequest) -> HttpResponse:
    try:
        return HttpResponse(webhooks.from_wsgi(request.META, verifier).name)
    except BillcoreError as error:
        return HttpResponse(f"{type(error).__name__}: {error}", status=500)


def twice(request: HttpRequest) -> HttpResponse:
    once(request)
    return once(request)


def body(request: HttpRequest) -> HttpResponse:
    assert request.body is not None
    return once(request)


def form(request: HttpRequest) -> HttpResponse:
    assert not request.POST.get("no")
    return once(request)


def instead(request: HttpRequest) -> HttpResponse:
    return HttpResponse(verifier.unwrap_request(request.body, request.headers).name)


urlpatterns = [path(view.__name__, view) for view in (once, twice, body, form, instead)]
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"])
application = get_wsgi_application()
