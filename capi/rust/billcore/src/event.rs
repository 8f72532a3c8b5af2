use std::fmt;
use std::sync::OnceLock;

use crate::error::{Error, ErrorCode, Result};
use crate::ffi::NativeEvent;
use crate::resource::Part;
use crate::{EventData, EventType, Id, Timestamp, Value};

/// The event that a webhook delivers. An `Event` is immutable. Service interface: Events, Envelope.
pub struct Event {
    native: NativeEvent,
    data: OnceLock<EventData>,
}

/// The error that the library returns when the event's data is not of the kind `kind`.
#[cold]
pub(crate) fn other_kind(event: &Event, kind: i32) -> Error {
    let known = event.native.resource(kind).err();
    known.unwrap_or_else(|| Error::new(ErrorCode::Decode, "the event's data is of another kind"))
}

impl Event {
    pub(crate) fn own(native: NativeEvent) -> Self {
        Self { native, data: OnceLock::new() }
    }
    fn fields(&self) -> Part<'_> {
        Part::whole(&self.native)
    }
    /// The delivery's id. Use the id to drop duplicates, except for [`EventType::TestHook`], whose id is 0.
    pub fn id(&self) -> Result<Id<'_>> {
        self.fields().id("id")
    }
    /// The name as received, such as "order.paid".
    pub fn name(&self) -> Result<&str> {
        self.fields().text("name")
    }
    /// The event's name as an enum. A name that this version does not know gives [`EventType::Unknown`], not an
    /// error.
    pub fn event_type(&self) -> EventType {
        EventType::of_number(self.native.kind().unwrap_or(0))
    }
    /// Integer id of the account. (The base URL does not contain this id, but the account's UUID.)
    pub fn account(&self) -> Result<i64> {
        self.fields().integer("account")
    }
    /// When the service generated the event.
    pub fn created_at(&self) -> Result<Timestamp> {
        self.fields().time("created_at")
    }
    /// Fails with [`ErrorCode::Decode`] if a receiver cannot store the event once under its account and id; the receiver
    /// then answers 400. The account must be an integer. The name, the id and, if the data of a known event has one, the
    /// id in the data must have 1 to 200 characters and no control character. Of [`EventType::TestHook`] only the name is
    /// reliable, so `require_claimable` accepts each one. The `WebhookLayer` calls this method.
    pub fn require_claimable(&self) -> Result<()> {
        self.native.require_claimable()
    }
    /// The body as received. Pass the body to [`webhook::parse_unverified`](crate::webhook::parse_unverified) to read
    /// the event again later.
    pub fn raw(&self) -> Result<&[u8]> {
        self.native.raw()
    }
    /// The whole event envelope as a JSON value.
    pub fn to_value(&self) -> Result<Value> {
        self.native.value().map(Value::own)
    }

    /// The event's data, as the enum variant for its kind.
    pub fn data(&self) -> Result<&EventData> {
        if let Some(data) = self.data.get() {
            return Ok(data);
        }
        let kind = self.native.data_kind()?;
        let made = match EventData::of_resource(kind, || self.native.resource(kind))? {
            Some(made) => made,
            None => self.raw_data()?.map_or(EventData::None, EventData::Value),
        };
        Ok(self.data.get_or_init(|| made))
    }
    /// The event's data, of any kind, as a JSON value; `None` when the data is null or absent.
    pub fn raw_data(&self) -> Result<Option<Value>> {
        Ok(self.native.data()?.map(Value::own))
    }
    /// Consumes the event and returns its data as [`Event::data`] does.
    pub fn into_data(self) -> Result<EventData> {
        self.data()?;
        Ok(self.data.into_inner().unwrap_or(EventData::None))
    }
}

/// The `Debug` text shows the event's type and id, without customer data.
impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Event");
        out.field("type", &self.event_type());
        if let Ok(id) = self.id() {
            out.field("id", &id);
        }
        out.finish_non_exhaustive()
    }
}

/// Serialises the event as the JSON body that was received.
#[cfg(feature = "serde")]
impl serde::Serialize for Event {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error;
        let raw = self.raw().map_err(S::Error::custom)?;
        crate::value::serialized(Ok(std::str::from_utf8(raw).map_err(S::Error::custom)?), serializer)
    }
}
