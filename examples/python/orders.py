import sys

import billcore

subscription, *state = sys.argv[1:]
with billcore.Client() as client:  # BILLCORE_BASE_URL and BILLCORE_API_KEY are set
    orders = client.subscriptions.orders(subscription, resume=state[0] if state else None)
    try:
        cents = sum(order.total for order in orders)
    except billcore.BillcoreError as error:
        sys.exit(f"{error}\nto go on from there: {orders.state}")
    print(f"{cents} cents on {orders.fetched_pages} pages, read: {orders.verdict}")
