//! A receiver with PostgreSQL: inbox ADDRESS. The table is `billcore.inbox.schema("postgresql")` of the Python package.

mod claim;
#[path = "../../rust/serve.rs"]
mod serve;

use std::{env, error::Error, sync::Arc, time::Duration};

use axum::{Extension, Router, http::StatusCode, routing::post};
use billcore::Event;
use billcore::webhook::{VerifierOptions, WebhookLayer};

async fn receive(Extension(event): Extension<Arc<Event>>) -> StatusCode {
    let handled = tokio::time::timeout(Duration::from_secs(20), claim::handle(&event)).await;
    let Err(error) = handled.unwrap_or_else(|late| Err(late.into())) else { return StatusCode::OK };
    eprintln!("{error}");
    StatusCode::SERVICE_UNAVAILABLE // the sender tries again
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = env::args().nth(1).ok_or("usage: inbox ADDRESS, such as localhost:8000")?;
    let secrets = env::var("WEBHOOK_SECRET")?; // during a rotation "new,old"
    let layer = WebhookLayer::new(secrets.split(',').fold(VerifierOptions::new(), VerifierOptions::secret).build()?);
    let listener = tokio::net::TcpListener::bind(address).await?;
    serve::serve(listener, Router::new().route("/webhooks", post(receive).layer(layer))).await;
    Ok(())
}
