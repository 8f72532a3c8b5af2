//! The client for tokio. Calls run on tokio's threads for blocking work. Dropping the future of a call triggers a
//! `CancelToken`, which cancels the call.

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

/// How many calls of an [`AsyncClient`] may run at once by default; see [`AsyncClient::with_limit`].
const CALLS: usize = 64;

/// An asynchronous [`Client`] for tokio. Each call runs on one of tokio's threads for blocking work, so an
/// `AsyncClient` needs a tokio runtime. Clones share the connections and the limit.
///
/// Dropping the future of a call cancels the call, which then frees its thread. If the dropped call is a write, only
/// the hooks can find out whether the write was sent and how the service answered (see
/// [`Attempt::path`](crate::Attempt::path)). So do not wrap the future of a charge in a time-out: use
/// [`CallOptions::timeout`](crate::CallOptions::timeout), whose error tells whether the charge may have happened
/// ([`Error::outcome_unknown`]).
///
/// The limit (see [`AsyncClient::with_limit`]) is the maximum number of calls that run at once. A call whose future
/// was dropped counts towards the limit until its thread is free. A call beyond the limit waits; its time-out begins
/// when the wait is over.
///
/// Each call in progress blocks one thread, because the C ABI has only blocking calls. For calls without threads, the C
/// ABI lacks functions that begin a call, return the file descriptors and the timer that the call waits for, continue
/// the call when a descriptor is ready or the timer expires, and return the result. With such functions, tokio's
/// `AsyncFd` could wait for the descriptors.
#[derive(Clone)]
pub struct AsyncClient {
    client: Client,
    slots: Arc<Semaphore>,
}

/// Triggers a cancel token when the `Trigger` is dropped.
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

/// The error of a blocking task that ended without a result. If the task panicked, `ended` raises that panic again.
fn ended(error: JoinError) -> Error {
    if error.is_panic() {
        resume_unwind(error.into_panic());
    }
    gone()
}

impl AsyncClient {
    /// Wraps `client`; at most 64 calls run at once.
    pub fn new(client: Client) -> Self {
        Self::with_limit(client, CALLS)
    }
    /// Wraps `client`; at most `calls` calls run at once. Each call occupies one of the runtime's threads for blocking
    /// work, of which tokio has 512 by default.
    pub fn with_limit(client: Client, calls: usize) -> Self {
        let calls = calls.clamp(1, Semaphore::MAX_PERMITS);
        Self { client, slots: Arc::new(Semaphore::new(calls)) }
    }
    /// Makes a client with the base URL in `BILLCORE_BASE_URL` and the API key in `BILLCORE_API_KEY`, without
    /// connecting.
    pub fn from_env() -> Result<Self> {
        Client::from_env().map(Self::new)
    }
    /// The wrapped client; its calls block.
    pub fn client(&self) -> &Client {
        &self.client
    }
    /// Returns a client whose calls use the options `call`: see [`Client::with_call`].
    #[must_use]
    pub fn with_call(&self, call: crate::CallOptions) -> Self {
        Self { client: self.client.with_call(call), slots: Arc::clone(&self.slots) }
    }
    /// Makes a copy of the wrapped client for one call. Dropping the returned `Trigger` cancels the copy's calls.
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

    /// Asynchronous form of [`Client::request`].
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
