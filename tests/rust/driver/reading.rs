//! Follows a path through a resource with the typed getters.

use std::fmt;

use billcore::{Error, Id, Result, Timestamp, Value};
use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::described;

/// JSON text that becomes part of a reply.
#[derive(Clone, Serialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get())
    }
}

pub fn json(from: impl Serialize) -> Json {
    Json(to_raw_value(&from).expect("it is JSON"))
}

/// JSON as received, but on one line: a line break would end the reply.
pub fn received(raw: &str) -> Json {
    let one_line = raw.replace(['\n', '\r'], " ");
    Json(RawValue::from_string(one_line).expect("it is JSON"))
}

/// A resource or a part of one.
pub trait Readable {
    fn whole(&self) -> Result<Value>;
    /// Calls the getter with this name; `None` if there is no such getter.
    fn typed(&self, name: &str, rest: &[&str]) -> Option<Result<Json>>;
}

pub fn follow(from: &impl Readable, steps: &[&str]) -> Result<Json> {
    let [name, rest @ ..] = steps else { return plain(Some(from.whole()?)) };
    from.typed(name, rest).unwrap_or_else(|| plain(from.whole()?.find(&steps.join("."))?))
}

pub fn plain(value: Option<Value>) -> Result<Json> {
    value.map_or_else(|| Ok(json(())), |value| Ok(received(value.raw()?)))
}

pub fn id(id: Id<'_>) -> Json {
    json(json!({"id": id.as_str(), "is_integer": id.is_integer()}))
}

pub fn time(found: Result<Option<Timestamp>>, raw: Result<Option<Value>>) -> Result<Json> {
    let Some(found) = found? else { return Ok(json(())) };
    let raw = raw?.map(|value| value.text().map(str::to_owned)).transpose()?;
    Ok(json(json!({"text": raw, "unix_micros": found.unix_micros()})))
}

/// The item at an index that is given as text.
pub fn item<'a, T>(all: &'a [T], index: &str) -> Result<&'a T> {
    let found = index.parse::<usize>().ok().and_then(|index| all.get(index));
    // For an index beyond the last item, the library itself returns an error.
    found.map_or_else(|| Err(no_item(index)), Ok)
}

fn no_item(index: &str) -> Error {
    let body = billcore::webhook::parse_unverified(br#"{"name":"test.hook","data":[]}"#).expect("an event");
    let data = body.raw_data().expect("data").expect("an array");
    data.at(index.parse().unwrap_or(usize::MAX)).expect_err("an empty array has no items")
}

pub fn items<T: Readable>(all: &[T], raw: Result<Option<Value>>, rest: &[&str]) -> Result<Json> {
    match rest {
        [] => plain(raw?),
        [index, rest @ ..] => follow(item(all, index)?, rest),
    }
}

pub fn part<T: Readable>(found: Option<T>, rest: &[&str]) -> Result<Json> {
    found.as_ref().map_or_else(|| Ok(json(())), |part| follow(part, rest))
}

/// The value that was read, or the error as JSON.
pub fn or_error(read: Result<Json>) -> Json {
    read.unwrap_or_else(|error| json(json!({"error": described(error.into())})))
}
