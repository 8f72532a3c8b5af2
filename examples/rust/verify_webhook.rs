use std::env;
use std::error::Error;
use std::io::{Read, stdin};
use std::process::ExitCode;

use billcore::webhook::{DEFAULT_MAX_BODY, Verifier};
use billcore::{ErrorCode, Event, EventData, EventType};

fn show(event: &Event) -> Result<(), billcore::Error> {
    if event.event_type() == EventType::TestHook {
        println!("test.hook"); // only the name of a test.hook is reliable: a server reads no other field
        return Ok(());
    }
    match event.data()? {
        EventData::Order(order) if event.event_type() == EventType::OrderPaid => {
            println!("event {}: order {} is paid, {} cents", event.id()?, order.id()?, order.total()?);
        }
        _ => println!("event {} is {}", event.id()?, event.name()?),
    }
    Ok(())
}

fn receive(body: &[u8], signature: &str) -> Result<(), Box<dyn Error>> {
    let secret = env::var("WEBHOOK_SECRET").map_err(|error| format!("WEBHOOK_SECRET: {error}"))?;
    let verifier = Verifier::new(secret).map_err(|error| format!("WEBHOOK_SECRET: {error}"))?;
    match verifier.unwrap(body, signature) {
        Ok(event) => Ok(show(&event)?),
        Err(error) if error.code() == ErrorCode::Signature => {
            let (answer, reason) = (error.http_status().unwrap_or(400), error.reason());
            let reason = reason.map_or("unknown", |reason| reason.name());
            Err(format!("refused, answer {answer}: {reason}").into())
        }
        Err(error) => Err(format!("signed, but not an event, answer 400: {error}").into()),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [signature] = arguments.as_slice() else {
        eprintln!("usage: verify_webhook SIGNATURE < BODY");
        return ExitCode::from(2);
    };
    let mut body = Vec::new();
    let read = stdin().take(DEFAULT_MAX_BODY as u64 + 1).read_to_end(&mut body);
    match read.map_err(Into::into).and_then(|_| receive(&body, signature)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
