import sys

import billcore

if not 2 <= len(sys.argv) <= 3:
    sys.exit("usage: orders.py SUBSCRIPTION [STATE]")
subscription, *state = sys.argv[1:]
orders = None
try:
    with billcore.Client() as client:  # uses BILLCORE_BASE_URL and BILLCORE_API_KEY
        orders = client.subscriptions.orders(subscription, resume=state[0] if state else None)
        cents = sum(order.total for order in orders)
        print(f"{cents} cents on {orders.fetched_pages} pages, read: {orders.verdict}")
except billcore.BillcoreError as error:
    more = f"\nto resume from there: {orders.state}" if orders and orders.fetched_pages else ""
    sys.exit(f"{error}{more}")
