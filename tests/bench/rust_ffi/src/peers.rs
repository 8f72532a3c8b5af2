use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::{StreamExt, TryStreamExt, stream};
use hmac::{Hmac, Mac};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use sha2::Sha256;
use sonic_rs::JsonValueTrait;

use crate::{Delivery, Outcome, Row, repeated};

#[derive(Deserialize)]
struct Event<'a> {
    id: u64,
    name: &'a str,
    #[serde(borrow)]
    data: Data<'a>,
}

#[derive(Deserialize)]
struct Data<'a> {
    status: &'a str,
}

/// How a contender parses the body after it has verified the body.
#[derive(Clone, Copy)]
pub enum Reading {
    /// Parses three fields into a struct that borrows from the body; skips the rest.
    Three,
    /// Parses everything, so that any field can be read.
    Whole,
    /// Parses like Three, with sonic-rs in place of serde_json.
    SonicThree,
    /// Parses like Whole, with sonic-rs in place of serde_json.
    SonicWhole,
}

fn decoded(body: &[u8], reading: Reading) -> Outcome<usize> {
    let event: Event<'_> = match reading {
        Reading::Three => serde_json::from_slice(body)?,
        Reading::SonicThree => sonic_rs::from_slice(body)?,
        Reading::Whole => {
            let event: serde_json::Value = serde_json::from_slice(body)?;
            let (id, name, status) = (event["id"].as_u64(), event["name"].as_str(), event["data"]["status"].as_str());
            return length(id, name, status);
        }
        Reading::SonicWhole => {
            let event: sonic_rs::Value = sonic_rs::from_slice(body)?;
            let (id, name, status) = (event["id"].as_u64(), event["name"].as_str(), event["data"]["status"].as_str());
            return length(id, name, status);
        }
    };
    length(Some(event.id), Some(event.name), Some(event.data.status))
}

fn length(id: Option<u64>, name: Option<&str>, status: Option<&str>) -> Outcome<usize> {
    let (Some(id), Some(name), Some(status)) = (id, name, status) else { return Err("not a subscription".into()) };
    Ok(id.to_string().len() + name.len() + status.len())
}

/// Returns the contender of a library that only verifies. For "unwrap", the contender also parses the body, in the way
/// that `reading` selects.
fn measured(
    operation: &str,
    body: Vec<u8>,
    reading: Reading,
    verify: impl Fn(&[u8]) -> Outcome<()> + 'static,
) -> Outcome<Row> {
    match operation {
        "verify" => Ok(repeated(move || {
            verify(&body)?;
            Ok(body.len())
        })),
        "unwrap" => Ok(repeated(move || {
            verify(&body)?;
            decoded(&body, reading)
        })),
        _ => Err(format!("it has no {operation}").into()),
    }
}

/// Returns a contender that uses common crates: it reuses the key, compares in constant time, and parses as `reading`
/// selects.
pub fn crypto(operation: &str, given: Delivery, reading: Reading) -> Outcome<Row> {
    let key = Hmac::<Sha256>::new_from_slice(&given.secret)?;
    measured(operation, given.body, reading, move |body| {
        let mut signature = [0; 32];
        hex::decode_to_slice(&given.signature, &mut signature)?;
        Ok(key.clone().chain_update(body).verify_slice(&signature)?)
    })
}

pub fn ring(operation: &str, given: Delivery) -> Outcome<Row> {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &given.secret);
    measured(operation, given.body, Reading::Whole, move |body| {
        let mut signature = [0; 32];
        hex::decode_to_slice(&given.signature, &mut signature)?;
        ring::hmac::verify(&key, body, &signature).map_err(|_| "mismatch".into())
    })
}

/// Returns a contender that uses svix. svix verifies base64 signatures over "ID.TIME.BODY", so this function first
/// signs the delivery this way.
pub fn svix(operation: &str, given: Delivery) -> Outcome<Row> {
    let keys = svix::webhooks::Webhook::new(&STANDARD.encode(&given.secret))?;
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs())?;
    let signature = keys.sign("msg_1", now, &given.body)?;
    let mut headers = http::HeaderMap::new();
    headers.insert("svix-id", "msg_1".parse()?);
    headers.insert("svix-timestamp", now.to_string().parse()?);
    headers.insert("svix-signature", signature.parse()?);
    measured(operation, given.body, Reading::Whole, move |body| Ok(keys.verify_ignoring_timestamp(body, &headers)?))
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Order>,
    pagination: Pagination,
}

#[derive(Deserialize)]
struct Order {
    id: String,
    total_with_vat: usize,
    state: String,
}

#[derive(Deserialize)]
struct Pagination {
    total_pages: usize,
}

impl Answer {
    fn sum(&self) -> usize {
        self.data.iter().map(|order| order.id.len() + order.total_with_vat + order.state.len()).sum()
    }
}

const HEADERS: [(&str, &str); 2] = [("X-API-KEY", "key_bench_0123456789"), ("Accept", "application/json")];

/// A client that gets a URL.
trait Get {
    async fn get(&self, url: String) -> Outcome<Bytes>;
}

impl Get for reqwest::Client {
    async fn get(&self, url: String) -> Outcome<Bytes> {
        let request = HEADERS.iter().fold(self.get(url), |request, (name, value)| request.header(*name, *value));
        Ok(request.send().await?.error_for_status()?.bytes().await?)
    }
}

type Hyper = hyper_util::client::legacy::Client<HttpConnector, Empty<Bytes>>;

impl Get for Hyper {
    async fn get(&self, url: String) -> Outcome<Bytes> {
        let request =
            HEADERS.iter().fold(http::Request::get(url), |request, (name, value)| request.header(*name, *value));
        let answer = self.request(request.body(Empty::new())?).await?;
        if !answer.status().is_success() {
            return Err(answer.status().to_string().into());
        }
        Ok(answer.into_body().collect().await?.to_bytes())
    }
}

async fn page(client: &impl Get, url: &str, pages: usize, page: usize) -> Outcome<Answer> {
    let url = format!("{url}/subscription/sub_{pages}/orders?page={page}");
    Ok(serde_json::from_slice(&client.get(url).await?)?)
}

pub fn reqwest_list(url: &str, at_once: usize) -> Outcome<Row> {
    list(reqwest::Client::new(), url, at_once)
}

pub fn hyper_list(url: &str, at_once: usize) -> Outcome<Row> {
    let client: Hyper = hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build_http();
    list(client, url, at_once)
}

/// Returns a contender that reads a list with an HTTP client and serde_json: the first page, then the others, `at_once`
/// in flight.
fn list(client: impl Get + 'static, url: &str, at_once: usize) -> Outcome<Row> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let url = url.to_owned();
    Ok(Box::new(move |pages| {
        runtime.block_on(async {
            let first = page(&client, &url, pages, 1).await?;
            let others =
                stream::iter(2..=first.pagination.total_pages).map(|number| page(&client, &url, pages, number));
            let sum = others.buffered(at_once).try_fold(0, |sum, page| async move { Ok(sum + page.sum()) }).await?;
            Ok(first.sum() + sum)
        })
    }))
}
