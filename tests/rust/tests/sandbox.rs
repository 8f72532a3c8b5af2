//! Tests of a program that charges and receives webhooks, with accounts of the sandbox.

use std::sync::atomic::{AtomicI64, Ordering};

use billcore::webhook::Verifier;
use billcore::{ChargeOptions, ChargeSearch, Client, EventData, RequestOptions};
use billcoretest::{Account, json};

fn connect(account: &Account) -> Client {
    Client::options().base_url(&account.base_url).api_key(account.api_key.as_str()).build().unwrap()
}

#[test]
fn a_late_charge_is_booked() {
    let account = Account::create();
    let verifier = Verifier::new(account.webhook_secret.as_str()).unwrap();
    let inbox = account.receive(move |hook| verifier.unwrap_request(&hook.body, hook.headers));
    account.fault("late", json!({"operation": "charge", "delay": 60}));
    let subscription = account.ids["subscriptions"]["demo-active"].as_str().unwrap();
    let product = account.ids["products"]["one_time"].as_i64().unwrap();
    let client = connect(&account);
    let charge = client.subscriptions().charge(subscription, product, 1500, ChargeOptions::new()).unwrap_err();
    account.advance(61.0 / 86400.0);
    assert_eq!(client.subscriptions().find_charges(&charge, ChargeSearch::new()).unwrap().len(), 1);
    let [paid] = &inbox.wait("order.paid", 1)[..] else { panic!("one event") };
    let EventData::Order(order) = paid.data().unwrap() else { panic!("an order") };
    assert_eq!(order.total().unwrap(), 1500);
}

#[test]
fn an_inbox_keeps_what_it_accepts_and_the_account_shows_what_happened() {
    let account = Account::create();
    let attempts = AtomicI64::new(0);
    let inbox = account.receive(move |hook| match attempts.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => Err("not yet"),
        _ => Ok(hook.body),
    });
    account.fault("event_duplicate", json!({"event": "order.paid"}));
    let done = account.trigger("charge", account.ids["subscriptions"]["demo-active"].as_str());
    assert_eq!(done["order"]["state"], "paid");
    let paid = inbox.wait("order.paid", 2);
    assert!(paid.len() == 2 && paid[0] == paid[1]);
    assert_eq!((inbox.wait("", 3).len(), inbox.events("order.confirmed").len()), (3, 1));
    let [charge] = &account.ledger("charge")[..] else { panic!("one charge") };
    assert_eq!((charge.kind.as_str(), &charge.json["order_id"]), ("charge", &done["order"]["id"]));
    let deliveries = account.wait_deliveries("", 3);
    let made: Vec<_> = deliveries.iter().flat_map(|each| &each.attempts).collect();
    assert_eq!(made.iter().filter(|each| each.status == Some(204)).count(), 3);
    assert_eq!(made.iter().filter(|each| each.status == Some(401) && each.answer_body == "not yet").count(), 2);
    assert!(account.deliveries("order.paid").iter().all(|each| each.body.as_bytes() == paid[0].as_slice()));
    connect(&account).products().get(account.ids["products"]["one_time"].as_i64().unwrap()).unwrap();
    let [read] = &account.wait_requests("products.get", 1)[..] else { panic!("one request") };
    assert_eq!((read.method.as_str(), read.status, account.requests("charge").len()), ("GET", Some(200), 0));
}

#[test]
#[should_panic(expected = "a receiver did not accept an event")]
fn a_wait_for_an_event_that_is_refused_fails_the_test() {
    let account = Account::create();
    let inbox = account.receive(|_| Err::<(), _>("never"));
    account.post("test-hook", json!({}));
    let endpoint = account.deliveries("test.hook")[0].endpoint_id;
    account.post(&format!("endpoints/{endpoint}"), json!({"retry_schedule": [0.1]}));
    inbox.wait("test.hook", 2); // ends with the first failure
}

#[test]
fn an_account_has_its_options() {
    for (account, state) in
        [(Account::create(), "paid"), (Account::create_with(json!({"settlement": "manual"})), "confirmed")]
    {
        let subscription = account.ids["subscriptions"]["demo-active"].as_str().unwrap();
        let product = account.ids["products"]["one_time"].as_i64().unwrap();
        account.post("endpoints", json!({"url": "https://shop.example/"})); // not loopback: deliveries are held back
        let order =
            connect(&account).subscriptions().charge(subscription, product, 1500, ChargeOptions::new()).unwrap();
        assert_eq!(order.state().unwrap().as_str(), state);
        let wait = json!({"delivery": {"event": "order.confirmed"}});
        let delivery = account.post("wait", wait)["deliveries"][0]["body"].to_string();
        assert!(delivery.contains("metadata"), "{delivery}");
    }
}

#[test]
#[should_panic(expected = "a fault happened 1 of 2 times")]
fn a_fault_that_happens_too_seldom_fails_the_test() {
    let account = Account::create();
    account.fault("reset_after", json!({"operation": "cancel", "optional": true}));
    account.fault("status", json!({"operation": "products.list", "status": 418, "times": 2}));
    assert!(connect(&account).request("GET", "/products", RequestOptions::new()).is_err());
}

#[test]
#[should_panic(expected = "parameters that it does not have")]
fn an_unknown_parameter_fails_the_test() {
    connect(&Account::create()).request("GET", "/products", RequestOptions::new().query("pge", "2")).unwrap();
}
