//! The operations that core/interface does not generate.

use super::options::no_change;
use super::{ChargeSearch, ProductChanges, Products, RequestOptions, Subscriptions, page::items};
use crate::error::{Error, ErrorCode, Result};
use crate::ffi::Operation;
use crate::{Order, Product, Timestamp};

impl Subscriptions<'_> {
    /// Returns the orders that a charge of unknown outcome may have made: the subscription's orders since the charge
    /// was sent, latest first. The argument `charge` is the error that the failed charge returned; for the error of
    /// another call the method fails with [`ErrorCode::InvalidArgument`].
    ///
    /// The [`total`](Order::total) of the charge's order is amount times quantity (cents without VAT). If the search
    /// does not find the charge's order, the charge was not made, or the service is still processing it. Wait as long
    /// as the service may need to process a charge, then search again. Charge again only if the second search does not
    /// find the charge's order. Fails with [`ErrorCode::PossiblyMissed`] when orders may be missing: see
    /// [`Error::found_charges`].
    pub fn find_charges(self, charge: &Error, search: ChargeSearch) -> Result<Vec<Order>> {
        let charge = charge.as_native().ok_or_else(no_charge)?;
        let search = search.given.into_optional()?;
        items(&self.client.run(|client, call| client.find_charges(charge, search.as_ref(), call))?)
    }
    /// Like [`Self::find_charges`], but takes an instant instead of the error, for example because a crash lost the
    /// error. Returns the subscription's orders created at or after `since`, which is a time on the service's clock
    /// and is rounded down to a second. The method refuses the option [`ChargeSearch::skew`]: pass an earlier instant
    /// instead.
    pub fn find_charges_since(self, id: impl AsRef<str>, since: Timestamp, search: ChargeSearch) -> Result<Vec<Order>> {
        let (micros, search) = (since.unix_micros(), search.given.into_optional()?);
        items(&self.client.run(|client, call| client.find_charges_since(id.as_ref(), micros, search.as_ref(), call))?)
    }
}

impl Products<'_> {
    /// Changes only the given fields, and returns the product after the change. The request is sent at most once. An
    /// update without any field fails with [`ErrorCode::InvalidArgument`].
    pub fn update(self, id: i64, changes: ProductChanges) -> Result<Product> {
        let operation = Operation::update(id, changes)?;
        self.client.run(|client, call| client.perform(&operation, call)?.resource()).map(Product::own)
    }
}

/// The operations of which both clients make the same from their arguments.
impl Operation {
    pub(crate) fn update(id: i64, changes: ProductChanges) -> Result<Self> {
        let changes = changes.given.into_optional()?.ok_or_else(no_change)?;
        Self::new("products.update")?.integer("id", id)?.options(Some(&changes))
    }
    pub(crate) fn request(method: &str, path: &str, options: RequestOptions) -> Result<Self> {
        let options = options.given.into_optional()?;
        Self::new("request")?.text("method", method)?.text("path", path)?.options(options.as_ref())
    }
}

pub(crate) fn no_charge() -> Error {
    Error::new(ErrorCode::InvalidArgument, "find_charges takes the error of a charge whose outcome is unknown")
}
