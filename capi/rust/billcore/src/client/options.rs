//! Options: what their types share, and those that are not generated.

use std::sync::Arc;
use std::time::Duration;

use super::{Client, ClientOptions, Hooks, ProductChanges};
use crate::error::{Error, ErrorCode, Result};
use crate::ffi::{HookContext, NativeClient, Options, OptionsKind};
use crate::timestamp::milliseconds;

/// The library's options while they are filled, or the first error that a setter gave.
pub(crate) struct Settings {
    native: Result<Options>,
    empty: bool,
    hooks: Option<Arc<HookContext>>,
}

impl Settings {
    pub(super) fn new(kind: OptionsKind) -> Self {
        Self { native: Options::new(kind), empty: true, hooks: None }
    }
    pub(super) fn set(&mut self, to: impl FnOnce(&mut Options) -> Result<()>) {
        self.empty = false;
        if let Ok(native) = &mut self.native {
            if let Err(error) = to(native) {
                self.native = Err(error);
            }
        }
    }
    pub(super) fn into_native(self) -> Result<Options> {
        self.native
    }
    /// None where nothing was set.
    pub(super) fn into_optional(self) -> Result<Option<Options>> {
        let empty = self.empty;
        Ok(Some(self.native?).filter(|_| !empty))
    }
}

impl Options {
    pub(super) fn set_milliseconds(&mut self, name: &str, length: Duration) -> Result<()> {
        self.set_integer(name, milliseconds(length))
    }
    pub(super) fn set_count(&mut self, name: &str, count: impl TryInto<i64>) -> Result<()> {
        self.set_integer(name, count.try_into().unwrap_or(i64::MAX))
    }
}

/// A kind of options. Its setters are generated.
macro_rules! options {
    ($(#[$doc:meta])* $name:ident, $kind:expr) => {
        $(#[$doc])*
        ///
        /// A value that the library refuses is the error of the call that takes the options.
        #[must_use]
        pub struct $name {
            pub(super) given: super::options::Settings,
        }

        impl $name {
            /// Nothing set yet.
            pub fn new() -> Self {
                Self { given: super::options::Settings::new($kind) }
            }
            #[allow(dead_code)]
            pub(super) fn set(mut self, to: impl FnOnce(&mut crate::ffi::Options) -> crate::Result<()>) -> Self {
                self.given.set(to);
                self
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        /// No value: some are secret.
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}
pub(super) use options;

impl ClientOptions {
    /// Who is told of every attempt of every call.
    pub fn hooks(mut self, hooks: impl Hooks + 'static) -> Self {
        let hooks = HookContext::new(hooks);
        self.given.set(|to| to.set_hooks(&hooks));
        self.given.hooks = Some(hooks);
        self
    }
    /// Makes the client, which connects to nothing yet. [`ErrorCode::Config`] when an option cannot work.
    pub fn build(self) -> Result<Client> {
        crate::version::loaded()?;
        let native = NativeClient::new(&self.given.native?)?;
        Ok(Client::make(native, self.given.hooks))
    }
}

impl ProductChanges {
    /// Any field to null.
    pub fn null(self, field: &str) -> Self {
        self.json(field, "null")
    }
    /// Any field, also one that has no method of its own, to any JSON text, whose numbers keep their digits.
    pub fn json(self, field: &str, json: &str) -> Self {
        self.set(|to| to.set_json(field, json))
    }
    /// Any field to what a type of yours serialises to.
    #[cfg(feature = "serde")]
    pub fn field<T: serde::Serialize + ?Sized>(self, field: &str, value: &T) -> Self {
        self.set(|to| to.set_json(field, &json_of(value)?))
    }
}

options!(
    /// What narrows a search for the orders of a charge.
    ChargeSearch, OptionsKind::ChargeSearch
);

impl ChargeSearch {
    /// How much earlier the time of the order may be than the earlier of the two clocks, the local one and the service's, when
    /// the charge was sent. Left out: five minutes. Only with the error of a charge.
    pub fn skew(self, skew: Duration) -> Self {
        self.set(|to| to.set_milliseconds("skew_ms", skew))
    }
    /// Only orders of this product.
    pub fn product_id(self, product_id: i64) -> Self {
        self.set(|to| to.set_integer("product_id", product_id))
    }
}

options!(
    /// What a request of your own carries.
    RequestOptions, OptionsKind::Request
);

impl RequestOptions {
    /// A query parameter, encoded by the client; in the order of the calls.
    pub fn query(self, name: &str, value: &str) -> Self {
        self.set(|to| to.add("query", name, value))
    }
    /// The body, as JSON text.
    pub fn json(self, json: &str) -> Self {
        self.set(|to| to.set_json("json", json))
    }
    /// The body: what a type of yours serialises to.
    #[cfg(feature = "serde")]
    pub fn body<T: serde::Serialize + ?Sized>(self, body: &T) -> Self {
        self.set(|to| to.set_json("json", &json_of(body)?))
    }
    /// Return every complete answer: a 4xx or 5xx is not an error.
    pub fn accept_all_statuses(self) -> Self {
        self.set(|to| to.set_flag("raise_on_error", false))
    }
}

#[cfg(feature = "serde")]
fn json_of<T: serde::Serialize + ?Sized>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|fault| Error::new(ErrorCode::InvalidArgument, format!("not JSON: {fault}")))
}

/// The error of an update that would change nothing.
pub(super) fn no_change() -> Error {
    Error::new(ErrorCode::InvalidArgument, "update changes no field: give at least one, such as ProductChanges::price")
}
