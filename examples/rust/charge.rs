use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use billcore::{CallOptions, ChargeOptions, ChargeSearch, Client};

fn charge(id: &str, product: i64, cents: i64) -> Result<(), Box<dyn Error>> {
    let client = Client::from_env()?; // uses BILLCORE_BASE_URL and BILLCORE_API_KEY
    let client = client.with_call(CallOptions::new().timeout(Duration::from_secs(30)));
    match client.subscriptions().charge(id, product, cents, ChargeOptions::new()) {
        Ok(order) => {
            println!("charged {} cents, {} with VAT", order.total()?, order.total_with_vat()?);
            Ok(())
        }
        Err(error) if error.outcome_unknown() => {
            // The charge may have been made: check the orders before you charge again.
            let found = client.subscriptions().find_charges(&error, ChargeSearch::new())?;
            Err(format!("{error}; {} orders were made since then", found.len()).into())
        }
        Err(error) => Err(error.into()), // ErrorCode::Payment: the service refused the charge
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [id, product, cents] = arguments.as_slice() else {
        eprintln!("usage: charge SUBSCRIPTION PRODUCT CENTS_WITHOUT_VAT");
        return ExitCode::from(2);
    };
    let (Ok(product), Ok(cents)) = (product.parse(), cents.parse()) else {
        eprintln!("product and cents are whole numbers");
        return ExitCode::from(2);
    };
    match charge(id, product, cents) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
