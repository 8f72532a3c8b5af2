import os
import sys

from billcore import webhooks

try:  # verify_webhook SIGNATURE < body
    event = webhooks.unwrap(sys.stdin.buffer.read(), sys.argv[1], os.environ["WEBHOOK_SECRET"])
    print(f"event {event.id} is {event.name}")
except webhooks.SignatureError as error:
    sys.exit(f"refused, answer {error.http_status}: {error.reason}")
