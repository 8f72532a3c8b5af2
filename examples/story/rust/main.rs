//! The story: a program that shows the life of a subscription. The sibling folders contain it in other languages.
//!
//! The program needs a running sandbox (examples/quickstart.sh starts one), which it finds through the environment
//! variables `BILLCORE_BASE_URL`, `BILLCORE_API_KEY` and `BILLCORE_SANDBOX_CONTROL`. It exits with status 1 if a
//! check fails.

mod control;
mod inbox;

use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::process::ExitCode;

use billcore::webhook::{DEFAULT_HEADER, sign};
use billcore::{
    ChargeOptions, ChargeSearch, Client, ErrorCode, EventData, EventType, Order, OrderQuery, OrderState, Product,
    ProductQuery, RequestOptions, Subscription, SubscriptionQuery, SubscriptionStatus, Timestamp,
};

use crate::control::Control;
use crate::inbox::Inbox;

pub type Outcome<T> = Result<T, Box<dyn Error>>;

fn expect(truth: bool, claim: &str) -> Outcome<()> {
    if truth { Ok(()) } else { Err(format!("check failed: {claim}").into()) }
}

fn step(number: usize, title: &str) {
    println!("{number:2}. {title}");
}

macro_rules! say {
    ($($text:tt)*) => { println!("    {}", format_args!($($text)*)) };
}

fn money(cents: i64, currency: &str) -> String {
    format!("{}.{:02} {currency}", cents / 100, cents % 100)
}

fn day(at: Timestamp) -> String {
    at.to_string()[..10].to_owned()
}

fn list_products(client: &Client) -> Outcome<Vec<Product>> {
    step(1, "List the products");
    let mut list = client.products().list(ProductQuery::new())?;
    let products: Vec<Product> = list.by_ref().collect::<Result<_, _>>()?;
    let complete = list.verdict()?.is_some_and(|verdict| verdict.complete);
    let (pages, verdict) = (list.fetched_pages()?, if complete { "complete" } else { "possibly missed" });
    say!("{} products on {pages} pages; the list is {verdict}", products.len());
    expect(pages > 1, "the products fill several pages")?;
    expect(list.total()? == i64::try_from(products.len()).ok(), "every product was listed")?;
    expect(complete, "the list did not move while it was read")?;
    Ok(products)
}

fn find_subscription(client: &Client, reference: &str) -> Outcome<Subscription> {
    let mut list = client.subscriptions().list(SubscriptionQuery::new().reference_id(reference))?;
    let found = list.first()?.ok_or_else(|| format!("no subscription has the reference id {reference}"))?;
    expect(found.reference_id()? == Some(reference), &format!("it has the reference id {reference}"))?;
    Ok(found)
}

fn find_by_reference(client: &Client) -> Outcome<Subscription> {
    step(2, "Find a subscription by its reference id");
    let found = find_subscription(client, "demo-active")?;
    let (id, status) = (found.id()?, found.status()?);
    say!("demo-active is subscription {id}: {status}, {}", money(found.price()?, found.currency()?));
    expect(status == SubscriptionStatus::Active, "the subscription is active")?;
    Ok(found)
}

fn read_orders(client: &Client, id: &str) -> Outcome<()> {
    step(3, "Read its orders in two states");
    let query = OrderQuery::new().per_page(10).state(OrderState::Paid).state(OrderState::Confirmed);
    let mut list = client.subscriptions().orders(id, query)?;
    let (mut paid, mut confirmed, mut others) = (0, 0, 0);
    for order in list.by_ref() {
        match order?.state()? {
            OrderState::Paid => paid += 1,
            OrderState::Confirmed => confirmed += 1,
            _ => others += 1,
        }
    }
    say!("{paid} paid and {confirmed} confirmed orders on {} pages", list.fetched_pages()?);
    expect(paid > 0 && confirmed > 0 && others == 0, "there are orders in these two states, and no others were listed")
}

fn register_endpoint(client: &Client, control: &Control, url: &str) -> Outcome<String> {
    step(4, "Register a webhook endpoint");
    let answer = client.webhook_endpoints().create(url)?;
    let secret = control.secret(url)?;
    say!("answered {}; its secret has {} characters", answer.status()?, secret.len());
    expect(secret.len() == 32, "the endpoint has a secret of 32 characters")?;
    Ok(secret)
}

fn charge(client: &Client, id: &str, product: i64) -> Outcome<Order> {
    step(5, "Charge");
    let options = ChargeOptions::new().description("Extra night");
    let order = client.subscriptions().charge(id, product, 1500, options)?;
    let (total, gross, currency) = (order.total()?, order.total_with_vat()?, order.currency()?);
    let (number, state) = (order.id()?, order.state()?);
    say!("order {number}: {}, {} with VAT, {state}", money(total, currency), money(gross, currency));
    expect(total == 1500 && gross == 1875, "the order has the amount charged, plus 25 % VAT")?;
    expect(client.orders().get(number)?.equal(&order)?, "the order can be read again")?;
    Ok(order)
}

fn be_refused(client: &Client, product: i64) -> Outcome<()> {
    step(6, "Handle a refused charge");
    let declined = find_subscription(client, "demo-declined")?;
    let refusal = client.subscriptions().charge(declined.id()?, product, 1500, ChargeOptions::new());
    let refusal = refusal.err().ok_or("check failed: the charge on demo-declined is refused")?;
    expect(refusal.code() == ErrorCode::Payment, "the charge on demo-declined is refused")?;
    let (code, message) = (refusal.api_code().unwrap_or_default(), refusal.api_message().unwrap_or_default());
    say!("PaymentError, status {}, code {code}: {message}", refusal.http_status().unwrap_or_default());
    expect(refusal.http_status() == Some(402) && !refusal.outcome_unknown(), "a refusal is 402, and final")
}

fn lose_an_answer(client: &Client, control: &Control, id: &str, product: i64) -> Outcome<Order> {
    step(7, "Lose the answer to a charge");
    control.lose_the_next_charge_answer()?;
    let lost = client.subscriptions().charge(id, product, 2700, ChargeOptions::new());
    let lost = lost.err().ok_or("check failed: the answer is lost")?;
    expect(lost.outcome_unknown(), "a connection reset instead of an answer leaves the outcome unknown")?;
    let (method, path) = (lost.method().unwrap_or_default(), lost.path().unwrap_or_default());
    say!("OutcomeUnknownError: {method} {path} was sent, but not answered");
    // Before you charge again, look for the order of the lost charge. find_charges() returns the orders made since the
    // charge: the order of the charge, and perhaps others.
    let mut found = client.subscriptions().find_charges(&lost, ChargeSearch::new())?;
    found.retain(|order| order.total().is_ok_and(|total| total == 2700));
    let [order] = &*found else { return Err("check failed: the order list shows the charge once".into()) };
    let shown = money(order.total()?, order.currency()?);
    say!("the order list shows it: order {}, {shown}, {}", order.id()?, order.state()?);
    expect(control.charges()? == 2, "the service made two charges in total: nothing was sent twice")?;
    Ok(found.remove(0))
}

fn change_product(client: &Client, subscription: &Subscription, products: &[Product]) -> Outcome<()> {
    step(8, "Change the product");
    let (price, currency) = (subscription.price()?, subscription.currency()?);
    for plan in products {
        let monthly = plan.type_()? == "subscription" && plan.interval()? == Some("month");
        if !monthly || plan.currency()? != currency || plan.price_without_vat()? == price {
            continue;
        }
        let changed = client.subscriptions().change_product(subscription.id()?, plan.id()?)?;
        let shown = money(changed.price()?, changed.currency()?);
        say!("{}: {shown} instead of {}", plan.name()?, money(price, currency));
        return expect(changed.price()? == plan.price_without_vat()?, "the subscription has the new product's price");
    }
    Err("check failed: there is another monthly product".into())
}

fn renew(client: &Client, control: &Control, subscription: &Subscription) -> Outcome<()> {
    step(9, "Renew");
    control.renew(subscription.id()?.as_str())?;
    let before = subscription.renews_at()?.ok_or("an active subscription says when it renews")?;
    let after = client.subscriptions().get(subscription.id()?)?.renews_at()?;
    let after = after.ok_or("an active subscription says when it renews")?;
    say!("renews at {} instead of {}", day(after), day(before));
    expect(after > before, "renews_at has moved forward")
}

fn cancel(client: &Client, id: &str) -> Outcome<()> {
    step(10, "Cancel");
    let cancelled = client.subscriptions().cancel(id)?;
    let ends = cancelled.ends_at()?.ok_or("a cancelled subscription says when it ends")?;
    say!("{}; paid, so usable until {}", cancelled.status()?, day(ends));
    expect(cancelled.status()? == SubscriptionStatus::Cancelled, "the subscription is cancelled")?;
    expect(cancelled.usable_at(Timestamp::now())?, "what has been paid for can still be used")
}

fn receive_events(inbox: &Inbox, id: &str, charged: [&Order; 2]) -> Outcome<()> {
    step(11, "Receive the events");
    let expected = [
        (EventType::OrderConfirmed, 3), // one for each of the two charges, one for the renewal
        (EventType::OrderPaid, 3),
        (EventType::SubscriptionUpdated, 1),
        (EventType::SubscriptionRenewed, 1),
        (EventType::SubscriptionCancelled, 1),
    ];
    let all = expected.iter().map(|(_, count)| count).sum();
    let events = inbox.events(all)?;
    let mut seen: HashMap<EventType, usize> = HashMap::new();
    let mut paid = HashMap::new();
    for event in &events {
        say!("{} {}", event.id()?, event.name()?);
        *seen.entry(event.event_type()).or_default() += 1;
        match (event.event_type(), event.data()?) {
            (EventType::OrderPaid, EventData::Order(order)) => {
                paid.insert(order.id()?, order.total()?);
            }
            (EventType::SubscriptionCancelled, EventData::Subscription(ended)) => {
                let right = ended.id()? == id && ended.status()? == SubscriptionStatus::Cancelled;
                expect(right, "the right one was cancelled")?;
            }
            _ => {}
        }
    }
    let once = events.len() == all && expected.iter().all(|(kind, count)| seen.get(kind) == Some(count));
    expect(once, "each event has arrived, and has been kept once")?;
    for order in charged {
        let total = paid.get(&order.id()?);
        expect(total == Some(&order.total()?), "each charge has its order.paid, with its total")?;
    }
    let first = events[0].id()?;
    expect(inbox.contents().duplicates == [first.as_str()], "only the first event was redelivered")?;
    say!("all verified; {first} was answered 500, redelivered, and dropped");
    Ok(())
}

fn refuse_a_forgery(inbox: &Inbox) -> Outcome<()> {
    step(12, "Refuse a forged event");
    let body = inbox.contents().bodies[0].clone();
    let forged = sign(&body, "a guess of thirty-two characters")?;
    // Any HTTP client can send the forged event; this program uses a billcore client.
    let sender =
        Client::options().base_url(&inbox.address()).api_key("none").header(DEFAULT_HEADER, &forged).build()?;
    let json = RequestOptions::new().json(std::str::from_utf8(&body)?).accept_all_statuses();
    let answer = sender.request("POST", "/webhooks", json)?;
    let refused = inbox.contents().refused.join(", ");
    say!("answered {}: {refused}", answer.status()?);
    expect(answer.status()? == 401 && refused == "mismatch", "a wrong signature is refused")
}

fn tell() -> Outcome<()> {
    let control = Control::new(&env::var("BILLCORE_SANDBOX_CONTROL")?)?;
    control.reset()?;
    let client = Client::from_env()?;
    let mut inbox = Inbox::new()?;
    let products = list_products(&client)?;
    let one_time = products.iter().find(|product| product.type_().is_ok_and(|kind| kind == "one_time"));
    let one_time = one_time.ok_or("there is a one-time product")?.id()?;
    let subscription = find_by_reference(&client)?;
    let id = subscription.id()?.as_str();
    read_orders(&client, id)?;
    let secret = register_endpoint(&client, &control, &inbox.url())?;
    inbox.trust(&secret)?;
    let first = charge(&client, id, one_time)?;
    be_refused(&client, one_time)?;
    let second = lose_an_answer(&client, &control, id, one_time)?;
    change_product(&client, &subscription, &products)?;
    renew(&client, &control, &subscription)?;
    cancel(&client, id)?;
    receive_events(&inbox, id, [&first, &second])?;
    refuse_a_forgery(&inbox)
}

fn main() -> ExitCode {
    println!("The life of a subscription, in Rust");
    if let Err(error) = tell() {
        eprintln!("story: {error}");
        return ExitCode::FAILURE;
    }
    println!("Done: every step succeeded.");
    ExitCode::SUCCESS
}
