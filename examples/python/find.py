import sys

import billcore

if len(sys.argv) != 2:
    sys.exit("usage: find.py REFERENCE_ID")
try:
    with billcore.Client() as client:  # uses BILLCORE_BASE_URL and BILLCORE_API_KEY
        found = client.subscriptions.list(reference_id=sys.argv[1]).collect()
except billcore.BillcoreError as error:
    sys.exit(str(error))
for subscription in found:
    print(f"{subscription.id} {subscription.status}")
if not found:
    sys.exit("no subscription has this reference_id")
