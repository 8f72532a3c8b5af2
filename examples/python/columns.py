import sys

import polars

import billcore

with billcore.Client() as client:  # BILLCORE_BASE_URL and BILLCORE_API_KEY are set
    orders = client.subscriptions.orders(sys.argv[1])
    frame = polars.DataFrame(orders.to_arrow(fields=["currency", "state", "total"]))
    paid = frame.filter(polars.col("state") == "paid")
    print(paid.group_by("currency").agg(polars.col("total").sum(), polars.len()))
    print(f"read: {orders.verdict}")
