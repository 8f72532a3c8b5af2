//! The client half.

mod by_hand;
mod call;
mod cancel;
mod hooks;
mod list;
mod operations;
mod options;
mod page;
mod response;
mod settings;
#[cfg(feature = "tracing")]
mod tracing;

use std::fmt;
use std::sync::Arc;

pub use self::call::CallOptions;
pub use self::cancel::CancelToken;
pub use self::hooks::{Attempt, Hooks};
pub use self::list::{Item, List, Pages, Verdict};
pub use self::operations::*;
pub use self::options::{ChargeSearch, RequestOptions};
pub(crate) use self::page::items;
pub use self::page::{Cell, Page, Pagination};
pub use self::response::Response;
pub use self::settings::*;
#[cfg(feature = "tracing")]
pub use self::tracing::TracingHooks;

use crate::error::Result;
use crate::ffi::{HookContext, NativeClient, Options};

/// Makes the calls. It is cheap to clone, and any number of threads may share one: clones share the connections.
///
/// ```
/// fn shared<T: Send + Sync + Clone>() {}
/// shared::<billcore::Client>();
/// ```
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    call: CallOptions,
}

/// Dropped in this order: the library's client, then the hooks that it may call.
struct Shared {
    native: NativeClient,
    hooks: Option<Arc<HookContext>>,
}

impl Client {
    /// Its options; [`ClientOptions::build`] makes the client.
    pub fn options() -> ClientOptions {
        ClientOptions::new()
    }
    /// A client with the address in `BILLCORE_BASE_URL` and the key in `BILLCORE_API_KEY`. It connects to nothing yet.
    pub fn from_env() -> Result<Self> {
        ClientOptions::new().build()
    }
    fn make(native: NativeClient, hooks: Option<Arc<HookContext>>) -> Self {
        Self { shared: Arc::new(Shared { native, hooks }), call: CallOptions::new() }
    }
    /// A client that differs in these options and shares everything else, connections included.
    /// [`ErrorCode::Config`](crate::ErrorCode::Config) when one cannot work, or the client is closed.
    pub fn with_options(&self, changes: ClientChanges) -> Result<Self> {
        let native = self.shared.native.with_options(&changes.given.into_native()?)?;
        Ok(Self { call: self.call.clone(), ..Self::make(native, self.shared.hooks.clone()) })
    }
    /// This client, whose calls take these options: for one call, `client.with_call(call).orders().get(id)`. What an earlier
    /// `with_call` has set and this one does not, such as a token, stays.
    #[must_use]
    pub fn with_call(&self, call: CallOptions) -> Self {
        Self { shared: Arc::clone(&self.shared), call: call.over(&self.call) }
    }
    #[cfg(feature = "tokio")]
    pub(crate) fn call(&self) -> &CallOptions {
        &self.call
    }
    /// Closes idle connections. Calls that are running finish, lists that were begun go on as far as they have fetched, and
    /// later calls give [`ErrorCode::Config`](crate::ErrorCode::Config), of all clones. Closing again does nothing. A client
    /// made by [`Client::with_options`] leaves the connections to the one it was made from.
    pub fn close(&self) -> Result<()> {
        self.shared.native.close()
    }

    /// A request of your own. method: GET, POST, PUT, PATCH or DELETE; everything but GET is a write, sent at most once. path:
    /// below the base URL, begins with a slash, already encoded, no query.
    pub fn request(&self, method: &str, path: &str, options: RequestOptions) -> Result<Response> {
        let options = options.given.into_optional()?;
        self.run(|client, call| Response::own(client.request(method, path, options.as_ref(), call)?))
    }

    /// Makes one call.
    fn run<T>(&self, operation: impl FnOnce(&NativeClient, Option<&Options>) -> Result<T>) -> Result<T> {
        let call = self.call.native()?;
        operation(&self.shared.native, call.as_ref())
    }
}

/// No address and no key.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("call", &self.call).finish_non_exhaustive()
    }
}
