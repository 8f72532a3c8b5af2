use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// An opaque id of a record, borrowed from the resource that contains it. Two ids are equal when their texts are equal,
/// because the same id may be an integer in a webhook and a string in the REST interface. Operations accept an `Id` or
/// any text.
#[derive(Clone, Copy)]
pub struct Id<'a> {
    text: &'a str,
    integer: bool,
}

impl<'a> Id<'a> {
    pub(crate) fn new(text: &'a str, integer: bool) -> Self {
        Self { text, integer }
    }
    /// The id as text, for storing and comparing.
    pub fn as_str(self) -> &'a str {
        self.text
    }
    /// Whether the id was received as a JSON integer.
    pub fn is_integer(self) -> bool {
        self.integer
    }
}

impl Deref for Id<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        self.text
    }
}

impl AsRef<str> for Id<'_> {
    fn as_ref(&self) -> &str {
        self.text
    }
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl fmt::Debug for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.text, f)
    }
}

impl PartialEq for Id<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Id<'_> {}

impl Hash for Id<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl PartialEq<str> for Id<'_> {
    fn eq(&self, other: &str) -> bool {
        self.text == other
    }
}

impl PartialEq<&str> for Id<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

impl From<Id<'_>> for String {
    fn from(id: Id<'_>) -> Self {
        id.text.to_owned()
    }
}
