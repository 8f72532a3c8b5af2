//! The client for tokio: calls on tokio's threads for blocking work, ended by a token when nobody waits for them any more.

mod by_hand;
mod list;
mod operations;

use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, spawn_blocking};

pub use self::list::AsyncList;
pub use self::operations::*;
use crate::client::{CancelToken, Client, RequestOptions, Response};
use crate::error::{Error, ErrorCode, Result};

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
