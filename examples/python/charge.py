import sys

import billcore

if len(sys.argv) != 4:
    sys.exit("usage: charge.py SUBSCRIPTION PRODUCT CENTS_WITHOUT_VAT")
subscription, product, cents = sys.argv[1:]
try:
    with billcore.Client() as client:  # uses BILLCORE_BASE_URL and BILLCORE_API_KEY
        try:
            order = client.subscriptions.charge(subscription, product_id=int(product), amount=int(cents))
            print(f"charged {order.total} cents, {order.total_with_vat} with VAT")
        except billcore.BillcoreError as error:
            if not error.outcome_unknown:
                raise
            # The charge may have been made: check the orders before you charge again.
            print(error, end="; ", file=sys.stderr)
            sys.exit(f"{len(client.subscriptions.find_charges(error))} orders were made since then")
except billcore.PaymentError as error:
    sys.exit(f"refused: {error.message}")
except billcore.BillcoreError as error:
    sys.exit(str(error))
