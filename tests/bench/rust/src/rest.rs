//! GETs of a subscription, many at once on one thread: with an AsyncClient, and with reqwest and serde_json.

use std::sync::Arc;

use billcore::{AsyncClient, Client, Subscription};
use serde::Deserialize;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::{Outcome, Row};

const ID: &str = "sub_1001";
const KEY: &str = "key_bench_0123456789";

fn fields(subscription: &Subscription) -> billcore::Result<[&str; 3]> {
    let reference = subscription.reference_id()?.unwrap_or_default();
    Ok([subscription.id()?.as_str(), reference, subscription.status()?.as_str()])
}

/// As a program would declare it: the fields that it uses.
#[derive(Deserialize)]
struct Body {
    data: Fields,
}
#[derive(Deserialize)]
struct Fields {
    id: String,
    reference_id: Option<String>,
    status: String,
}

async fn peer(client: &reqwest::Client, url: &str) -> Outcome<Fields> {
    let answer = client.get(url).bearer_auth(KEY).send().await?.error_for_status()?.bytes().await?;
    Ok(serde_json::from_slice::<Body>(&answer)?.data)
}

fn runtime() -> Outcome<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

fn client(url: &str, at_once: usize) -> Outcome<AsyncClient> {
    let connections = u32::try_from(at_once)?;
    Ok(AsyncClient::new(Client::options().base_url(url).api_key(KEY).max_connections(connections).build()?))
}

/// Makes `count` GETs in `at_once` tasks.
fn in_tasks<F: Future<Output = Outcome<usize>> + 'static>(
    at_once: usize,
    get: impl Fn() -> F + 'static,
) -> Outcome<Row> {
    let (runtime, get) = (runtime()?, Arc::new(get));
    Ok(Box::new(move |count| {
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, async {
            let mut tasks = JoinSet::new();
            for _ in 0..at_once.min(count) {
                let get = Arc::clone(&get);
                tasks.spawn_local(async move {
                    let mut sum = 0;
                    for _ in 0..count / at_once.min(count) {
                        sum += get().await?;
                    }
                    Outcome::Ok(sum)
                });
            }
            let mut sum = 0;
            while let Some(ended) = tasks.join_next().await {
                sum += ended??;
            }
            Ok(sum)
        })
    }))
}

pub fn row(name: &str, url: &str, at_once: usize) -> Outcome<Row> {
    if name == "rust_billcore" {
        let client = client(url, at_once)?;
        return in_tasks(at_once, move || {
            let client = client.clone();
            async move { Ok(fields(&client.subscriptions().get(ID).await?)?.iter().map(|text| text.len()).sum()) }
        });
    }
    let (client, url) = (reqwest::Client::builder().no_proxy().build()?, format!("{url}/subscription/{ID}"));
    in_tasks(at_once, move || {
        let (client, url) = (client.clone(), url.clone());
        async move {
            let read = peer(&client, &url).await?;
            Ok(read.id.len() + read.reference_id.unwrap_or_default().len() + read.status.len())
        }
    })
}

/// The fields as text.
pub fn shown(name: &str, url: &str) -> Outcome<String> {
    if name == "rust_billcore" {
        let subscription = runtime()?.block_on(client(url, 1)?.subscriptions().get(ID))?;
        return Ok(fields(&subscription)?.join("\t"));
    }
    let found = runtime()?.block_on(peer(&reqwest::Client::new(), &format!("{url}/subscription/{ID}")))?;
    Ok([found.id, found.reference_id.unwrap_or_default(), found.status].join("\t"))
}
