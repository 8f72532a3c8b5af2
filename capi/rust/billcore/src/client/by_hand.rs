//! The operations that are not generated.

use super::options::no_change;
use super::{ChargeSearch, ProductChanges, Products, Subscriptions, page::items};
use crate::error::{Error, ErrorCode, Result};
use crate::{Order, Product, Timestamp};

impl Subscriptions<'_> {
    /// The orders that a charge of unknown outcome may have made: the subscription's since then, latest first. `charge` is its
    /// error; [`ErrorCode::InvalidArgument`] for an error of another call or of a known outcome. The charge's order has a
    /// [`total`](Order::total) of amount times quantity (cents without VAT). None: the charge was not made, or the service is
    /// still processing it, so search again after the time that it may need; charge again only when the later search also
    /// finds none. [`ErrorCode::PossiblyMissed`] when orders may be missing: see [`Error::found_charges`].
    pub fn find_charges(self, charge: &Error, search: ChargeSearch) -> Result<Vec<Order>> {
        let charge = charge.as_native().ok_or_else(|| {
            Error::new(ErrorCode::InvalidArgument, "find_charges takes the error of a charge whose outcome is unknown")
        })?;
        let search = search.given.into_optional()?;
        items(&self.client.run(|client, call| client.find_charges(charge, search.as_ref(), call))?)
    }
    /// The same without an error, for example after a crash: the subscription's orders created at or after this instant by the
    /// service's clock, rounded down to a second. A skew is refused: pass an earlier instant.
    pub fn find_charges_since(self, id: impl AsRef<str>, since: Timestamp, search: ChargeSearch) -> Result<Vec<Order>> {
        let (micros, search) = (since.unix_micros(), search.given.into_optional()?);
        items(&self.client.run(|client, call| client.find_charges_since(id.as_ref(), micros, search.as_ref(), call))?)
    }
}

impl Products<'_> {
    /// Changes the given fields only; none at all is [`ErrorCode::InvalidArgument`]. Sent at most once. It gives the product as
    /// it is now.
    pub fn update(self, id: i64, changes: ProductChanges) -> Result<Product> {
        let changes = changes.given.into_optional()?.ok_or_else(no_change)?;
        self.client.run(|client, call| client.product_update(id, Some(&changes), call)).map(Product::own)
    }
}
