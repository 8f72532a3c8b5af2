//! Code that all resources share.

use std::borrow::Cow;
use std::fmt;

use crate::error::{Error, ErrorCode, Result};
use crate::ffi;
use crate::{Id, Timestamp, Value};

/// The fields of a whole resource (then `path` is empty), or of the JSON object at `path` inside a resource.
#[derive(Clone)]
pub(crate) struct Part<'a> {
    whole: &'a ffi::Fields,
    path: Cow<'static, str>,
}

#[cold]
fn absent(name: &str) -> Error {
    Error::new(ErrorCode::Internal, format!("{name} has no value, and was not said to be absent"))
}

macro_rules! readers {
    ($($(#[$doc:meta])* $name:ident, $maybe:ident, $type:ty, $wrap:expr;)*) => {$(
        pub(crate) fn $name(&self, name: &'static str) -> Result<$type> {
            self.$maybe(name)?.ok_or_else(|| absent(name))
        }
        pub(crate) fn $maybe(&self, name: &'static str) -> Result<Option<$type>> {
            Ok(self.whole.$name(&self.name(name))?.map($wrap))
        }
    )*};
}

impl<'a> Part<'a> {
    pub(crate) fn whole(fields: &'a ffi::Fields) -> Self {
        Self { whole: fields, path: Cow::Borrowed("") }
    }
    fn name(&self, name: &'static str) -> Cow<'static, str> {
        if self.path.is_empty() { Cow::Borrowed(name) } else { Cow::Owned(format!("{}/{name}", self.path)) }
    }
    readers! {
        text, maybe_text, &'a str, |text| text;
        number, maybe_number, &'a str, |text| text;
        integer, maybe_integer, i64, |number| number;
        boolean, maybe_boolean, bool, |truth| truth;
        time, maybe_time, Timestamp, Timestamp::from_unix_micros;
        object, maybe_object, Value, Value::own;
        any, maybe_any, Value, Value::own;
    }
    pub(crate) fn id(&self, name: &'static str) -> Result<Id<'a>> {
        let (text, integer) = self.whole.id(&self.name(name))?;
        Ok(Id::new(text, integer))
    }
    pub(crate) fn list(&self, name: &'static str) -> Result<Vec<ffi::Resource>> {
        self.whole.list(&self.name(name))
    }
    pub(crate) fn integers(&self, name: &'static str) -> Result<Vec<i64>> {
        self.whole.integers(&self.name(name))
    }
    /// The object in the field `name`; an error when the field is null or absent.
    pub(crate) fn part(&self, name: &'static str) -> Result<Part<'a>> {
        self.maybe_part(name)?.ok_or_else(|| absent(name))
    }
    pub(crate) fn maybe_part(&self, name: &'static str) -> Result<Option<Part<'a>>> {
        let found = self.maybe_object(name)?;
        Ok(found.map(|_| Part { whole: self.whole, path: Cow::Owned(format!("{}/{name}", self.path)) }))
    }
    /// The JSON object at `path`, as a `Value`.
    pub(crate) fn value(&self) -> Result<Value> {
        let path = self.path.strip_prefix('/').unwrap_or(&self.path);
        let name = if path.contains('/') { &self.path } else { path };
        self.whole.object(name)?.map(Value::own).ok_or_else(|| absent(name))
    }
}

/// Writes the `Debug` text: the name of the type and the identifying fields, but no customer data.
pub(crate) fn describe(f: &mut fmt::Formatter<'_>, kind: &str, fields: &ffi::Fields, shown: &[&str]) -> fmt::Result {
    let mut out = f.debug_struct(kind);
    for name in shown {
        if let Ok(Some(value)) = fields.field(name) {
            let value = Value::own(value);
            if let Ok(raw) = value.raw() {
                out.field(name, &format_args!("{raw}"));
            }
        }
    }
    out.finish_non_exhaustive()
}

/// Declares a type that owns a resource of the C library.
macro_rules! owned_resource {
    ($(#[$doc:meta])* $name:ident, [$($shown:literal),*]) => {
        $(#[$doc])*
        ///
        /// A resource is immutable, and may outlive its list or event. An item of a list keeps its whole page in
        /// memory.
        pub struct $name(crate::ffi::Resource);

        impl $name {
            #[allow(dead_code)]
            pub(crate) fn own(native: crate::ffi::Resource) -> Self {
                Self(native)
            }
            #[allow(dead_code)]
            pub(crate) fn native(&self) -> &crate::ffi::Resource {
                &self.0
            }
            #[allow(dead_code)]
            fn fields(&self) -> crate::resource::Part<'_> {
                crate::resource::Part::whole(&self.0)
            }
            /// The JSON text as received.
            pub fn raw(&self) -> crate::Result<&str> {
                self.0.raw()
            }
            /// The whole resource as a JSON value.
            pub fn to_value(&self) -> crate::Result<crate::Value> {
                self.0.value().map(crate::Value::own)
            }
            /// The field with this name, even a field for which this version has no method. A field that is null gives
            /// a null value.
            pub fn field(&self, name: &str) -> crate::Result<Option<crate::Value>> {
                Ok(self.0.field(name)?.map(crate::Value::own))
            }
            /// Whether the resource has a field of this name, null or not.
            pub fn contains(&self, name: &str) -> crate::Result<bool> {
                self.0.contains(name)
            }
            /// Whether both resources are equal as JSON.
            pub fn equal(&self, other: &Self) -> crate::Result<bool> {
                self.0.equal(&other.0)
            }
            /// A copy that keeps only its own text in memory, whereas an item of a list keeps its whole page in memory.
            pub fn copy(&self) -> crate::Result<Self> {
                self.0.copy().map(Self)
            }
            /// Information on the answer that contained the resource; `None` for the data of an event.
            pub fn response_info(&self) -> crate::Result<Option<crate::ResponseInfo>> {
                Ok(self.0.response_info()?.map(crate::ResponseInfo::own))
            }
        }

        /// Writes the `Debug` text: the name of the type and the identifying fields, but no customer data.
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                crate::resource::describe(f, stringify!($name), &self.0, &[$($shown),*])
            }
        }

        /// The JSON text as received.
        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                crate::value::serialized(self.raw(), serializer)
            }
        }
    };
}
pub(crate) use owned_resource;

/// Declares a type that borrows a nested JSON object of a resource.
macro_rules! borrowed_part {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name<'a>(crate::resource::Part<'a>);

        impl<'a> $name<'a> {
            fn fields(&self) -> &crate::resource::Part<'a> {
                &self.0
            }
            /// This object as a JSON value.
            pub fn to_value(&self) -> crate::Result<crate::Value> {
                self.0.value()
            }
        }

        /// The `Debug` text shows only the name of the type.
        impl std::fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        /// The JSON text as received.
        #[cfg(feature = "serde")]
        impl serde::Serialize for $name<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(&self.to_value().map_err(serde::ser::Error::custom)?, serializer)
            }
        }
    };
}
pub(crate) use borrowed_part;

owned_resource!(
    /// An object that has no type of its own: the data of a test.hook event, or of an event that this version does
    /// not know.
    Resource, []
);

impl crate::Subscription {
    /// Whether the subscription is still paid for at the instant `at`. The method returns false for the statuses
    /// pending, future_start, unpaid and expired. In the statuses trialing, active, delayed and cancelled, the
    /// subscription is usable until [`ends_at`](Self::ends_at). If `ends_at` is null, the method returns false for a
    /// cancelled subscription, and true for the statuses trialing, active and delayed. Fails with
    /// [`ErrorCode::MissingField`] when `ends_at` is needed but absent, as in a reduced webhook payload; then get the
    /// subscription by its id. Fails with [`ErrorCode::Decode`] for a status that this version does not know. Service
    /// interface: States and transitions.
    pub fn usable_at(&self, at: Timestamp) -> Result<bool> {
        self.native().usable_at(at.unix_micros())
    }
}

/// Status, header fields, number of attempts and request id of the answer that contained a result.
pub struct ResponseInfo(ffi::NativeInfo);

impl ResponseInfo {
    pub(crate) fn own(native: ffi::NativeInfo) -> Self {
        Self(native)
    }
    /// HTTP status.
    pub fn status(&self) -> Result<u16> {
        Ok(self.0.status()?.try_into().unwrap_or(0))
    }
    /// How many attempts the request took.
    pub fn attempts(&self) -> Result<u32> {
        Ok(self.0.attempts()?.try_into().unwrap_or(0))
    }
    /// Whether the request was a write that may have been sent after its deadline, because the process or the machine
    /// was stopped while the library sent it.
    pub fn is_sent_late(&self) -> Result<bool> {
        self.0.sent_late()
    }
    /// Value of the request id header; `None` when the answer has no such header.
    pub fn request_id(&self) -> Result<Option<&str>> {
        Ok(Some(self.0.request_id()?).filter(|text| !text.is_empty()))
    }
    /// Value of the first header field with the name `name` (case does not matter). Bytes that are not UTF-8 are
    /// replaced by U+FFFD.
    pub fn header(&self, name: &str) -> Result<Option<Cow<'_, str>>> {
        Ok(self.0.header(name)?.map(String::from_utf8_lossy))
    }
    /// The header fields in the order received, with names in lower case.
    pub fn headers(&self) -> Result<Vec<(&str, Cow<'_, str>)>> {
        (0..self.0.header_count()?)
            .map(|index| self.0.header_at(index).map(|(name, value)| (name, String::from_utf8_lossy(value))))
            .collect()
    }
}

/// The `Debug` text shows only the status, because header values may be private.
impl fmt::Debug for ResponseInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseInfo").field("status", &self.status().ok()).finish_non_exhaustive()
    }
}
