"""Source code of programs that use the additions of test_additions.py. Each program takes the base URL and the body
of an event as arguments."""

from __future__ import annotations

CPP = r"""
#include <billcore/client.hpp>
#include <billcore/webhook.hpp>
#include <iostream>

int main(int, char** argv) {
  billcore::ClientOptions options;
  options.base_url = argv[1];
  options.api_key = "key";
  const auto default_limit = options.patience;
  options.patience = 0;
  try {
    const billcore::Client refused(options);
  } catch (const billcore::Error& error) {
    std::cout << error.what() << '\n';
  }
  options.patience = 7;
  const billcore::Client client(options);
  const billcore::Client changed = client.with_options({.patience = 9});
  const auto order = client.orders().get("o");
  std::cout << default_limit << ' ' << order.colour().value_or("none") << '\n';
  std::cout << client.subscriptions().pause("s").reference_name().value() << '\n';
  const billcore::Charge charge{.product_id = 1, .amount = 2, .note = "n"};
  std::cout << client.subscriptions().charge("s", charge).reference_name().value() << '\n';
  for (const auto& invoice : client.invoices().list({.customer = "c"})) std::cout << invoice.total() << ' ';
  std::cout << client.invoices().get("7").paid_at().value().text << '\n';
  const auto event = billcore::webhooks::parse_unverified(argv[2]);
  std::cout << (event.type() == billcore::EventType::invoice_paid) << ' '
            << event.data_as<billcore::Invoice>().value().total() << '\n';
  try {
    static_cast<void>(changed.orders().get("teapot"));
  } catch (const billcore::Error& error) {
    std::cout << (error.code() == billcore::ErrorCode::teapot) << ' ' << error.what() << '\n';
  }
}
"""

C = r"""
#include <billcore.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  billcore_event* event = NULL;
  billcore_order* order = NULL;
  billcore_str colour;
  bool present = false;
  const billcore_str body = BILLCORE_STR("{\"name\": \"order.paid\", \"data\": {\"colour\": \"red\"}}");
  if (billcore_webhook_parse_unverified(body, &event, NULL) != BILLCORE_OK) return 1;
  if (billcore_event_order(event, &order, NULL) != BILLCORE_OK) return 2;
  if (billcore_order_colour(order, &colour, &present, NULL) != BILLCORE_OK || !present) return 3;
  puts(colour.data);
  billcore_order_free(order);
  billcore_event_free(event);
  billcore_client_options* options = NULL;
  billcore_client_changes* changes = NULL;
  billcore_client* client = NULL;
  billcore_error* err = NULL;
  if (billcore_client_options_new(&options, NULL) != BILLCORE_OK) return 4;
  const billcore_str url = BILLCORE_STR("http://127.0.0.1:1/account");
  if (billcore_client_options_set_base_url(options, url, NULL) != BILLCORE_OK) return 5;
  if (billcore_client_options_set_api_key(options, BILLCORE_STR("key"), NULL) != BILLCORE_OK) return 5;
  if (billcore_client_options_set_patience(options, 0, NULL) != BILLCORE_OK) return 5;
  if (billcore_client_changes_new(&changes, NULL) != BILLCORE_OK) return 6;
  if (billcore_client_changes_set_patience(changes, 9, NULL) != BILLCORE_OK) return 7;
  if (billcore_client_new(options, &client, &err) != BILLCORE_ERROR_CONFIG) return 8;
  puts(billcore_error_message(err).data);
  billcore_error_free(err);
  billcore_client_changes_free(changes);
  const billcore_str server = {argv[1], strlen(argv[1])};
  billcore_subscription* paused = NULL;
  billcore_charge_options* charge = NULL;
  if (billcore_client_options_set_base_url(options, server, NULL) != BILLCORE_OK) return 9;
  if (billcore_client_options_set_patience(options, 1, NULL) != BILLCORE_OK) return 10;
  if (billcore_client_new(options, &client, NULL) != BILLCORE_OK) return 11;
  if (billcore_subscription_pause(client, BILLCORE_STR("s"), NULL, &paused, NULL) != BILLCORE_OK) return 12;
  if (billcore_subscription_reference_name(paused, &colour, &present, NULL) != BILLCORE_OK) return 13;
  puts(colour.data);
  if (billcore_charge_options_new(&charge, NULL) != BILLCORE_OK) return 14;
  if (billcore_charge_options_set_note(charge, BILLCORE_STR("n"), NULL) != BILLCORE_OK) return 15;
  const billcore_str id = BILLCORE_STR("s");
  if (billcore_subscription_charge(client, id, 1, 2, charge, NULL, &order, NULL) != BILLCORE_OK) return 16;
  if (billcore_order_reference_name(order, &colour, &present, NULL) != BILLCORE_OK) return 17;
  puts(colour.data);
  billcore_order_free(order);
  billcore_invoice_query* query = NULL;
  billcore_invoice_list* invoices = NULL;
  billcore_invoice* invoice = NULL;
  int64_t total = 0;
  if (billcore_invoice_query_new(&query, NULL) != BILLCORE_OK) return 18;
  if (billcore_invoice_query_set_customer(query, BILLCORE_STR("c"), NULL) != BILLCORE_OK) return 19;
  if (billcore_invoice_list_new(client, query, NULL, &invoices, NULL) != BILLCORE_OK) return 20;
  while (billcore_invoice_list_next(invoices, &invoice, NULL) == BILLCORE_OK) {
    if (billcore_invoice_total(invoice, &total, NULL) != BILLCORE_OK) return 21;
    printf("%d ", (int)total);
    billcore_invoice_free(invoice);
  }
  if (billcore_invoice_get(client, BILLCORE_STR("7"), NULL, &invoice, NULL) != BILLCORE_OK) return 22;
  if (billcore_invoice_paid_at(invoice, &colour, NULL, &present, NULL) != BILLCORE_OK) return 23;
  printf("%.*s\n", (int)colour.len, colour.data);
  billcore_invoice_free(invoice);
  billcore_invoice_list_free(invoices);
  billcore_invoice_query_free(query);
  const billcore_str paid = {argv[2], strlen(argv[2])};
  billcore_event_kind kind = BILLCORE_EVENT_UNKNOWN;
  if (billcore_webhook_parse_unverified(paid, &event, NULL) != BILLCORE_OK) return 24;
  if (billcore_event_type(event, &kind, NULL) != BILLCORE_OK) return 25;
  if (billcore_event_invoice(event, &invoice, NULL) != BILLCORE_OK) return 26;
  if (billcore_invoice_total(invoice, &total, NULL) != BILLCORE_OK) return 27;
  printf("%d %d\n", kind == BILLCORE_EVENT_INVOICE_PAID, (int)total);
  billcore_invoice_free(invoice);
  billcore_event_free(event);
  billcore_charge_options_free(charge);
  billcore_subscription_free(paused);
  billcore_client_free(client);
  billcore_client_options_free(options);
  return 0;
}
"""

PYTHON = """
import asyncio, inspect, sys
import billcore, pyarrow
from billcore import webhooks
try:
    billcore.Client(base_url=sys.argv[1], api_key="key", patience=0)
except billcore.ConfigError as error:
    print(error)
client = billcore.Client(base_url=sys.argv[1], api_key="key", patience=7).with_options(patience=9)
print(inspect.signature(billcore.Client).parameters["patience"].default, client.orders.get("o").colour)
print(billcore.Order.colour.__doc__)
print(client.subscriptions.pause("s").reference_name)
print(client.subscriptions.charge("s", product_id=1, amount=2, note="n").reference_name)
print(*(invoice.total for invoice in client.invoices.list(customer="c")), client.invoices.get("7").paid_at)
async def awaited():
    async with billcore.AsyncClient(base_url=sys.argv[1], api_key="key") as client:
        listed = [invoice.total async for invoice in client.invoices.list(customer="c")]
        print(*listed, (await client.invoices.get("7")).paid_at)
asyncio.run(awaited())
print(pyarrow.table(client.invoices.list(customer="c").to_arrow())["total"].to_pylist())
match webhooks.parse_unverified(sys.argv[2].encode()):
    case webhooks.InvoicePaid(data=billcore.Invoice() as invoice):
        print("True", invoice.total)
try:
    client.orders.get("teapot")
except billcore.TeapotError as error:
    print(isinstance(error, billcore.ApiError), error)
"""


GO = r"""
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	billcore "billcore.example/go"
	"billcore.example/go/webhook"
)

func client(patience int) (*billcore.Client, error) {
	url, key := billcore.WithBaseURL(os.Args[1]), billcore.WithAPIKey("key")
	return billcore.NewClient(url, key, billcore.WithPatience(patience))
}

func main() {
	_, refused := client(0)
	fmt.Println(refused)
	made, _ := client(7)
	changed, _ := made.With(billcore.WithPatience(9))
	order, _ := made.Orders().Get(context.Background(), "o")
	colour, present, err := order.Colour()
	fmt.Println(colour, present, err)
	paused, _ := made.Subscriptions().Pause(context.Background(), "s")
	fmt.Println(paused.ReferenceName())
	charged, _ := made.Subscriptions().Charge(context.Background(), "s", 1, 2, billcore.ChargeNote("n"))
	fmt.Println(charged.ReferenceName())
	for invoice, err := range made.Invoices().List(context.Background(), billcore.ListCustomer("c")).All() {
		total, _ := invoice.Total()
		fmt.Print(total, err, " ")
	}
	invoice, _ := made.Invoices().Get(context.Background(), "7")
	fmt.Println(invoice.PaidAt())
	event, _ := webhook.ParseUnverified([]byte(os.Args[2]))
	invoice, _ = event.Invoice()
	total, err := invoice.Total()
	fmt.Println(event.Type() == webhook.EventInvoicePaid, total, err)
	_, err = changed.Orders().Get(context.Background(), "teapot")
	fmt.Println(errors.Is(err, billcore.ErrTeapot), errors.Is(err, billcore.ErrAPI), err)
}
"""

RUST = r"""
use std::env::args;

use billcore::{ChargeOptions, Client, ClientChanges, ErrorCode, EventType, InvoiceQuery, Result, webhook};

fn main() -> Result<()> {
    let url = args().nth(1).unwrap_or_default();
    let client = |patience| Client::options().base_url(&url).api_key("key").patience(patience).build();
    if let Err(refused) = client(0) {
        println!("{refused}");
    }
    let made = client(7)?;
    let changed = made.with_options(ClientChanges::new().patience(9))?;
    println!("{:?}", made.orders().get("o")?.colour()?);
    println!("{:?}", made.subscriptions().pause("s")?.reference_name()?);
    let options = ChargeOptions::new().note("n");
    println!("{:?}", made.subscriptions().charge("s", 1, 2, options)?.reference_name()?);
    for invoice in made.invoices().list(InvoiceQuery::new().customer("c"))? {
        print!("{} ", invoice?.total()?);
    }
    println!("{}", made.invoices().get("7")?.paid_at()?.is_some());
    let event = webhook::parse_unverified(args().nth(2).unwrap_or_default().as_bytes())?;
    println!("{} {}", event.event_type() == EventType::InvoicePaid, event.invoice()?.total()?);
    if let Err(error) = changed.orders().get("teapot") {
        println!("{} {} {error}", error.code() == ErrorCode::Teapot, error.is(ErrorCode::Api));
    }
    Ok(())
}
"""
