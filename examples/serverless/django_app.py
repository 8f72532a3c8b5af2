"""Django: gunicorn django_app:application. In a project of yours only the verifier, the view and its URL matter."""

from __future__ import annotations

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from billcore import webhooks

# Once per process, not per request. Two secrets with a comma between while one is being replaced.
verifier = webhooks.Verifier(os.environ["WEBHOOK_SECRET"].split(","))


# The signature takes the place of the CSRF token. No middleware may touch request.body or request.POST before.
@csrf_exempt
@require_POST
def receive(request: HttpRequest) -> HttpResponse:
    try:
        event = webhooks.from_wsgi(request.META, verifier)
    except webhooks.SignatureError as error:
        return HttpResponse(error.reason, status=error.http_status)
    keep(event)
    return HttpResponse(status=204)


def keep(event: webhooks.Event) -> None:
    # Events come at least once. Before anything else, claim (event.account, str(event.id)) in your database, in one
    # transaction with what the event causes or with the job you queue for it; when it is claimed already, return.
    # Every test.hook has the id 0: do not claim those.
    print(f"{event.name} {event.id}")


urlpatterns = [path("webhooks", receive)]
# Without LOGGING_CONFIG=None Django would tell nobody about an exception: here it goes to stderr.
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["localhost", "127.0.0.1"], LOGGING_CONFIG=None)
application = get_wsgi_application()
