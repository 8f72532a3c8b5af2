//! A webhook server with axum. Usage: receiver ADDRESS. The server remembers each event before it answers, and drops
//! an event that is delivered again.

mod serve;

use std::collections::HashSet;
use std::env;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Extension, Router};
use billcore::webhook::{VerifierOptions, WebhookLayer};
use billcore::{Event, EventType};
use tokio::net::TcpListener;

/// Records which events were received. With a database, record the event and apply its effect in one transaction.
#[derive(Clone, Default)]
struct Inbox(Arc<Mutex<HashSet<(i64, String)>>>);

impl Inbox {
    /// Records an event; returns whether it is new. Every test.hook has the id 0, so the id cannot show a duplicate,
    /// and each test.hook counts as new.
    fn claim(&self, event: &Event) -> billcore::Result<bool> {
        if event.event_type() == EventType::TestHook {
            return Ok(true);
        }
        let key = (event.account()?, event.id()?.into());
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key))
    }
}

async fn receive(State(inbox): State<Inbox>, Extension(event): Extension<Arc<Event>>) -> StatusCode {
    match inbox.claim(&event) {
        Ok(true) => println!("received {}", event.name().unwrap_or_default()),
        Ok(false) => {}
        Err(error) => {
            eprintln!("{error}");
            return StatusCode::BAD_REQUEST;
        }
    }
    StatusCode::OK
}

fn main() -> Result<(), Box<dyn Error>> {
    let address = env::args().nth(1).ok_or("usage: receiver ADDRESS, such as localhost:8080")?;
    let secrets = env::var("WEBHOOK_SECRET")?; // while a secret is being replaced: "new,old"
    let verifier = secrets.split(',').fold(VerifierOptions::new(), VerifierOptions::secret).build()?;
    let layer = WebhookLayer::new(verifier).on_refused(|_, error| println!("refused: {error}"));
    let app = Router::new().route("/webhooks", post(receive).layer(layer)).with_state(Inbox::default());
    tokio::runtime::Runtime::new()?.block_on(async {
        let listener = TcpListener::bind(address).await?;
        println!("listening on http://{}/webhooks", listener.local_addr()?);
        serve::serve(listener, app).await;
        Ok(())
    })
}
