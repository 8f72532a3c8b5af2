import sys

import billcore

subscription, product, cents = sys.argv[1:]
with billcore.Client() as client:  # BILLCORE_BASE_URL and BILLCORE_API_KEY are set
    try:
        order = client.subscriptions.charge(subscription, product_id=int(product), amount=int(cents))
        print(f"order {order.id} is {order.state}")
    except billcore.PaymentError as error:
        sys.exit(f"refused: {error.message}")
    except billcore.OutcomeUnknownError as error:
        sys.exit(f"look at the orders before you charge again: {error}")
