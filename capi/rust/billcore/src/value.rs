use std::fmt;

use billcore_sys as sys;

use crate::error::Result;
use crate::ffi::{NativeItems, NativeValue, Step};

/// The kind of a JSON value. A number with a fraction or an exponent is `Real`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Kind {
    Null,
    Boolean,
    Integer,
    Real,
    String,
    Array,
    Object,
}

/// A JSON value as received: a view of a document that the value keeps in memory. A getter fails with
/// [`ErrorCode::Decode`](crate::ErrorCode::Decode) when the value is of another kind; the error contains the value's
/// path.
pub struct Value(NativeValue);

impl Value {
    pub(crate) fn own(native: NativeValue) -> Self {
        Self(native)
    }
    /// The kind of the value.
    pub fn kind(&self) -> Result<Kind> {
        Ok(match self.0.kind()? {
            sys::BILLCORE_KIND_BOOLEAN => Kind::Boolean,
            sys::BILLCORE_KIND_INTEGER => Kind::Integer,
            sys::BILLCORE_KIND_REAL => Kind::Real,
            sys::BILLCORE_KIND_STRING => Kind::String,
            sys::BILLCORE_KIND_ARRAY => Kind::Array,
            sys::BILLCORE_KIND_OBJECT => Kind::Object,
            _ => Kind::Null,
        })
    }
    /// The value of a boolean.
    pub fn boolean(&self) -> Result<bool> {
        self.0.boolean()
    }
    /// The value of an integer. Fails with [`ErrorCode::OutOfRange`](crate::ErrorCode::OutOfRange) for a number beyond
    /// 64 bits; then read its digits with [`Value::raw`].
    pub fn integer(&self) -> Result<i64> {
        self.0.integer()
    }
    /// The value of a number, integer or real, rounded to an `f64`.
    pub fn real(&self) -> Result<f64> {
        self.0.real()
    }
    /// A string's text, unescaped.
    pub fn text(&self) -> Result<&str> {
        self.0.text()
    }
    /// The JSON text exactly as received.
    pub fn raw(&self) -> Result<&str> {
        self.0.raw()
    }
    /// Path of the value in its document, such as `data.images[0]`; empty for the whole document.
    pub fn path(&self) -> Result<String> {
        self.0.path()
    }
    /// How many items or members the value has; 0 for kinds other than array and object.
    pub fn count(&self) -> Result<usize> {
        self.0.count()
    }
    /// The item of an array at `index`, counted from 0. Fails with
    /// [`ErrorCode::InvalidArgument`](crate::ErrorCode::InvalidArgument) for an index beyond the last item.
    pub fn at(&self, index: usize) -> Result<Value> {
        self.0.at(index).map(Self)
    }
    /// The object's last member with this name. `None` when the object has no member with this name, or the value is
    /// not an object.
    pub fn find(&self, name: &str) -> Result<Option<Value>> {
        Ok(self.0.find(name)?.map(Self))
    }
    /// An iterator over the items of an array or the members of an object, in the order received; empty for other
    /// kinds.
    pub fn members(&self) -> Result<Members> {
        self.0.items().map(Members)
    }
    /// A second handle of the same value, made without copying the JSON.
    pub fn copy(&self) -> Result<Value> {
        self.0.copy().map(Self)
    }
    /// Whether both values are equal as JSON. The order of an object's members does not matter; 1 and 1.0 differ.
    pub fn equal(&self, other: &Value) -> Result<bool> {
        self.0.equal(&other.0)
    }
    /// Deserialises the value into a type of your own. The resource types of this crate do not implement
    /// `Deserialize`:
    ///
    /// ```
    /// fn read<T: serde::de::DeserializeOwned>() {}
    /// read::<Vec<String>>();
    /// ```
    /// ```compile_fail
    /// fn read<T: serde::de::DeserializeOwned>() {}
    /// read::<billcore::Order>();
    /// ```
    #[cfg(feature = "serde")]
    pub fn deserialize<T: serde::de::DeserializeOwned>(&self) -> Result<T> {
        crate::value::parsed(self.raw()?.as_bytes())
    }
}

/// Deserialises a JSON text with `serde_json`.
#[cfg(feature = "serde")]
pub(crate) fn parsed<T: serde::de::DeserializeOwned>(json: &[u8]) -> Result<T> {
    serde_json::from_slice(json).map_err(|fault| {
        crate::Error::new(crate::ErrorCode::Decode, format!("the JSON does not fit the type: {fault}"))
    })
}

/// Serialises JSON text as a JSON value. A serialiser for a format other than JSON receives a private struct of
/// `serde_json` that contains the raw text.
#[cfg(feature = "serde")]
pub(crate) fn serialized<S: serde::Serializer>(raw: Result<&str>, serializer: S) -> Result<S::Ok, S::Error> {
    use serde::{Serialize, ser::Error};
    let raw: &serde_json::value::RawValue = serde_json::from_str(raw.map_err(Error::custom)?).map_err(Error::custom)?;
    raw.serialize(serializer)
}

/// The JSON text as received.
#[cfg(feature = "serde")]
impl serde::Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialized(self.raw(), serializer)
    }
}

/// The `Debug` text shows only the kind, because the value may be a customer's data.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Ok(kind) => write!(f, "Value({kind:?})"),
            Err(error) => write!(f, "Value({error})"),
        }
    }
}

/// Iterates over the members of an object with their names, or the items of an array with empty names.
pub struct Members(NativeItems);

impl Iterator for Members {
    type Item = Result<(String, Value)>;
    fn next(&mut self) -> Option<Self::Item> {
        match self.0.next() {
            Ok(Step::Item((name, value))) => Some(Ok((name, Value(value)))),
            Ok(Step::Done) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Members")
    }
}
