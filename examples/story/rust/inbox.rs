use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Extension, Router};
use billcore::webhook::{Verifier, WebhookLayer, parse_unverified};
use billcore::{Event, EventType};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::Outcome;

/// Handles webhook deliveries: verifies the raw bytes, parses them, drops duplicates, and keeps the other events.
pub struct Inbox {
    kept: Kept,
    runtime: Runtime,
    listener: Option<TcpListener>,
    address: SocketAddr,
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Contents>>);

#[derive(Default)]
pub struct Contents {
    /// Bodies of the kept events, as input for `parse_unverified`.
    pub bodies: Vec<Vec<u8>>,
    pub duplicates: Vec<String>,
    pub refused: Vec<String>,
    claimed: HashSet<(i64, String)>,
}

impl Kept {
    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn receive(State(kept): State<Kept>, Extension(event): Extension<Arc<Event>>) -> StatusCode {
    keep(&mut kept.lock(), &event).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn keep(kept: &mut Contents, event: &Event) -> billcore::Result<StatusCode> {
    let (account, id) = (event.account()?, String::from(event.id()?));
    // With a database, record the event and apply its effect in one transaction. Every test.hook has the id 0, so it
    // never counts as a duplicate.
    if !kept.claimed.insert((account, id.clone())) && event.event_type() != EventType::TestHook {
        kept.duplicates.push(id);
        return Ok(StatusCode::OK);
    }
    kept.bodies.push(event.raw()?.to_vec());
    // Only in this example: answer 500 to the first event although it was kept, so that the service delivers it
    // again.
    Ok(if kept.bodies.len() == 1 { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::OK })
}

impl Inbox {
    pub fn new() -> Outcome<Self> {
        let runtime = Runtime::new()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let address = listener.local_addr()?;
        Ok(Self { kept: Kept::default(), runtime, listener: Some(listener), address })
    }
    /// A base URL for a client that sends requests to this receiver; "receiver" stands for the account.
    pub fn address(&self) -> String {
        format!("http://{}/receiver", self.address)
    }
    pub fn url(&self) -> String {
        self.address() + "/webhooks"
    }
    /// Sets the endpoint's secret, which the service creates when the URL is registered, and begins to receive.
    pub fn trust(&mut self, secret: &str) -> Outcome<()> {
        let kept = self.kept.clone();
        let layer = WebhookLayer::new(Verifier::new(secret)?).on_refused(move |_, error| {
            kept.lock().refused.extend(error.reason().map(|reason| reason.to_string()));
        });
        let app = Router::new().route("/receiver/webhooks", post(receive).layer(layer)).with_state(self.kept.clone());
        let listener = self.listener.take().ok_or("it receives already")?;
        self.runtime.spawn(async { axum::serve(listener, app).await });
        Ok(())
    }
    pub fn contents(&self) -> MutexGuard<'_, Contents> {
        self.kept.lock()
    }
    /// Waits until `count` events were kept and one duplicate was dropped, for at most 30 seconds. Returns the kept
    /// events.
    pub fn events(&self, count: usize) -> Outcome<Vec<Event>> {
        let end = Instant::now() + Duration::from_secs(30);
        while Instant::now() < end {
            let kept = self.contents();
            if kept.bodies.len() >= count && !kept.duplicates.is_empty() {
                break;
            }
            drop(kept);
            thread::sleep(Duration::from_millis(5));
        }
        Ok(self.contents().bodies.iter().map(|body| parse_unverified(body)).collect::<Result<_, _>>()?)
    }
}
