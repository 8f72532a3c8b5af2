use std::fmt;
use std::sync::OnceLock;

use billcore_sys as sys;

use crate::error::{Error, ErrorCode, Result};
use crate::ffi::NativeEvent;
use crate::resource::Part;
use crate::{EventType, Id, Order, Product, ProductGroup, Resource, Subscription, Timestamp, Value};

/// What a webhook delivers. It is immutable. Service interface: Events, Envelope.
pub struct Event {
    native: NativeEvent,
    data: OnceLock<EventData>,
}

/// What an event is about.
#[derive(Debug)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum EventData {
    Subscription(Subscription),
    Order(Order),
    Product(Product),
    ProductGroup(ProductGroup),
    /// An object of a test.hook or of an event that this version does not know.
    Resource(Resource),
    /// Any other JSON.
    Value(Value),
    /// Null or absent.
    None,
}

macro_rules! data_of {
    ($($(#[$doc:meta])* $method:ident, $kind:ident, $number:ident;)*) => {$(
        $(#[$doc])*
        pub fn $method(&self) -> Result<&$kind> {
            if let EventData::$kind(data) = self.data()? {
                return Ok(data);
            }
            // The library says what is there instead.
            Err(self.native.resource(sys::$number).err().unwrap_or_else(other_kind))
        }
    )*};
}

#[cold]
fn other_kind() -> Error {
    Error::new(ErrorCode::Decode, "the event's data is of another kind")
}

impl Event {
    pub(crate) fn own(native: NativeEvent) -> Self {
        Self { native, data: OnceLock::new() }
    }
    fn fields(&self) -> Part<'_> {
        Part::whole(&self.native)
    }
    /// The delivery's id, the key to drop duplicates with; not for [`EventType::TestHook`], whose id is 0.
    pub fn id(&self) -> Result<Id<'_>> {
        self.fields().id("id")
    }
    /// The name as received, such as "order.paid".
    pub fn name(&self) -> Result<&str> {
        self.fields().text("name")
    }
    /// The name as a type; [`EventType::Unknown`] for any other name, which is ordinary.
    pub fn event_type(&self) -> EventType {
        EventType::of_number(self.native.kind().unwrap_or(0))
    }
    /// Integer id of the account. It is not the UUID of the base URL.
    pub fn account(&self) -> Result<i64> {
        self.fields().integer("account")
    }
    /// When the event was generated.
    pub fn created_at(&self) -> Result<Timestamp> {
        self.fields().time("created_at")
    }
    /// The body as received: what [`webhook::parse_unverified`](crate::webhook::parse_unverified) takes.
    pub fn raw(&self) -> Result<&[u8]> {
        self.native.raw()
    }
    /// The whole envelope as plain JSON.
    pub fn to_value(&self) -> Result<Value> {
        self.native.value().map(Value::own)
    }

    /// What the event is about, as its type says.
    pub fn data(&self) -> Result<&EventData> {
        if let Some(data) = self.data.get() {
            return Ok(data);
        }
        let kind = self.native.data_kind()?;
        let resource = || self.native.resource(kind);
        let made = match kind {
            sys::BILLCORE_DATA_NONE => EventData::None,
            sys::BILLCORE_DATA_SUBSCRIPTION => EventData::Subscription(Subscription::own(resource()?)),
            sys::BILLCORE_DATA_ORDER => EventData::Order(Order::own(resource()?)),
            sys::BILLCORE_DATA_PRODUCT => EventData::Product(Product::own(resource()?)),
            sys::BILLCORE_DATA_PRODUCT_GROUP => EventData::ProductGroup(ProductGroup::own(resource()?)),
            sys::BILLCORE_DATA_RESOURCE => EventData::Resource(Resource::own(resource()?)),
            _ => self.raw_data()?.map_or(EventData::None, EventData::Value),
        };
        Ok(self.data.get_or_init(|| made))
    }
    data_of! {
        /// The data of a subscription event; [`ErrorCode::Decode`](crate::ErrorCode::Decode) when it is anything else.
        subscription, Subscription, BILLCORE_DATA_SUBSCRIPTION;
        /// The data of an order event; [`ErrorCode::Decode`](crate::ErrorCode::Decode) when it is anything else.
        order, Order, BILLCORE_DATA_ORDER;
        /// The data of a product event; [`ErrorCode::Decode`](crate::ErrorCode::Decode) when it is anything else.
        product, Product, BILLCORE_DATA_PRODUCT;
        /// The data of a product group event; [`ErrorCode::Decode`](crate::ErrorCode::Decode) when it is anything else.
        product_group, ProductGroup, BILLCORE_DATA_PRODUCT_GROUP;
    }
    /// The data as plain JSON, of whatever kind; `None` when it is null or absent.
    pub fn raw_data(&self) -> Result<Option<Value>> {
        Ok(self.native.data()?.map(Value::own))
    }
    /// The data as [`Event::data`] gives it, without the event.
    pub fn into_data(self) -> Result<EventData> {
        self.data()?;
        Ok(self.data.into_inner().unwrap_or(EventData::None))
    }
}

/// Type and id; nothing of a customer.
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

/// The body as received.
#[cfg(feature = "serde")]
impl serde::Serialize for Event {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error;
        let raw = self.raw().map_err(S::Error::custom)?;
        crate::value::serialized(Ok(std::str::from_utf8(raw).map_err(S::Error::custom)?), serializer)
    }
}
