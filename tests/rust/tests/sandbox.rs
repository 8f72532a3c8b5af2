//! Tests of a program that charges and receives webhooks, with accounts of the sandbox.

mod support;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use billcore::webhook::Verifier;
use billcore::{ChargeOptions, ChargeSearch, Client, Error, EventData, EventType, Order, RequestOptions, Result};
use billcoretest::{Account, json};
use support::{Reply, Request, Service, serve};

/// Books the total of a paid order when the order's event arrives for the first time.
#[derive(Default)]
struct Shop {
    claimed: HashSet<String>,
    arrived: u64,
    booked: i64,
}

impl Shop {
    fn receive(&mut self, verifier: &Verifier, request: &Request) -> Result<()> {
        let headers = request.headers.iter().map(|(name, value)| (name, value));
        let event = verifier.unwrap_request(request.body.as_bytes(), headers)?;
        if let (EventType::OrderPaid, EventData::Order(order)) = (event.event_type(), event.data()?) {
            self.arrived += 1;
            if self.claimed.insert(event.id()?.as_str().to_owned()) {
                self.booked += order.total()?;
            }
        }
        Ok(())
    }
}

struct Trial {
    account: Account,
    client: Client,
    shop: Arc<Mutex<Shop>>,
    _receiver: Service,
}

fn begin() -> Trial {
    let (account, shop) = (Account::create(), Arc::<Mutex<Shop>>::default());
    let (verifier, receiving) = (Verifier::new(account.webhook_secret.as_str()).unwrap(), Arc::clone(&shop));
    let receiver = serve(move |request| match receiving.lock().unwrap().receive(&verifier, request) {
        Ok(()) => Reply::Status(204, ""),
        Err(_) => Reply::Status(400, "refused"),
    });
    account.register(&receiver.url());
    let client = Client::options().base_url(&account.base_url).api_key(account.api_key.as_str()).build().unwrap();
    Trial { account, client, shop, _receiver: receiver }
}

impl Trial {
    fn charge(&self) -> Result<Order> {
        let subscription = self.account.ids["subscriptions"]["demo-active"].as_str().unwrap();
        let product = self.account.ids["products"]["one_time"].as_i64().unwrap();
        self.client.subscriptions().charge(subscription, product, 1500, ChargeOptions::new())
    }
    fn found(&self, charge: &Error) -> Vec<i64> {
        let orders = self.client.subscriptions().find_charges(charge, ChargeSearch::new()).unwrap();
        orders.iter().map(|order| order.total().unwrap()).collect()
    }
    /// Waits until `count` events order.paid were accepted, and compares the totals that the shop has booked with the
    /// expected ones.
    fn check(&self, count: u64, booked: i64) {
        let paid = json!({"event": "order.paid", "state": "delivered"});
        self.account.post("wait", json!({"delivery": paid, "count": count}));
        let shop = self.shop.lock().unwrap();
        assert_eq!((shop.arrived, shop.booked), (count, booked));
    }
}

#[test]
fn a_charge_is_booked() {
    let trial = begin();
    trial.charge().unwrap();
    trial.check(1, 1500);
}

#[test]
fn a_duplicate_is_booked_once() {
    let trial = begin();
    trial.account.post("faults", json!({"kind": "event_duplicate", "event": "order.paid", "concurrent": true}));
    trial.charge().unwrap();
    trial.check(2, 1500);
}

#[test]
fn a_late_charge_is_found() {
    let trial = begin();
    trial.account.post("faults", json!({"kind": "late", "operation": "charge", "delay": 60}));
    let charge = trial.charge().unwrap_err();
    assert!(charge.outcome_unknown() && trial.found(&charge).is_empty(), "{charge}");
    trial.account.post("clock", json!({"seconds": 61}));
    assert_eq!(trial.found(&charge), [1500]);
    trial.check(1, 1500);
}

#[test]
#[should_panic(expected = "a fault never happened")]
fn a_fault_that_never_happens_fails_the_test() {
    let account = Account::create();
    account.post("faults", json!({"kind": "reset_after", "operation": "cancel", "optional": true}));
    account.post("faults", json!({"kind": "reset_after", "operation": "charge"}));
}

#[test]
#[should_panic(expected = "parameters that it does not have")]
fn an_unknown_parameter_fails_the_test() {
    let trial = begin();
    trial.client.request("GET", "/products", RequestOptions::new().query("pge", "2")).unwrap();
}
