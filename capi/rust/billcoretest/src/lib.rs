//! Makes a separate account for each test in the sandbox, a simulation of the billing service on localhost.
#![allow(clippy::missing_panics_doc)] // a panic fails the test

mod inbox;
mod records;
mod sandbox;

use std::thread;

pub use inbox::{Hook, Inbox};
pub use records::{Attempt, Delivery, Effect, Request};
pub use serde_json::{Value, json};

use sandbox::{call, control_url};

/// An account of the sandbox, with demo data. Dropping the `Account` deletes the account. Dropping panics, and so fails
/// the test, if a fault of the account that is not optional happened less often than its `times` (with a `probability`:
/// never), or if a request had parameters that the service does not have and `lenient` is false.
#[derive(Debug)]
pub struct Account {
    /// The service's address for this account.
    pub base_url: String,
    /// The account's API key.
    pub api_key: String,
    /// The signing secret of the receivers that [`Account::register`] and [`Account::receive`] register.
    pub webhook_secret: String,
    /// The ids of the demo data: `{"products": {type: id}, "subscriptions": {reference_id: id}}`.
    pub ids: Value,
    /// If true, requests may have parameters that the service does not have.
    pub lenient: bool,
    uuid: String,
}

impl Account {
    /// Makes an account in the sandbox whose control URL is in the variable `BILLCORE_SANDBOX_CONTROL`. If
    /// `BILLCORE_SANDBOX_CONTROL` is not set, `create` starts a sandbox, which stops when the test program ends.
    #[track_caller]
    pub fn create() -> Self {
        Self::create_with(json!({}))
    }
    /// Makes an account like [`Account::create`], with options of the control route POST accounts, such as
    /// `json!({"settlement": "manual"})`. Without the option `event_payload`, events have all fields.
    #[track_caller]
    pub fn create_with(mut options: Value) -> Self {
        if options["event_payload"].is_null() {
            options["event_payload"] = json!("full");
        }
        let made = call("POST", "accounts", &options).unwrap();
        let [uuid, api_key] = ["account", "api_key"].map(|name| made[name].as_str().unwrap().to_owned());
        let (base_url, webhook_secret) = (control_url().replace("_sandbox", &uuid), uuid.replace('-', ""));
        Self { base_url, api_key, webhook_secret, ids: made["ids"].clone(), lenient: false, uuid }
    }
    /// Makes the sandbox send the account's events to this URL.
    #[track_caller]
    pub fn register(&self, url: &str) {
        self.post("endpoints", json!({"url": url, "secret": self.webhook_secret}));
    }
    /// Calls a control route of the sandbox for this account and returns the answer. Panics if the sandbox refuses the
    /// call.
    #[track_caller]
    pub fn post(&self, route: &str, mut fields: Value) -> Value {
        fields["account"] = json!(self.uuid);
        call("POST", route, &fields).unwrap()
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let state = call("GET", &format!("state?account={}", self.uuid), &Value::Null);
        let deleted = call("DELETE", &format!("accounts/{}", self.uuid), &Value::Null);
        if !thread::panicking() {
            let state = deleted.and(state).unwrap();
            let faults = state["faults"].as_array().unwrap();
            // The state lists the faults that can still happen. A fault with a probability must have happened at all.
            let missing = |fault: &&Value| fault["fired"] == 0 || fault["probability"] == 1.0;
            if let Some(fault) = faults.iter().filter(|fault| fault["optional"] == false).find(missing) {
                panic!("a fault happened {} of {} times: {fault}", fault["fired"], fault["times"]);
            }
            let unknown = &state["unknown_parameters"];
            assert!(
                self.lenient || *unknown == json!([]),
                "the service got parameters that it does not have: {unknown}"
            );
        }
    }
}
