"""Django: gunicorn django_app:application. In a project of yours only the verifier, the view and its URL matter."""

from __future__ import annotations

import os
import sys

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from billcore import ConfigError, webhooks

try:  # once per process, not per request; two secrets with a comma between while one is being replaced
    verifier = webhooks.Verifier(os.environ.get("WEBHOOK_SECRET", "").split(","))
except ConfigError as error:
    print(f"WEBHOOK_SECRET: {error}", file=sys.stderr)
    sys.exit(3)  # gunicorn then stops; at another status it starts the worker again and again


# The signature takes the place of the CSRF token. No middleware may touch request.body or request.POST before.
@csrf_exempt
@require_POST
def receive(request: HttpRequest) -> HttpResponse:
    try:
        event = webhooks.from_wsgi(request.META, verifier)
    except webhooks.SignatureError as error:
        return HttpResponse(error.reason, status=error.http_status)
    keep(event)
    return HttpResponse()


def keep(event: webhooks.Event) -> None:
    if event.name == "test.hook":  # somebody tries the endpoint: only the name is reliable, so read nothing else
        print(event.name)
        return
    # Events come at least once. Claim (event.account, str(event.id)) in your database before you do anything, in one
    # transaction with what the event causes or with the job you queue for it; when it is claimed already, return.
    print(f"{event.name} {event.id}")


urlpatterns = [path("webhooks", receive)]
# Without LOGGING_CONFIG=None Django would tell nobody about an exception: here it goes to stderr.
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["localhost", "127.0.0.1"], LOGGING_CONFIG=None)
application = get_wsgi_application()
