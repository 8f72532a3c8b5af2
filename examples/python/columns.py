import sys

import polars  # pip install polars

import billcore

if len(sys.argv) != 2:
    sys.exit("usage: columns.py SUBSCRIPTION")
try:
    with billcore.Client() as client:  # uses BILLCORE_BASE_URL and BILLCORE_API_KEY
        orders = client.subscriptions.orders(sys.argv[1])
        columns = orders.to_arrow(fields=["currency", "state", "total"])
        try:
            frame = polars.DataFrame(columns)
        except polars.exceptions.PolarsError as error:
            raise columns.error or error from None  # the exception of polars has only the text of our error
    paid = frame.filter(polars.col("state") == "paid")
    print(paid.group_by("currency").agg(polars.col("total").sum(), polars.len()))
    print(f"read: {orders.verdict}")
except billcore.BillcoreError as error:
    sys.exit(str(error))
