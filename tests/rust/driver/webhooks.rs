use std::collections::HashMap;
use std::time::Duration;

use billcore::webhook::{Verifier, VerifierOptions, explain_with_headers, parse_unverified, sign};
use billcore::{Error, Event, EventData, Resource, Result, Timestamp, Value};
use serde_json::{Value as Given, json as object};

use crate::reading::{Json, Readable, follow, id, json, or_error, plain, time};
use crate::{Arguments, Outcome, Request, octets};

/// Runs a webhook operation; `None` if the request names another kind of operation.
pub fn run(request: &Request) -> Option<Outcome> {
    let name = request.op.strip_prefix("webhook.")?;
    let args = &request.args;
    let signature = args.octets("signature");
    let outcome = match name {
        "sign" => sign(&args.body(), args.octets("secret").unwrap_or_default())
            .map(|signature| json(object!({ "signature": signature }))),
        "explain" => explain_with_headers(&args.body(), signature.as_deref(), headers(args), secrets(args))
            .map(|text| json(object!({ "text": text }))),
        "parse_unverified" => parse_unverified(&args.body()).and_then(|event| read(args, &event)),
        "verify" => verifier(args).and_then(|keys| keys.verify(&args.body(), signature.as_deref())).map(index),
        "unwrap" => verifier(args)
            .and_then(|keys| keys.unwrap(&args.body(), signature.as_deref()))
            .and_then(|event| read(args, &event)),
        "unwrap_request" => verifier(args)
            .and_then(|keys| keys.unwrap_request(&args.body(), headers(args)))
            .and_then(|event| read(args, &event)),
        "stream" => verifier(args).and_then(|keys| stream(args, &keys, signature.as_deref())).map(index),
        "matches" => verifier(args).and_then(|keys| matches(args, &keys)),
        _ => return None,
    };
    Some(outcome.map_err(Into::into))
}

fn index(secret: usize) -> Json {
    json(object!({ "secret_index": secret }))
}

fn secrets(args: &Arguments) -> Vec<Vec<u8>> {
    args.get::<Vec<Given>>("secrets").unwrap_or_default().iter().filter_map(octets).collect()
}

fn headers(args: &Arguments) -> Vec<(Vec<u8>, Vec<u8>)> {
    let pairs = args.get::<Vec<(Given, Given)>>("headers").unwrap_or_default();
    pairs.iter().filter_map(|(name, value)| Some((octets(name)?, octets(value)?))).collect()
}

fn verifier(args: &Arguments) -> Result<Verifier> {
    let mut options = VerifierOptions::new();
    for secret in secrets(args) {
        options = options.secret(secret);
    }
    for mut each in args.get::<Vec<HashMap<String, Given>>>("accounts").unwrap_or_default() {
        let account = each.remove("account").unwrap_or_default();
        options = match account.as_str() {
            Some(text) => options.account(text),
            None => options.account(account),
        };
        for secret in each["secrets"].as_array().into_iter().flatten().filter_map(octets) {
            options = options.secret(secret);
        }
    }
    if let Some(bytes) = args.get("max_body") {
        options = options.max_body(bytes);
    }
    if let Some(seconds) = args.get::<f64>("freshness") {
        options = options.freshness(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    }
    if let Some(now) = args.get::<i64>("now") {
        options = options.clock(move || Timestamp::from_unix_micros(now));
    }
    if args.get("any_key_length") == Some(true) {
        options = options.allow_any_key_length();
    }
    options.build()
}

fn stream(args: &Arguments, keys: &Verifier, signature: Option<&[u8]>) -> Result<usize> {
    let mut stream = keys.stream()?;
    let body = args.body();
    let mut rest = body.as_slice();
    for size in args.get::<Vec<usize>>("chunks").unwrap_or_default() {
        let (piece, others) = rest.split_at(size.min(rest.len()));
        stream.update(piece)?;
        rest = others;
    }
    stream.update(rest)?;
    stream.finish(signature)
}

fn matches(args: &Arguments, keys: &Verifier) -> Result<Json> {
    for delivery in args.get::<Vec<HashMap<String, Box<serde_json::value::RawValue>>>>("deliveries").unwrap_or_default()
    {
        let delivery = Arguments(delivery);
        // The driver ignores the result of unwrap(): the reply contains only the verifier's match counts.
        let _ = keys.unwrap(&delivery.body(), delivery.octets("signature").as_deref());
    }
    let counts = (0..keys.secret_count()).map(|secret| keys.matches(secret)).collect::<Result<Vec<_>>>()?;
    Ok(json(object!({ "matches": counts })))
}

fn read(args: &Arguments, event: &Event) -> Result<Json> {
    assert_eq!(event.raw()?, args.body(), "Event::raw is the body");
    let paths: Vec<String> = args.get("read").unwrap_or_default();
    let values: HashMap<_, _> = paths.iter().map(|path| (path, or_error(read_path(event, path)))).collect();
    Ok(json(HashMap::from([("read", values)])))
}

fn read_path(event: &Event, path: &str) -> Result<Json> {
    let data = event.data()?;
    if path == "data_type" {
        return Ok(json(match data {
            EventData::Subscription(_) => Some("Subscription"),
            EventData::Order(_) => Some("Order"),
            EventData::Product(_) => Some("Product"),
            EventData::ProductGroup(_) => Some("ProductGroup"),
            EventData::Resource(_) => Some("Resource"),
            EventData::Value(_) => Some("Value"),
            _ => None,
        }));
    }
    if let Some(name) = path.strip_prefix("has:data.") {
        return Ok(json(event.raw_data()?.map_or(Ok(false), |data| data.find(name).map(|found| found.is_some()))?));
    }
    if path == "raw:data" {
        return Ok(json(event.raw_data()?.map(|data| data.raw().map(str::to_owned)).transpose()?));
    }
    let steps: Vec<&str> = path.split('.').collect();
    match (steps.as_slice(), data) {
        (["data"], _) => plain(event.raw_data()?),
        (["data", steps @ ..], EventData::Subscription(data)) => follow(data, steps),
        (["data", steps @ ..], EventData::Order(data)) => follow(data, steps),
        (["data", steps @ ..], EventData::Product(data)) => follow(data, steps),
        (["data", steps @ ..], EventData::ProductGroup(data)) => follow(data, steps),
        (["data", steps @ ..], EventData::Resource(data)) => follow(data, steps),
        (["data", steps @ ..], EventData::Value(data)) => plain(data.find(&steps.join("."))?),
        (["data", ..], _) => Ok(json(())),
        (["id"], _) => event.id().map(id),
        (["name"], _) => event.name().map(json),
        (["account"], _) => event.account().map(json),
        (["created_at"], _) => time(event.created_at().map(Some), event.to_value()?.find("created_at")),
        _ => plain(event.to_value()?.find(path)?),
    }
}

impl Readable for Resource {
    fn whole(&self) -> Result<Value> {
        self.to_value()
    }
    fn typed(&self, _: &str, _: &[&str]) -> Option<Result<Json, Error>> {
        None
    }
}
