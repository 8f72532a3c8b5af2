//! Tests of a program that charges and receives webhooks, with accounts of the sandbox.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use billcore::webhook::Verifier;
use billcore::{ChargeOptions, ChargeSearch, Client, EventData, EventType, RequestOptions};
use billcoretest::{Account, json};
use support::{Reply, serve};

fn connect(account: &Account) -> Client {
    Client::options().base_url(&account.base_url).api_key(account.api_key.as_str()).build().unwrap()
}

#[test]
fn a_late_charge_is_booked() {
    let account = Account::create();
    let verifier = Verifier::new(account.webhook_secret.as_str()).unwrap();
    let booked = Arc::new(AtomicI64::new(0));
    let receiving = Arc::clone(&booked);
    let receiver = serve(move |request| {
        let headers = request.headers.iter().map(|(name, value)| (name, value));
        let event = verifier.unwrap_request(request.body.as_bytes(), headers).unwrap();
        if let (EventType::OrderPaid, EventData::Order(order)) = (event.event_type(), event.data().unwrap()) {
            receiving.fetch_add(order.total().unwrap(), Ordering::SeqCst);
        }
        Reply::Status(204, "")
    });
    account.register(&receiver.url());
    account.post("faults", json!({"kind": "late", "operation": "charge", "delay": 60}));
    let subscription = account.ids["subscriptions"]["demo-active"].as_str().unwrap();
    let product = account.ids["products"]["one_time"].as_i64().unwrap();
    let client = connect(&account);
    let charge = client.subscriptions().charge(subscription, product, 1500, ChargeOptions::new()).unwrap_err();
    account.post("clock", json!({"seconds": 61}));
    assert_eq!(client.subscriptions().find_charges(&charge, ChargeSearch::new()).unwrap().len(), 1);
    account.post("wait", json!({"delivery": {"event": "order.paid", "state": "delivered"}, "count": 1}));
    assert_eq!(booked.load(Ordering::SeqCst), 1500);
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
    account.post("faults", json!({"kind": "reset_after", "operation": "cancel", "optional": true}));
    account.post("faults", json!({"kind": "status", "operation": "products.list", "status": 418, "times": 2}));
    assert!(connect(&account).request("GET", "/products", RequestOptions::new()).is_err());
}

#[test]
#[should_panic(expected = "parameters that it does not have")]
fn an_unknown_parameter_fails_the_test() {
    connect(&Account::create()).request("GET", "/products", RequestOptions::new().query("pge", "2")).unwrap();
}
