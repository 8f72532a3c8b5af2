use std::{env, error::Error};

use billcore::{Event, EventType};

const CLAIM: &str = "INSERT INTO billcore_inbox (consumer, account, id, name, received_at)
    VALUES ('default', $1, $2, $3, CURRENT_TIMESTAMP) ON CONFLICT (consumer, account, id) DO NOTHING";

/// Claims the event and applies its effect in one transaction, unless the event was handled before. The data may lack
/// fields: without an id there is nothing to record.
pub async fn handle(event: &Event) -> Result<(), Box<dyn Error + Send + Sync>> {
    if event.event_type() == EventType::TestHook {
        return Ok(()); // every test.hook has the id 0
    }
    let (account, id, name) = (event.account()?.to_string(), event.id()?.to_string(), event.name()?);
    let (mut client, connection) = tokio_postgres::connect(&env::var("DATABASE_URL")?, tokio_postgres::NoTls).await?;
    tokio::spawn(connection);
    let transaction = client.transaction().await?; // dropping the transaction rolls it back
    if transaction.execute(CLAIM, &[&account, &id, &name]).await? == 1 && event.event_type() == EventType::OrderPaid {
        if let Ok(Ok(id)) = event.order().map(|order| order.id()) {
            transaction.execute("INSERT INTO paid_orders (id) VALUES ($1)", &[&id.as_str()]).await?;
        }
    }
    Ok(transaction.commit().await?)
}
