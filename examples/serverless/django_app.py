"""A Django application; run it with: gunicorn django_app:application

In your own project you need only the verifier, the view and its URL.
"""

from __future__ import annotations

import os
import sys

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from billcore import ConfigError, DecodeError, webhooks

try:  # make the Verifier once per process; while a secret is being replaced, WEBHOOK_SECRET is "new,old"
    verifier = webhooks.Verifier(os.environ.get("WEBHOOK_SECRET", "").split(","))
except ConfigError as error:
    print(f"WEBHOOK_SECRET: {error}", file=sys.stderr)
    sys.exit(3)  # status 3 stops gunicorn; after any other status gunicorn restarts the worker again and again


# The signature replaces the CSRF token. No middleware may read request.body or request.POST before this view.
@csrf_exempt
@require_POST
def receive(request: HttpRequest) -> HttpResponse:
    try:
        event = webhooks.from_wsgi(request.META, verifier)
    except webhooks.SignatureError as error:
        return HttpResponse(error.reason, status=error.http_status)
    except DecodeError as error:  # the signature is right, but the body is not an event that can be kept
        return HttpResponse(status=error.http_status)
    keep(event)
    return HttpResponse()


def keep(event: webhooks.Event) -> None:
    if isinstance(event, webhooks.TestHook):  # a test of the endpoint: only the name is reliable, so read nothing else
        print(event.name)
        return
    # An event may be delivered more than once. Insert the key (event.account, str(event.id)) into your database, in
    # the same transaction as the event's effect or the job that you queue for it. If the database already
    # has the key, return.
    print(f"{event.name} {event.id}")


urlpatterns = [path("webhooks", receive)]
# LOGGING_CONFIG=None makes Django write exceptions to stderr; otherwise Django would not report them at all.
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["localhost", "127.0.0.1"], LOGGING_CONFIG=None)
application = get_wsgi_application()
