use std::env;
use std::error::Error;
use std::process::ExitCode;

use billcore::{Client, SubscriptionQuery};

fn find(reference: &str) -> Result<(), Box<dyn Error>> {
    let client = Client::from_env()?; // uses BILLCORE_BASE_URL and BILLCORE_API_KEY
    let mut found = false;
    for subscription in client.subscriptions().list(SubscriptionQuery::new().reference_id(reference))? {
        let subscription = subscription?;
        println!("{} {}", subscription.id()?, subscription.status()?);
        found = true;
    }
    if found { Ok(()) } else { Err("no subscription has this reference_id".into()) }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [reference] = arguments.as_slice() else {
        eprintln!("usage: find REFERENCE_ID");
        return ExitCode::from(2);
    };
    match find(reference) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
