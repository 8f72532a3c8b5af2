//! The client for tokio: calls on tokio's threads for blocking work, ended by a token when nobody waits for them any more.

mod list;

use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, spawn_blocking};

pub use self::list::AsyncList;
use crate::client::{
    CancelToken, ChargeOptions, ChargeSearch, Client, OrderQuery, ProductChanges, ProductQuery, RequestOptions,
    Response, SubscriptionQuery,
};
use crate::error::{Error, ErrorCode, Result};
use crate::{Order, Product, Subscription, Timestamp};

/// How many calls of an [`AsyncClient`] run at once, unless [`AsyncClient::with_limit`] says otherwise.
const CALLS: usize = 64;

/// A [`Client`] whose calls are awaited. Each runs on a thread that tokio keeps for blocking work, so it needs a tokio runtime.
/// Clones share connections and limit.
///
/// Dropping the future of a call ends the transfer, and the thread is free again at once. Of a write that is dropped only the
/// hooks learn whether it was sent, or what its answer was (see [`Attempt::path`](crate::Attempt::path)): do not put a time-out
/// around a charge, give it one with [`CallOptions::timeout`](crate::CallOptions::timeout), whose error says so.
///
/// At most so many calls run at once as the limit says, also counting those that were dropped and are about to end; further
/// ones wait, and their time-outs begin when they run.
///
/// A thread for each call in progress is what this costs. To await descriptors instead (tokio's `AsyncFd`), the C ABI would have
/// to offer its engine step by step: begin a call, name the descriptors and the timer it waits for, go on when one is ready, take
/// the result. It has only calls that block.
#[derive(Clone)]
pub struct AsyncClient {
    client: Client,
    slots: Arc<Semaphore>,
}

/// Triggers its token when it is dropped.
struct Trigger(CancelToken);

impl Drop for Trigger {
    fn drop(&mut self) {
        self.0.trigger();
    }
}

async fn slot(slots: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit> {
    Arc::clone(slots).acquire_owned().await.map_err(|_| gone())
}

fn gone() -> Error {
    Error::new(ErrorCode::Interrupted, "the tokio runtime was shut down before the call began: nothing was sent")
}

/// A task that ended without its result.
fn ended(error: JoinError) -> Error {
    if error.is_panic() {
        resume_unwind(error.into_panic());
    }
    gone()
}

impl AsyncClient {
    /// Makes the calls of this client, 64 at once.
    pub fn new(client: Client) -> Self {
        Self::with_limit(client, CALLS)
    }
    /// Makes the calls of this client, so many at once. Each takes one of the runtime's threads for blocking work, of which
    /// tokio has 512 unless it is told otherwise.
    pub fn with_limit(client: Client, calls: usize) -> Self {
        let calls = calls.clamp(1, Semaphore::MAX_PERMITS);
        Self { client, slots: Arc::new(Semaphore::new(calls)) }
    }
    /// A client with the address in `BILLCORE_BASE_URL` and the key in `BILLCORE_API_KEY`. It connects to nothing yet.
    pub fn from_env() -> Result<Self> {
        Client::from_env().map(Self::new)
    }
    /// The same client, whose calls block.
    pub fn client(&self) -> &Client {
        &self.client
    }
    /// As [`Client::with_call`].
    #[must_use]
    pub fn with_call(&self, call: crate::CallOptions) -> Self {
        Self { client: self.client.with_call(call), slots: Arc::clone(&self.slots) }
    }
    /// The client, whose calls end with this token too.
    fn cancellable(&self) -> Result<(Client, Trigger)> {
        let call = self.client.call();
        let token = call.cancel.as_ref().map_or_else(CancelToken::new, CancelToken::child)?;
        Ok((self.client.with_call(call.clone().cancel(&token)), Trigger(token)))
    }
    async fn run<T: Send + 'static>(&self, call: impl FnOnce(&Client) -> Result<T> + Send + 'static) -> Result<T> {
        let slot = slot(&self.slots).await?;
        let (client, _ends) = self.cancellable()?;
        let task = spawn_blocking(move || {
            let _slot = slot;
            call(&client)
        });
        task.await.map_err(ended)?
    }

    /// The operations on subscriptions.
    pub fn subscriptions(&self) -> AsyncSubscriptions<'_> {
        AsyncSubscriptions(self)
    }
    /// The operations on products.
    pub fn products(&self) -> AsyncProducts<'_> {
        AsyncProducts(self)
    }
    /// The operations on orders.
    pub fn orders(&self) -> AsyncOrders<'_> {
        AsyncOrders(self)
    }
    /// The operations on receivers of events.
    pub fn webhook_endpoints(&self) -> AsyncWebhookEndpoints<'_> {
        AsyncWebhookEndpoints(self)
    }
    /// As [`Client::request`].
    pub async fn request(&self, method: &str, path: &str, options: RequestOptions) -> Result<Response> {
        let (method, path) = (method.to_owned(), path.to_owned());
        self.run(move |client| client.request(&method, &path, options)).await
    }
}

impl fmt::Debug for AsyncClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncClient").field("client", &self.client).finish_non_exhaustive()
    }
}

macro_rules! group {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a>(&'a AsyncClient);
    };
}

group!(
    /// [`Subscriptions`](crate::Subscriptions), awaited.
    AsyncSubscriptions
);

impl AsyncSubscriptions<'_> {
    /// As [`Subscriptions::list`](crate::Subscriptions::list).
    pub fn list(self, query: SubscriptionQuery) -> Result<AsyncList<Subscription>> {
        let (client, ends) = self.0.cancellable()?;
        Ok(AsyncList::of(client.subscriptions().list(query)?, ends, &self.0.slots))
    }
    /// As [`Subscriptions::get`](crate::Subscriptions::get).
    pub async fn get(self, id: impl AsRef<str>) -> Result<Subscription> {
        let id = id.as_ref().to_owned();
        self.0.run(move |client| client.subscriptions().get(id)).await
    }
    /// As [`Subscriptions::cancel`](crate::Subscriptions::cancel).
    pub async fn cancel(self, id: impl AsRef<str>) -> Result<Subscription> {
        let id = id.as_ref().to_owned();
        self.0.run(move |client| client.subscriptions().cancel(id)).await
    }
    /// As [`Subscriptions::change_product`](crate::Subscriptions::change_product).
    pub async fn change_product(self, id: impl AsRef<str>, product_id: i64) -> Result<Subscription> {
        let id = id.as_ref().to_owned();
        self.0.run(move |client| client.subscriptions().change_product(id, product_id)).await
    }
    /// As [`Subscriptions::charge`](crate::Subscriptions::charge).
    pub async fn charge(
        self,
        id: impl AsRef<str>,
        product_id: i64,
        cents: i64,
        options: ChargeOptions,
    ) -> Result<Order> {
        let id = id.as_ref().to_owned();
        self.0.run(move |client| client.subscriptions().charge(id, product_id, cents, options)).await
    }
    /// As [`Subscriptions::orders`](crate::Subscriptions::orders).
    pub fn orders(self, id: impl AsRef<str>, query: OrderQuery) -> Result<AsyncList<Order>> {
        let (client, ends) = self.0.cancellable()?;
        Ok(AsyncList::of(client.subscriptions().orders(id, query)?, ends, &self.0.slots))
    }
    /// As [`Subscriptions::find_charges`](crate::Subscriptions::find_charges), but takes the error.
    pub async fn find_charges(self, charge: Arc<Error>, search: ChargeSearch) -> Result<Vec<Order>> {
        self.0.run(move |client| client.subscriptions().find_charges(&charge, search)).await
    }
    /// As [`Subscriptions::find_charges_since`](crate::Subscriptions::find_charges_since).
    pub async fn find_charges_since(
        self,
        id: impl AsRef<str>,
        since: Timestamp,
        search: ChargeSearch,
    ) -> Result<Vec<Order>> {
        let id = id.as_ref().to_owned();
        self.0.run(move |client| client.subscriptions().find_charges_since(id, since, search)).await
    }
}

group!(
    /// [`Products`](crate::Products), awaited.
    AsyncProducts
);

impl AsyncProducts<'_> {
    /// As [`Products::list`](crate::Products::list).
    pub fn list(self, query: ProductQuery) -> Result<AsyncList<Product>> {
        let (client, ends) = self.0.cancellable()?;
        Ok(AsyncList::of(client.products().list(query)?, ends, &self.0.slots))
    }
    /// As [`Products::get`](crate::Products::get).
    pub async fn get(self, id: i64) -> Result<Product> {
        self.0.run(move |client| client.products().get(id)).await
    }
    /// As [`Products::update`](crate::Products::update).
    pub async fn update(self, id: i64, changes: ProductChanges) -> Result<Product> {
        self.0.run(move |client| client.products().update(id, changes)).await
    }
    /// As [`Products::delete`](crate::Products::delete).
    pub async fn delete(self, id: i64) -> Result<()> {
        self.0.run(move |client| client.products().delete(id)).await
    }
}

group!(
    /// [`Orders`](crate::Orders), awaited.
    AsyncOrders
);

impl AsyncOrders<'_> {
    /// As [`Orders::get`](crate::Orders::get).
    pub async fn get(self, id: impl AsRef<str>) -> Result<Order> {
        let id = id.as_ref().to_owned();
        self.0.run(move |client| client.orders().get(id)).await
    }
}

group!(
    /// [`WebhookEndpoints`](crate::WebhookEndpoints), awaited.
    AsyncWebhookEndpoints
);

impl AsyncWebhookEndpoints<'_> {
    /// As [`WebhookEndpoints::create`](crate::WebhookEndpoints::create).
    pub async fn create(self, url: &str) -> Result<Response> {
        let url = url.to_owned();
        self.0.run(move |client| client.webhook_endpoints().create(&url)).await
    }
}
