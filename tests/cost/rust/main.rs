//! Performs the operations of tests/cost in Rust while Callgrind counts what they execute. Usage: cost-rust FOLDER. FOLDER
//! contains the files that native.cpp reads. Prints how often the program performed each operation. The caller must load
//! the library cost-peer with LD_PRELOAD: only then its send() replaces that of the C library.

use std::error::Error;
use std::ffi::{CString, c_char, c_int};
use std::fs;

use billcore::webhook::Verifier;
use billcore::{ChargeOptions, Client, EventData, OrderQuery};

type Outcome<T> = Result<T, Box<dyn Error>>;

const PAGES: usize = 20;

#[link(name = "cost-peer")]
unsafe extern "C" {
    fn cost_listen(folder: *const c_char) -> c_int;
    fn cost_begin();
    fn cost_end(name: *const c_char);
}

/// Lets Callgrind count what `run` does. operations: how often `run` performs the operation.
fn count(name: &str, operations: usize, mut run: impl FnMut() -> Outcome<()>) -> Outcome<()> {
    run()?; // not counted, because the first run does one-time work
    let shown = CString::new(name)?;
    // SAFETY: the program has only one thread.
    unsafe { cost_begin() };
    let outcome = run();
    // SAFETY: the name ends with a NUL, and Callgrind reads it before cost_end() returns.
    unsafe { cost_end(shown.as_ptr()) };
    outcome?;
    println!("{name} {operations}");
    Ok(())
}

fn repeated(times: usize, mut call: impl FnMut() -> Outcome<bool>) -> impl FnMut() -> Outcome<()> {
    move || {
        for _ in 0..times {
            if !call()? {
                return Err("the operation read something else".into());
            }
        }
        Ok(())
    }
}

fn main() -> Outcome<()> {
    let folder = std::env::args().nth(1).ok_or("usage: cost-rust FOLDER")?;
    let answers = CString::new(format!("{folder}/answers"))?;
    // SAFETY: the path ends with a NUL, and cost_listen() copies it.
    let port = unsafe { cost_listen(answers.as_ptr()) };

    let body = fs::read(format!("{folder}/900/body"))?;
    let signature = fs::read_to_string(format!("{folder}/900/signature"))?;
    let verifier = Verifier::new(fs::read(format!("{folder}/900/secret"))?)?;
    count("Rust verify", 200, repeated(200, || Ok(verifier.verify(&body, &signature).is_ok())))?;
    let unwrap = || {
        let event = verifier.unwrap(&body, &signature)?;
        let EventData::Subscription(subscription) = event.data()? else { return Ok(false) };
        Ok(!event.id()?.is_empty() && !event.name()?.is_empty() && !subscription.status()?.as_str().is_empty())
    };
    count("Rust unwrap", 200, repeated(200, unwrap))?;

    let base_url = format!("http://127.0.0.1:{port}/acct");
    let client = Client::options().base_url(&base_url).api_key("key_cost_0123456789").concurrency(8).build()?;
    let get = || {
        let one = client.subscriptions().get("sub_1001")?;
        Ok(!one.id()?.is_empty() && one.reference_id()?.is_some() && !one.status()?.as_str().is_empty())
    };
    count("Rust get", 50, repeated(50, get))?;
    let charge = || {
        let order = client.subscriptions().charge("sub_1001", 102, 1500, ChargeOptions::new())?;
        Ok(order.total()? > 0 && !order.id()?.is_empty() && !order.state()?.as_str().is_empty())
    };
    count("Rust charge", 50, repeated(50, charge))?;
    count("Rust list", PAGES * 100, || {
        let mut read = 0;
        for order in client.subscriptions().orders(format!("sub_{PAGES}"), OrderQuery::new())? {
            let order = order?;
            read += usize::from(
                !order.id()?.is_empty() && order.total_with_vat()? > 0 && !order.state()?.as_str().is_empty(),
            );
        }
        if read == PAGES * 100 { Ok(()) } else { Err("the list has other orders".into()) }
    })
}
