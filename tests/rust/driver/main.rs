//! The conformance driver in Rust: reads one JSON request per line from stdin, writes one JSON reply per line to stdout
//! (see tests/conformance). With the argument `async` it awaits each call of an `AsyncClient`, in tokio.

mod charges;
mod classes;
mod client;
mod fields;
mod lists;
mod many;
mod operations;
mod reading;
mod webhooks;

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::LazyLock;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use billcore::{AsyncClient, CallOptions, Client, Error};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::classes::class;
use crate::reading::Json;

/// One line of stdin.
#[derive(Deserialize)]
struct Request {
    op: String,
    #[serde(default)]
    client: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "stated")]
    timeout: Option<Option<f64>>,
    #[serde(default)]
    total_timeout: Option<f64>,
    #[serde(default)]
    args: Arguments,
    #[serde(default)]
    take: Value,
}

/// Deserializes a member that may be null: Some(None) if it is null. An absent member is None, by `serde(default)`.
fn stated<'a, D: serde::Deserializer<'a>>(from: D) -> Result<Option<Option<f64>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// Arguments of the request, by name; a null argument counts as not given.
#[derive(Default, Deserialize)]
struct Arguments(HashMap<String, Box<RawValue>>);

impl Arguments {
    fn raw(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|raw| raw.get())
    }
    fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str::<Option<T>>(self.raw(name)?).ok()?
    }
    fn text(&self, name: &str) -> String {
        self.get(name).unwrap_or_default()
    }
    fn integer(&self, name: &str) -> i64 {
        self.get(name).unwrap_or_default()
    }
    fn octets(&self, name: &str) -> Option<Vec<u8>> {
        octets(&self.get(name)?)
    }
    fn body(&self) -> Vec<u8> {
        STANDARD.decode(self.text("body_b64")).expect("body_b64 is base64")
    }
}

/// The bytes of a string or of `{"b64": …}`; `None` for anything else.
fn octets(given: &Value) -> Option<Vec<u8>> {
    match given {
        Value::String(text) => Some(text.clone().into_bytes()),
        Value::Object(encoded) => STANDARD.decode(encoded.get("b64")?.as_str()?).ok(),
        _ => None,
    }
}

/// Why an operation failed.
enum Failure {
    Library(Error),
    /// A list failed: the error, the items before the error, and the list's state.
    Listing {
        error: Error,
        items: Vec<Json>,
        state: Option<String>,
    },
    NoSuchOp,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

type Outcome = Result<Json, Failure>;

fn described(failure: Failure) -> Value {
    let mut out = Map::new();
    let error = match failure {
        Failure::Library(error) => error,
        Failure::Listing { error, items, state } => {
            out.insert("items_before".into(), items.len().into());
            out.insert("items".into(), serde_json::to_value(items).expect("JSON"));
            out.extend(state.map(|state| ("state".into(), state.into())));
            error
        }
        Failure::NoSuchOp => {
            return json!({"class": "BillcoreError", "status": 5, "message": "the driver knows no such op"});
        }
    };
    out.insert("class".into(), class(error.code()).into());
    out.insert("status".into(), error.status().into());
    out.insert("message".into(), error.message().into());
    out.insert("outcome_unknown".into(), error.outcome_unknown().into());
    out.insert("sent_late".into(), error.is_sent_late().into());
    let texts = [
        ("api_code", error.api_code()),
        ("api_message", error.api_message()),
        ("body", error.body()),
        ("request_id", error.request_id()),
        ("method", error.method()),
        ("path", error.path()),
        ("reason", error.reason().map(billcore::Reason::name)),
        ("cause", error.cause().map(class)),
    ];
    out.extend(texts.into_iter().filter_map(|(name, text)| Some((name.into(), text?.into()))));
    out.extend(error.http_status().map(|status| ("http_status".into(), status.into())));
    out.extend(
        Some(error.attempts()).filter(|attempts| *attempts != 0).map(|attempts| ("attempts".into(), attempts.into())),
    );
    out.extend(error.retry_after().map(|wait| ("retry_after".into(), wait.as_secs_f64().into())));
    Value::Object(out)
}

/// Waits for a future in the driver's runtime.
fn awaited<F: Future>(future: F) -> F::Output {
    static RUNTIME: LazyLock<Runtime> =
        LazyLock::new(|| Builder::new_current_thread().enable_all().build().expect("a runtime"));
    RUNTIME.block_on(future)
}

enum Way {
    Blocking(Client),
    Async(AsyncClient),
}

/// Reuses the client as long as the requests have the same options.
struct Driver {
    client: Option<(String, Way)>,
    is_async: bool,
}

impl Driver {
    fn run(&mut self, request: &Request) -> Outcome {
        if let Some(outcome) = webhooks::run(request) {
            return outcome;
        }
        let given = request.client.as_ref().map_or("{}", |raw| raw.get());
        if self.client.as_ref().is_none_or(|(made_with, _)| made_with != given) {
            self.client = None;
            let client = client::connect(given)?;
            let way = if self.is_async { Way::Async(AsyncClient::new(client)) } else { Way::Blocking(client) };
            self.client = Some((given.to_owned(), way));
        }
        let mut call = request.timeout.map_or_else(CallOptions::new, client::limited);
        if let Some(seconds) = request.total_timeout {
            call = call.total_timeout(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        }
        match &self.client {
            Some((_, Way::Blocking(client))) => operations::run(&client.with_call(call), request),
            Some((_, Way::Async(client))) => operations::run_awaited(&client.with_call(call), request),
            None => Err(Failure::NoSuchOp),
        }
    }

    /// Returns the reply to one line of input. Results contain the JSON text as received.
    fn answer(&mut self, line: &str) -> String {
        let error = match serde_json::from_str(line) {
            Ok(request) => match self.run(&request) {
                Ok(result) => return format!(r#"{{"ok":{result}}}"#),
                Err(failure) => described(failure),
            },
            Err(fault) => json!({"class": "BillcoreError", "status": 5, "message": fault.to_string()}),
        };
        json!({ "error": error }).to_string()
    }
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("charges", rest)) = arguments.split_first().map(|(way, rest)| (way.as_str(), rest)) {
        charges::run(rest);
        return Ok(());
    }
    let is_async = arguments.first().is_some_and(|way| way == "async");
    let mut driver = Driver { client: None, is_async };
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if !line.trim().is_empty() {
            writeln!(out, "{}", driver.answer(&line))?;
            out.flush()?;
        }
    }
    Ok(())
}
