//! The client for the REST interface.

mod by_hand;
mod call;
mod cancel;
mod hooks;
mod list;
mod many;
mod operations;
mod options;
mod page;
mod response;
mod settings;
#[cfg(feature = "tracing")]
mod tracing;

use std::fmt;
use std::sync::Arc;

#[cfg(feature = "_aio")]
pub(crate) use self::by_hand::no_charge;
pub use self::call::CallOptions;
pub use self::cancel::CancelToken;
#[cfg(feature = "_aio")]
pub(crate) use self::cancel::Triggered;
pub use self::hooks::{Attempt, Hooks};
pub use self::list::{Item, List, Pages, Verdict};
pub use self::many::{Got, Many, ManyOptions};
#[cfg(feature = "_aio")]
pub(crate) use self::many::{Ids, Read, Taken};
pub use self::operations::*;
pub(crate) use self::options::Settings;
pub use self::options::{ChargeSearch, RequestOptions};
pub(crate) use self::page::items;
pub use self::page::{Cell, Page, Pagination};
pub use self::response::Response;
pub use self::settings::*;
#[cfg(feature = "tracing")]
pub use self::tracing::TracingHooks;

use crate::error::Result;
use crate::ffi::{NativeClient, Operation, Options};

/// A client of the billing service. A `Client` is cheap to clone, and any number of threads may share it. Clones share
/// the connections.
///
/// ```
/// fn shared<T: Send + Sync + Clone>() {}
/// shared::<billcore::Client>();
/// ```
#[derive(Clone)]
pub struct Client {
    native: Arc<NativeClient>,
    call: CallOptions,
}

impl Client {
    /// Returns the options of a new client; [`ClientOptions::build`] makes the client.
    pub fn options() -> ClientOptions {
        ClientOptions::new()
    }
    /// Makes a client with the base URL in `BILLCORE_BASE_URL` and the API key in `BILLCORE_API_KEY`, without
    /// connecting.
    pub fn from_env() -> Result<Self> {
        ClientOptions::new().build()
    }
    fn make(native: NativeClient) -> Self {
        Self { native: Arc::new(native), call: CallOptions::new() }
    }
    /// Makes a second client that differs from `self` only in the given options. `self` and the second client share the
    /// connections. Fails with [`ErrorCode::Config`](crate::ErrorCode::Config) when an option is invalid or the client
    /// is closed.
    pub fn with_options(&self, changes: ClientChanges) -> Result<Self> {
        let native = self.native.with_options(&changes.given.into_native()?)?;
        Ok(Self { call: self.call.clone(), ..Self::make(native) })
    }
    /// Returns a client whose calls use the options `call`. For a single call:
    /// `client.with_call(call).orders().get(id)`. If `self` was made by `with_call`, its call options, such as a token,
    /// still apply unless `call` sets them.
    #[must_use]
    pub fn with_call(&self, call: CallOptions) -> Self {
        Self { native: Arc::clone(&self.native), call: call.over(&self.call) }
    }
    #[cfg(feature = "_aio")]
    pub(crate) fn parts(&self) -> (&NativeClient, &CallOptions) {
        (&self.native, &self.call)
    }
    /// Closes idle connections. Running calls finish, and existing lists still return the pages that they have already
    /// fetched. Later calls fail with [`ErrorCode::Config`](crate::ErrorCode::Config), also on all clones. Closing
    /// again does nothing. Closing a client made by [`Client::with_options`] closes no connections: the connections
    /// belong to the original client.
    pub fn close(&self) -> Result<()> {
        self.native.close()
    }

    /// Sends a request to any path. `method` is GET, POST, PUT, PATCH or DELETE. A request with a method other than
    /// GET counts as a write, which is sent at most once. `path` is relative to the base URL and begins with a slash;
    /// it is already percent-encoded and has no query.
    pub fn request(&self, method: &str, path: &str, options: RequestOptions) -> Result<Response> {
        let operation = Operation::request(method, path, options)?;
        self.run(|client, call| Response::own(client.perform(&operation, call)?.response()?))
    }

    /// Runs `operation` with the C library's client and with the call options of `self`.
    fn run<T>(&self, operation: impl FnOnce(&NativeClient, Option<&Options>) -> Result<T>) -> Result<T> {
        let call = self.call.native()?;
        operation(&self.native, call.as_ref())
    }
}

/// The `Debug` text of a client shows neither the address nor the key.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("call", &self.call).finish_non_exhaustive()
    }
}
