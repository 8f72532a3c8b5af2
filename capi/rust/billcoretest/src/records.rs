//! What happened in an account, and waits for it.

use serde_json::{Value, json};

use crate::Account;
use crate::sandbox::call;

/// Reads a value from the sandbox's JSON.
trait Read: Sized {
    fn read(from: &Value) -> Self;
}

impl Read for i64 {
    fn read(from: &Value) -> Self {
        from.as_i64().unwrap_or_else(|| panic!("{from} is no integer: the sandbox has another version than this crate"))
    }
}

impl Read for String {
    fn read(from: &Value) -> Self {
        from.as_str().map_or_else(|| from.to_string(), str::to_owned)
    }
}

impl<T: Read> Read for Option<T> {
    fn read(from: &Value) -> Self {
        (!from.is_null()).then(|| T::read(from))
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(from: &Value) -> Self {
        from.as_array().into_iter().flatten().map(T::read).collect()
    }
}

macro_rules! record {
    ($(#[$about:meta])* $name:ident { $($field:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        #[allow(missing_docs)] // the text above names the fields
        pub struct $name {
            $(pub $field: $type,)*
            /// The whole record.
            pub json: Value,
        }
        impl Read for $name {
            fn read(from: &Value) -> Self {
                Self { $($field: Read::read(&from[stringify!($field)]),)* json: from.clone() }
            }
        }
    };
}

record!(
    /// A row of the ledger. Its `json` has further members that depend on its `kind`, such as `order_id` of a `charge`.
    Effect { id: i64, at: String, kind: String, }
);
record!(
    /// A request as the service received it. `operation` is a name such as `subscriptions.charge`; it is `None` if the
    /// path or its method is unknown. `status` is `None` if there was no complete answer. `fault` is the kind of the
    /// fault that happened.
    Request { id: i64, operation: Option<String>, method: String, target: String, body: String, status: Option<i64>, fault: Option<String>, }
);
record!(
    /// The delivery of an event to a receiver. Duplicates have the same `id`, but another `seq`. `state` is `pending`,
    /// `on_hold`, `delivered`, `failed`, `held_back` or `dropped`.
    Delivery { id: String, seq: i64, endpoint_id: i64, event: String, url: String, state: String, body: String, attempts: Vec<Attempt>, }
);
record!(
    /// One attempt of a delivery. `status` is that of the receiver's answer; if there is none, `error` says why. `fault`
    /// is the kind of the fault that happened.
    Attempt { status: Option<i64>, error: Option<String>, answer_body: String, fault: Option<String>, }
);

/// In these methods, an empty name stands for any kind, operation or event.
impl Account {
    /// The effects of this kind, oldest first.
    #[track_caller]
    pub fn ledger(&self, kind: &str) -> Vec<Effect> {
        self.read("ledger", "kind", kind, "effects")
    }
    /// The requests of this operation, such as `charge`, oldest first.
    #[track_caller]
    pub fn requests(&self, operation: &str) -> Vec<Request> {
        self.read("requests", "operation", operation, "requests")
    }
    /// The deliveries of events with this name, oldest first.
    #[track_caller]
    pub fn deliveries(&self, event: &str) -> Vec<Delivery> {
        self.read("deliveries", "event", event, "deliveries")
    }
    #[track_caller]
    fn read<T: Read>(&self, route: &str, filter: &str, value: &str, member: &str) -> Vec<T> {
        let filter = if value.is_empty() { String::new() } else { format!("&{filter}={value}") };
        Read::read(&call("GET", &format!("{route}?account={}{filter}", self.uuid), &Value::Null).unwrap()[member])
    }
    /// Waits until the service has answered `count` requests of this operation, and returns them. If they do not come
    /// within 30 s, `wait_requests` panics with a message that says which requests there are.
    #[track_caller]
    pub fn wait_requests(&self, operation: &str, count: usize) -> Vec<Request> {
        Read::read(&self.post("wait", json!({"request": named("operation", operation), "count": count}))["requests"])
    }
    /// Waits until `count` deliveries of events with this name have arrived, and returns them. Panics at once if a
    /// receiver did not accept one, and after 30 s if there are too few.
    #[track_caller]
    pub fn wait_deliveries(&self, event: &str, count: usize) -> Vec<Delivery> {
        delivered(&self.uuid, named("event", event), count)
    }
    /// Makes the next matching requests or events fail, and returns the fault's id. The sandbox's README has the kinds
    /// of faults and their fields.
    #[track_caller]
    pub fn fault(&self, kind: &str, mut fields: Value) -> i64 {
        fields["kind"] = json!(kind);
        Read::read(&self.post("faults", fields)["id"])
    }
    /// Moves the account's clock forward. Then everything that became due has happened, and the first attempts of its
    /// deliveries are done.
    #[track_caller]
    pub fn advance(&self, days: f64) {
        self.post("clock", json!({"days": days}));
    }
    /// Runs a scenario, such as `renewal-fails`, on a new subscription or on an existing one. Returns `subscription` and
    /// `order` as the service shows them.
    #[track_caller]
    pub fn trigger<'a>(&self, name: &str, on: impl Into<Option<&'a str>>) -> Value {
        let mut fields = json!({"name": name});
        if let Some(id) = on.into() {
            fields["on"] = json!(id);
        }
        self.post("trigger", fields)
    }
}

/// A condition that is true for records whose member `filter` is `value`, or for all records if `value` is empty.
pub(crate) fn named(filter: &str, value: &str) -> Value {
    if value.is_empty() { json!({}) } else { json!({filter: value}) }
}

#[track_caller]
pub(crate) fn delivered(account: &str, wanted: Value, count: usize) -> Vec<Delivery> {
    let fields = json!({"delivery": wanted, "count": count, "until_failed": true, "account": account});
    let found: Vec<Delivery> = Read::read(&call("POST", "wait", &fields).unwrap()["deliveries"]);
    let lost = found.iter().find(|each| each.state != "delivered");
    assert!(lost.is_none(), "a receiver did not accept an event: {}", lost.unwrap().json);
    found
}
