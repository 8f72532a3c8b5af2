//! The asynchronous operations that core/interface does not generate.

use std::sync::Arc;

use super::{AsyncProducts, AsyncSubscriptions};
use crate::client::{ChargeSearch, ProductChanges, items, no_charge};
use crate::error::{Error, Result};
use crate::ffi::Operation;
use crate::{Order, Product, Timestamp};

impl AsyncSubscriptions<'_> {
    /// Asynchronous form of [`Subscriptions::find_charges`](crate::Subscriptions::find_charges); takes the error in an
    /// `Arc`.
    pub async fn find_charges(self, charge: Arc<Error>, search: ChargeSearch) -> Result<Vec<Order>> {
        let search = search.given.into_optional()?;
        let found = self.0.search(move |engine, call| {
            let charge = charge.as_native().ok_or_else(no_charge)?;
            engine.native.find_charges(charge, search.as_ref(), call)
        });
        items(&found.await?)
    }
    /// Asynchronous form of [`Subscriptions::find_charges_since`](crate::Subscriptions::find_charges_since).
    pub async fn find_charges_since(
        self,
        id: impl AsRef<str>,
        since: Timestamp,
        search: ChargeSearch,
    ) -> Result<Vec<Order>> {
        let (id, micros, search) = (id.as_ref().to_owned(), since.unix_micros(), search.given.into_optional()?);
        let found =
            self.0.search(move |engine, call| engine.native.find_charges_since(&id, micros, search.as_ref(), call));
        items(&found.await?)
    }
}

impl AsyncProducts<'_> {
    /// Asynchronous form of [`Products::update`](crate::Products::update).
    pub async fn update(self, id: i64, changes: ProductChanges) -> Result<Product> {
        let operation = Operation::update(id, changes)?;
        self.0.perform(operation).await?.resource().map(Product::own)
    }
}
