//! The code that all option types share, and the options that core/interface does not generate.

use std::time::Duration;

use super::{Client, ClientOptions, Hooks, ProductChanges};
use crate::error::{Error, ErrorCode, Result};
use crate::ffi::{HookContext, NativeClient, Options, OptionsKind};
use crate::timestamp::milliseconds;

/// The C library's options object, or the first error that one of its setters returned.
pub(crate) struct Settings {
    native: Result<Options>,
    empty: bool,
}

impl Settings {
    pub(super) fn new(kind: OptionsKind) -> Self {
        Self { native: Options::new(kind), empty: true }
    }
    pub(super) fn set(&mut self, to: impl FnOnce(&Options) -> Result<()>) {
        self.empty = false;
        if let Ok(native) = &self.native {
            if let Err(error) = to(native) {
                self.native = Err(error);
            }
        }
    }
    pub(super) fn into_native(self) -> Result<Options> {
        self.native
    }
    /// `None` when no option was set.
    pub(crate) fn into_optional(self) -> Result<Option<Options>> {
        let empty = self.empty;
        Ok(Some(self.native?).filter(|_| !empty))
    }
}

impl Options {
    pub(super) fn set_milliseconds(&self, name: &str, length: Duration) -> Result<()> {
        self.set_integer(name, milliseconds(length))
    }
    pub(super) fn set_count(&self, name: &str, count: impl TryInto<i64>) -> Result<()> {
        self.set_integer(name, count.try_into().unwrap_or(i64::MAX))
    }
}

/// Declares a type of options; core/interface generates the setters.
macro_rules! options {
    ($(#[$doc:meta])* $name:ident, $kind:expr) => {
        $(#[$doc])*
        ///
        /// A setter returns no error: when a value is invalid, the call that takes the options returns the error.
        #[must_use]
        pub struct $name {
            pub(crate) given: crate::client::Settings,
        }

        impl $name {
            /// Makes options of which none is set.
            pub fn new() -> Self {
                Self { given: crate::client::Settings::new($kind) }
            }
            #[allow(dead_code)]
            pub(super) fn set(mut self, to: impl FnOnce(&crate::ffi::Options) -> crate::Result<()>) -> Self {
                self.given.set(to);
                self
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        /// The `Debug` text shows no values, because some are secret.
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}
pub(super) use options;

impl ClientOptions {
    /// Sets the hooks, which the client calls for every attempt of every call.
    pub fn hooks(self, hooks: impl Hooks + 'static) -> Self {
        self.set(|to| to.set_hooks(&HookContext::new(hooks)))
    }
    /// Makes the client without connecting. Fails with [`ErrorCode::Config`] when an option is missing or invalid.
    pub fn build(self) -> Result<Client> {
        crate::version::loaded()?;
        Ok(Client::make(NativeClient::new(&self.given.native?)?))
    }
}

impl ProductChanges {
    /// Sets the field with this name to null.
    pub fn null(self, field: &str) -> Self {
        self.json(field, "null")
    }
    /// Sets the field with this name, even a field that has no setter, to a JSON text. The client sends the digits of
    /// numbers unchanged.
    pub fn json(self, field: &str, json: &str) -> Self {
        self.set(|to| to.set_json(field, json))
    }
    /// Sets the field with this name to `value`, serialised with serde.
    #[cfg(feature = "serde")]
    pub fn field<T: serde::Serialize + ?Sized>(self, field: &str, value: &T) -> Self {
        self.set(|to| to.set_json(field, &json_of(value)?))
    }
}

options!(
    /// Options of a search for the orders of a charge.
    ChargeSearch, OptionsKind::ChargeSearch
);

impl ChargeSearch {
    /// Also finds orders that were created up to this long before the charge. If the local clock and the service's
    /// clock differ, the search uses the earlier time of the charge. The default is five minutes. Only
    /// [`Subscriptions::find_charges`](crate::Subscriptions::find_charges) accepts a skew.
    pub fn skew(self, skew: Duration) -> Self {
        self.set(|to| to.set_milliseconds("skew_ms", skew))
    }
    /// Restricts the search to orders of this product.
    pub fn product_id(self, product_id: i64) -> Self {
        self.set(|to| to.set_integer("product_id", product_id))
    }
}

options!(
    /// Query and body of a request made with [`Client::request`].
    RequestOptions, OptionsKind::Request
);

impl RequestOptions {
    /// Adds a query parameter, which the client encodes. The client sends the parameters in the order in which they
    /// were added.
    pub fn query(self, name: &str, value: &str) -> Self {
        self.set(|to| to.add("query", name, value))
    }
    /// Sets the body, as JSON text.
    pub fn json(self, json: &str) -> Self {
        self.set(|to| to.set_json("json", json))
    }
    /// Sets the body to `body`, serialised with serde as JSON.
    #[cfg(feature = "serde")]
    pub fn body<T: serde::Serialize + ?Sized>(self, body: &T) -> Self {
        self.set(|to| to.set_json("json", &json_of(body)?))
    }
    /// Makes [`Client::request`] return every complete answer, so that a status 4xx or 5xx is not an error.
    pub fn accept_all_statuses(self) -> Self {
        self.set(|to| to.set_flag("raise_on_error", false))
    }
}

#[cfg(feature = "serde")]
fn json_of<T: serde::Serialize + ?Sized>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|fault| Error::new(ErrorCode::InvalidArgument, format!("not JSON: {fault}")))
}

/// Returns the error of an update that has no field to change.
pub(super) fn no_change() -> Error {
    Error::new(ErrorCode::InvalidArgument, "update changes no field: give at least one, such as ProductChanges::price")
}
