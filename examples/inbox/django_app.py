"""Django; run it with: gunicorn --threads 4 django_app:application. A project needs only the view."""

from __future__ import annotations

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import OperationalError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from billcore import DecodeError, inbox, webhooks

verifier = webhooks.Verifier(os.environ["WEBHOOK_SECRET"].split(","))


@csrf_exempt
def receive(request: HttpRequest) -> HttpResponse:
    try:
        event = webhooks.from_wsgi(request.META, verifier)
        with transaction.atomic():
            if inbox.claim(connection, event) and isinstance(event, webhooks.OrderPaid) and "id" in event.data:
                with connection.cursor() as cursor:  # or a model's save()
                    cursor.execute("INSERT INTO paid_orders (id) VALUES (%s)", [str(event.data.id)])
    except webhooks.SignatureError as error:
        return HttpResponse(error.reason, status=error.http_status)
    except DecodeError as error:
        return HttpResponse(status=error.http_status)
    except (inbox.InboxBusyError, OperationalError):  # the sender tries again after a 503
        return HttpResponse(status=503)
    return HttpResponse()


urlpatterns = [path("webhooks", receive)]
DATABASE = {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"], "USER": os.environ["PGUSER"]}
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"], DATABASES={"default": DATABASE})
application = get_wsgi_application()
