use std::time::Duration;

use billcore::{
    Client, ClientChanges, Error, Item, List, Order, Page, Product, ProductChanges, RequestOptions, Response,
    Subscription,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json as object};

use crate::reading::{Json, json, received};
use crate::{Arguments, Failure, Outcome, Request};

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

/// A client that shares the connections of another, with this time-out in seconds; None: no time-out.
pub fn limited(client: &Client, timeout: Option<f64>) -> Result<Client, Error> {
    let changes = ClientChanges::new();
    client.with_options(match timeout {
        Some(seconds) => changes.timeout(Duration::try_from_secs_f64(seconds).unwrap_or_default()),
        None => changes.no_timeout(),
    })
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

/// Updates a product. Sets a field by its typed method if the value has the field's type, else as null or JSON.
pub fn update(client: &Client, args: &Arguments) -> Outcome {
    let mut changes = ProductChanges::new();
    let fields = args.raw("fields").unwrap_or("{}");
    for (name, raw) in members(fields) {
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
    raw_of(client.products().update(args.integer("id"), changes))
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

pub fn send(client: &Client, args: &Arguments) -> Outcome {
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
    answered(client.request(&args.text("method"), &args.text("path"), options))
}

/// Reads a list in the way that the request's `take` names.
pub fn read<T: Item + Raw>(request: &Request, mut list: List<T>) -> Outcome {
    let mut items: Vec<Json> = Vec::new();
    let limit = request.take.as_u64().and_then(|limit| usize::try_from(limit).ok());
    let read = match request.take.as_str() {
        Some("first") => list.first().and_then(|found| found.map_or(Ok(()), |item| keep(&mut items, &item))),
        Some("first-all") => list.first().and_then(|_| all(&mut items, &mut list, None)),
        Some("pages") => list.pages().try_for_each(|page| keep_page(&mut items, &page?)),
        Some("mixed") => mixed(&mut items, &mut list),
        _ => all(&mut items, &mut list, limit),
    };
    read.and_then(|()| standing(&list, &items)).map_err(|error| Failure::Listing {
        error,
        items: items.clone(),
        state: list.state().ok(),
    })
}

fn keep(items: &mut Vec<Json>, item: &impl Raw) -> Result<(), Error> {
    items.push(received(item.raw_text()?));
    Ok(())
}

fn keep_page<T: Item + Raw>(items: &mut Vec<Json>, page: &Page<T>) -> Result<(), Error> {
    page.iter().try_for_each(|item| keep(items, &item?))
}

fn all<T: Item + Raw>(items: &mut Vec<Json>, list: &mut List<T>, limit: Option<usize>) -> Result<(), Error> {
    for item in list.by_ref().take(limit.unwrap_or(usize::MAX)) {
        keep(items, &item?)?;
    }
    // The loop may have ended at the requested number of items: stop the list.
    if limit.is_some_and(|limit| limit <= items.len()) { list.stop() } else { Ok(()) }
}

/// Reads an item, then a page, until the list ends.
fn mixed<T: Item + Raw>(items: &mut Vec<Json>, list: &mut List<T>) -> Result<(), Error> {
    while let Some(item) = list.next() {
        keep(items, &item?)?;
        if let Some(page) = list.pages().next() {
            keep_page(items, &page?)?;
        }
    }
    Ok(())
}

fn standing<T: Item>(list: &List<T>, items: &[Json]) -> Result<Json, Error> {
    let verdict = list.verdict()?;
    let word = verdict.map(|verdict| if verdict.complete { "complete" } else { "possibly_missed" });
    #[derive(Serialize)]
    struct Standing<'a> {
        items: &'a [Json],
        verdict: Option<&'static str>,
        reason: Option<&'static str>,
        total: Option<i64>,
        fetched_pages: i64,
        state: String,
    }
    Ok(json(Standing {
        items,
        verdict: word,
        reason: verdict.and_then(|verdict| verdict.reason),
        total: list.total()?,
        fetched_pages: list.fetched_pages()?,
        state: list.state()?,
    }))
}
