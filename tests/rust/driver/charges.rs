//! Charges a subscription many times at once, and prints what it knows: see tests/faults/test_killed.py.

use std::sync::Arc;

use billcore::{AsyncClient, ChargeOptions};
use serde_json::json;
use tokio::task::JoinSet;

use crate::{awaited, client};

async fn charge(client: AsyncClient, to: Arc<str>, product: i64, number: i64) {
    println!("begin {number}");
    let known = match client.subscriptions().charge(to, product, 1000 + number, ChargeOptions::new()).await {
        Ok(_) => "made",
        Err(error) if error.outcome_unknown() => "unknown",
        Err(_) => "not-made",
    };
    println!("end {number} {known}");
}

/// Takes the base URL, the API key, the subscription, the product and the number of charges.
pub(crate) fn run(arguments: &[String]) {
    let [base_url, api_key, to, product, count] = arguments else { panic!("five arguments, not {arguments:?}") };
    let (product, count): (i64, i64) = (product.parse().expect("a number"), count.parse().expect("a number"));
    let options = json!({"base_url": base_url, "api_key": api_key}).to_string();
    let client = AsyncClient::new(client::connect(&options).expect("a client"));
    awaited(async {
        let mut charges = JoinSet::new();
        for number in 0..count {
            charges.spawn(charge(client.clone(), to.as_str().into(), product, number));
        }
        charges.join_all().await
    });
}
