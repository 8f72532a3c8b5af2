import os
import sys

import billcore
from billcore import webhooks

if len(sys.argv) != 2:
    sys.exit("usage: verify_webhook.py SIGNATURE < BODY")
try:
    event = webhooks.unwrap(sys.stdin.buffer.read(), sys.argv[1], os.environ.get("WEBHOOK_SECRET", ""))
    match event:
        case webhooks.TestHook():  # only the name of a test.hook is reliable: a server reads no other field
            print("test.hook")
        case webhooks.OrderPaid(data=order):
            print(f"event {event.id}: order {order.id} is paid, {order.total} cents")
        case _:
            print(f"event {event.id} is {event.name}")
except webhooks.SignatureError as error:
    sys.exit(f"refused, answer {error.http_status}: {error.reason}")
except billcore.ConfigError as error:
    sys.exit(f"WEBHOOK_SECRET: {error}")
except billcore.DecodeError as error:
    sys.exit(f"signed, but not an event, answer 400: {error}")
