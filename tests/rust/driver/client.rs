use std::time::Duration;

use billcore::{CallOptions, Client, Error, Order, Product, ProductChanges, RequestOptions, Response, Subscription};
use serde::Deserialize;
use serde_json::{Map, Value, json as object};

use crate::reading::{json, received};
use crate::{Arguments, Outcome};

#[derive(Deserialize)]
#[serde(untagged)]
pub enum OneOrMore {
    One(String),
    More(Vec<String>),
}

pub fn connect(given: &str) -> Result<Client, Error> {
    let from: Arguments = serde_json::from_str(given).unwrap_or_default();
    let mut options = Client::options();
    let texts: [(_, fn(_, &str) -> _); 5] = [
        ("base_url", |options: billcore::ClientOptions, text| options.base_url(text)),
        ("api_key", |options, text| options.api_key(text)),
        ("ca_bundle", |options, text| options.ca_bundle(text)),
        ("client_certificate", |options, text| options.client_certificate(text)),
        ("request_id_header", |options, text| options.request_id_header(text)),
    ];
    for (name, set) in texts {
        if let Some(text) = from.get::<String>(name) {
            options = set(options, &text);
        }
    }
    match from.get::<String>("proxy").as_deref() {
        Some("") => options = options.no_proxy(),
        Some(url) => options = options.proxy(url),
        None => {}
    }
    if from.raw("timeout") == Some("null") {
        options = options.no_timeout();
    } else if let Some(seconds) = from.get::<f64>("timeout") {
        options = options.timeout(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    }
    if let Some(retries) = from.get("max_retries") {
        options = options.max_retries(retries);
    }
    // By default the client sends one request at a time, so that canned answers keep their order.
    options = options.concurrency(from.get("concurrency").unwrap_or(1));
    for (name, value) in from.get::<Map<String, Value>>("headers").unwrap_or_default() {
        options = options.header(&name, value.as_str().unwrap_or_default());
    }
    if let Some(on) = from.get("http2") {
        options = options.http2(on);
    }
    if from.get("allow_insecure_http") == Some(true) {
        options = options.allow_insecure_http();
    }
    if let Some(bytes) = from.get("max_response") {
        options = options.max_response(bytes);
    }
    options.build()
}

/// The options of a call with this time-out in seconds; None: no time-out.
pub fn limited(timeout: Option<f64>) -> CallOptions {
    match timeout {
        Some(seconds) => CallOptions::new().timeout(Duration::try_from_secs_f64(seconds).unwrap_or_default()),
        None => CallOptions::new().no_timeout(),
    }
}

/// The JSON of a resource as received.
pub trait Raw {
    fn raw_text(&self) -> Result<&str, Error>;
}

macro_rules! raw {
    ($($kind:ty),*) => {$(
        impl Raw for $kind {
            fn raw_text(&self) -> Result<&str, Error> {
                self.raw()
            }
        }
    )*};
}
raw!(Subscription, Order, Product);

pub fn raw_of(made: Result<impl Raw, Error>) -> Outcome {
    Ok(received(made?.raw_text()?))
}

pub fn answered(response: Result<Response, Error>) -> Outcome {
    let response = response?;
    let body = String::from_utf8_lossy(response.body()?);
    Ok(json(object!({"status": response.status()?, "headers": response.info().headers()?, "body": body})))
}

/// Sets the query parameters that every list has.
macro_rules! common {
    ($query:expr, $args:expr) => {{
        let mut query = $query;
        if let Some(page) = $args.get("page") {
            query = query.page(page);
        }
        if $args.get("strict") == Some(true) {
            query = query.strict();
        }
        if let Some(state) = $args.get::<String>("resume") {
            query = query.resume(&state);
        }
        query
    }};
}
pub(crate) use common;

/// The fields of a product to change. Sets a field by its typed method if the value has the field's type, else as null
/// or JSON.
pub fn changes_of(args: &Arguments) -> ProductChanges {
    let mut changes = ProductChanges::new();
    for (name, raw) in members(args.raw("fields").unwrap_or("{}")) {
        let value: Value = serde_json::from_str(&raw).unwrap_or_default();
        changes = match (name.as_str(), &value) {
            ("name", Value::String(text)) => changes.name(text),
            ("description", Value::String(text)) => changes.description(text),
            ("currency", Value::String(text)) => changes.currency(text),
            ("interval", Value::String(text)) => changes.interval(text),
            ("price", Value::Number(number)) if number.is_i64() => changes.price(number.as_i64().unwrap_or_default()),
            ("vat_rate", Value::Number(_)) => changes.vat_rate(&raw),
            (_, Value::Null) => changes.null(&name),
            _ => changes.json(&name, &raw),
        };
    }
    changes
}

/// The members of a JSON object in their order: each name with its value as JSON text.
fn members(object: &str) -> Vec<(String, String)> {
    let mut event = br#"{"name":"test.hook","data":"#.to_vec();
    event.extend_from_slice(object.as_bytes());
    event.push(b'}');
    let event = billcore::webhook::parse_unverified(&event).expect("an event");
    let data = event.raw_data().expect("data").expect("data");
    data.members()
        .expect("members")
        .map(|member| {
            let (name, value) = member.expect("a member");
            (name, value.raw().expect("JSON").to_owned())
        })
        .collect()
}

pub fn options_of(args: &Arguments) -> RequestOptions {
    let mut options = RequestOptions::new();
    for (name, value) in args.get::<Map<String, Value>>("query").unwrap_or_default() {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        options = options.query(&name, &text);
    }
    if let Some(body) = args.raw("json") {
        options = options.json(body);
    }
    if args.get("raise_on_error") == Some(false) {
        options = options.accept_all_statuses();
    }
    options
}
