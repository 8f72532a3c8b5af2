//! Reads many records by their ids.

use billcore::{AsyncMany, Error, Got, Item, Many, ManyOptions};
use serde::Serialize;
use serde_json::Value;

use crate::client::Raw;
use crate::reading::{Json, json, received};
use crate::{Arguments, Failure, Outcome, awaited, described};

/// An id that the client takes as text, as the request has it.
pub struct TextId {
    given: Value,
    text: String,
}

impl AsRef<str> for TextId {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl From<TextId> for Value {
    fn from(id: TextId) -> Self {
        id.given
    }
}

pub fn text_ids(args: &Arguments) -> Vec<TextId> {
    let given = args.get::<Vec<Value>>("ids").unwrap_or_default().into_iter();
    given.map(|given| TextId { text: given.as_str().map_or_else(|| given.to_string(), str::to_owned), given }).collect()
}

pub fn many_options(args: &Arguments) -> ManyOptions {
    let mut options = ManyOptions::new();
    if let Some(calls) = args.get("concurrency") {
        options = options.concurrency(calls);
    }
    if let Some(ordered) = args.get("ordered") {
        options = options.ordered(ordered);
    }
    options
}

pub fn many<T: Item + Raw, I: Iterator<Item: Into<Value>>>(many: Many<T, I>) -> Outcome {
    all(many)
}
pub fn many_awaited<T: Item + Raw, I: Iterator<Item: Into<Value>>>(mut many: AsyncMany<T, I>) -> Outcome {
    all(std::iter::from_fn(|| awaited(many.next())))
}

fn all<T: Raw, I: Into<Value>>(results: impl Iterator<Item = Result<Got<I, T>, Error>>) -> Outcome {
    let mut items: Vec<Json> = Vec::new();
    for got in results {
        match got {
            Ok(got) => items.push(shown(got)?),
            Err(error) => return Err(Failure::Listing { error, items, state: None }),
        }
    }
    Ok(json(items))
}

#[derive(Serialize)]
struct Shown {
    id: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

fn shown<T: Raw, I: Into<Value>>(got: Got<I, T>) -> Result<Json, Error> {
    let (ok, error) = match got.value {
        Ok(record) => (Some(received(record.raw_text()?)), None),
        Err(error) => (None, Some(described(error.into()))),
    };
    Ok(json(Shown { id: got.id.into(), ok, error }))
}
