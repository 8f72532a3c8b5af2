use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::{StreamExt, TryStreamExt, stream};
use hmac::{Hmac, Mac};
use serde::Deserialize;
use sha2::Sha256;

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

/// How the body is read after it was verified.
#[derive(Clone, Copy)]
pub enum Reading {
    /// Three fields into a struct that borrows from the body; the rest is skipped.
    Three,
    /// Everything, so that any field can be read.
    Whole,
}

fn decoded(body: &[u8], reading: Reading) -> Outcome<usize> {
    if let Reading::Whole = reading {
        let event: serde_json::Value = serde_json::from_slice(body)?;
        let (name, status) = (event["name"].as_str(), event["data"]["status"].as_str());
        let (Some(name), Some(status)) = (name, status) else { return Err("not a subscription".into()) };
        return Ok(event["id"].to_string().len() + name.len() + status.len());
    }
    let event: Event<'_> = serde_json::from_slice(body)?;
    Ok(event.id.to_string().len() + event.name.len() + event.data.status.len())
}

/// The operations of a library that only verifies.
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

/// What a Rust programmer writes: a kept key, a comparison in constant time, serde_json.
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

/// It signs "ID.TIME.BODY" and gives base64, so the delivery is signed again in its way.
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

async fn page(client: &reqwest::Client, url: &str, pages: usize, page: usize) -> Outcome<Answer> {
    let url = format!("{url}/subscription/sub_{pages}/orders?page={page}");
    let request = client.get(url).header("X-API-KEY", "key_bench_0123456789").header("Accept", "application/json");
    Ok(serde_json::from_slice(&request.send().await?.error_for_status()?.bytes().await?)?)
}

/// reqwest and serde_json, by hand: the first page, then the others, so many in flight.
pub fn list(url: &str, at_once: usize) -> Outcome<Row> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (client, url) = (Rc::new(reqwest::Client::new()), url.to_owned());
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
