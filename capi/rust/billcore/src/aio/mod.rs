//! The client for async programs: its calls run on a loop of the C library, without threads of their own.

mod by_hand;
mod call;
mod drive;
mod list;
mod many;
mod operations;
mod reactor;

use std::fmt;
use std::sync::Arc;

use self::call::Pending;
pub use self::list::{AsyncList, AsyncPages};
pub use self::many::AsyncMany;
pub use self::operations::*;
use self::reactor::{Engine, Outcome, Reactor};
use crate::client::{Client, RequestOptions, Response};
use crate::error::Result;
use crate::ffi::{NativePage, Operation, Options, Performed, Ticket};

/// An asynchronous [`Client`]. Any number of calls may be in flight, on one thread or on many, and none occupies a
/// thread: with the feature `tokio` a task of the runtime that awaits a call drives all calls, and with the feature
/// `async-io` the reactor of async-io does (smol, async-std, and any other executor). With both features, calls that
/// are awaited in a tokio runtime use tokio. The runtime must have I/O enabled.
///
/// Clones share the connections: as many as [`ClientOptions::max_connections`](crate::ClientOptions::max_connections)
/// says, or else 100. Further calls wait, within their time-outs, and take 2 KB of the C library each; a write that
/// waited in vain was not sent. An `AsyncClient` may be used in several runtimes, also at once.
///
/// Dropping the future of a call cancels the call at once, also if no other task awaits one. If the dropped call is a
/// write, only the hooks can find out whether the write was sent and how the service answered (see
/// [`Attempt::path`](crate::Attempt::path)). So do not wrap the future of a charge in a time-out: use
/// [`CallOptions::timeout`](crate::CallOptions::timeout), whose error tells whether the charge may have happened
/// ([`Error::outcome_unknown`](crate::Error::outcome_unknown)). A call begins, and its time-out, when its future is first
/// polled.
///
/// Hooks run on a thread that polls a call, drops its future or drives the calls. A hook may spawn a task that makes
/// calls; a call that the hook itself awaits fails with
/// [`ErrorCode::InvalidArgument`](crate::ErrorCode::InvalidArgument), because it could not end before the hook.
#[derive(Clone)]
pub struct AsyncClient {
    client: Client,
    reactor: Arc<Reactor>,
}

impl AsyncClient {
    /// Makes an asynchronous client with the options of `client`, but with connections of its own.
    pub fn new(client: Client) -> Self {
        Self { reactor: Arc::new(Reactor::new(client.clone())), client }
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
        Self { client: self.client.with_call(call), reactor: Arc::clone(&self.reactor) }
    }

    async fn start(
        &self,
        begin: impl FnOnce(&Engine, Option<&Options>) -> Result<Ticket> + Send + 'static,
    ) -> Result<Outcome> {
        let (token, call) = self.client.parts().1.on_loop()?;
        Pending::new(&self.reactor, token, None, move |engine| begin(engine, call.as_ref())).await
    }
    async fn perform(&self, operation: Operation) -> Result<Performed> {
        self.start(move |engine, call| engine.native.perform(&operation, call)).await?.performed()
    }
    async fn search(
        &self,
        begin: impl FnOnce(&Engine, Option<&Options>) -> Result<Ticket> + Send + 'static,
    ) -> Result<NativePage> {
        self.start(begin).await?.performed()?.page()
    }

    /// Asynchronous form of [`Client::request`].
    pub async fn request(&self, method: &str, path: &str, options: RequestOptions) -> Result<Response> {
        let operation = Operation::request(method, path, options)?;
        Response::own(self.perform(operation).await?.response()?)
    }
}

impl fmt::Debug for AsyncClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncClient").field("client", &self.client).finish_non_exhaustive()
    }
}
