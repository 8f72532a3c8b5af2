//! A receiver with PostgreSQL: inbox ADDRESS. The table is `billcore.inbox.schema("postgresql")` of the Python package.

use std::sync::Arc;
use std::{env, error::Error};

use axum::{Extension, Router, http::StatusCode, routing::post};
use billcore::webhook::{Verifier, WebhookLayer};
use billcore::{Event, EventType};

const CLAIM: &str = "INSERT INTO billcore_inbox (consumer, account, id, name, received_at)
    VALUES ('default', $1, $2, $3, CURRENT_TIMESTAMP) ON CONFLICT (consumer, account, id) DO NOTHING";

async fn handle(event: &Event) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (account, id, name) = (event.account()?.to_string(), event.id()?.to_string(), event.name()?);
    let (mut client, connection) = tokio_postgres::connect(&env::var("DATABASE_URL")?, tokio_postgres::NoTls).await?;
    tokio::spawn(connection);
    let transaction = client.transaction().await?; // dropping the transaction rolls it back
    if transaction.execute(CLAIM, &[&account, &id, &name]).await? == 1 && event.event_type() == EventType::OrderPaid {
        let order = event.order()?.id()?.to_string();
        transaction.execute("INSERT INTO paid_orders (id) VALUES ($1)", &[&order]).await?;
    }
    Ok(transaction.commit().await?)
}

async fn receive(Extension(event): Extension<Arc<Event>>) -> StatusCode {
    if event.event_type() == EventType::TestHook {
        return StatusCode::OK; // every test.hook has the id 0
    }
    let Err(error) = handle(&event).await else { return StatusCode::OK };
    eprintln!("{error}");
    if error.is::<billcore::Error>() { StatusCode::BAD_REQUEST } else { StatusCode::SERVICE_UNAVAILABLE }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = env::args().nth(1).ok_or("usage: inbox ADDRESS, such as localhost:8000")?;
    let layer = WebhookLayer::new(Verifier::new(env::var("WEBHOOK_SECRET")?)?);
    let listener = tokio::net::TcpListener::bind(address).await?;
    Ok(axum::serve(listener, Router::new().route("/webhooks", post(receive).layer(layer))).await?)
}
