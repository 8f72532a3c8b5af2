use futures::{StreamExt, TryStreamExt, stream};
use hmac::{Hmac, Mac};
use reqwest::Client;
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

/// How a contender parses the body after it has verified the body.
#[derive(Clone, Copy)]
pub enum Reading {
    /// Parses three fields into a struct that borrows from the body; skips the rest.
    Three,
    /// Parses everything, so that any field can be read.
    Whole,
}

fn decoded(body: &[u8], reading: Reading) -> Outcome<usize> {
    match reading {
        Reading::Three => {
            let event: Event<'_> = serde_json::from_slice(body)?;
            length(Some(event.id), Some(event.name), Some(event.data.status))
        }
        Reading::Whole => {
            let event: serde_json::Value = serde_json::from_slice(body)?;
            length(event["id"].as_u64(), event["name"].as_str(), event["data"]["status"].as_str())
        }
    }
}

fn length(id: Option<u64>, name: Option<&str>, status: Option<&str>) -> Outcome<usize> {
    let (Some(id), Some(name), Some(status)) = (id, name, status) else { return Err("not a subscription".into()) };
    Ok(id.to_string().len() + name.len() + status.len())
}

/// Returns a contender that uses common crates: it reuses the key, compares in constant time and, for "unwrap", parses
/// the body as `reading` selects.
pub fn crypto(operation: &str, given: Delivery, reading: Reading) -> Outcome<Row> {
    let key = Hmac::<Sha256>::new_from_slice(&given.secret)?;
    let verify = move |given: &Delivery| -> Outcome<()> {
        let mut signature = [0; 32];
        hex::decode_to_slice(&given.signature, &mut signature)?;
        Ok(key.clone().chain_update(&given.body).verify_slice(&signature)?)
    };
    match operation {
        "verify" => Ok(repeated(move || {
            verify(&given)?;
            Ok(given.body.len())
        })),
        "unwrap" => Ok(repeated(move || {
            verify(&given)?;
            decoded(&given.body, reading)
        })),
        _ => Err(format!("it has no {operation}").into()),
    }
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

async fn page(client: &Client, url: &str, pages: usize, page: usize) -> Outcome<Answer> {
    let request = client.get(format!("{url}/subscription/sub_{pages}/orders?page={page}"));
    let request = HEADERS.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    Ok(serde_json::from_slice(&request.send().await?.error_for_status()?.bytes().await?)?)
}

/// Returns a contender that reads a list with reqwest and serde_json: the first page, then the others, `at_once` in
/// flight.
pub fn list(url: &str, at_once: usize) -> Outcome<Row> {
    let client = Client::new();
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
