//! The asynchronous operations that core/interface does not generate.

use std::sync::Arc;

use super::{AsyncProducts, AsyncSubscriptions};
use crate::client::{ChargeSearch, ProductChanges};
use crate::error::{Error, Result};
use crate::{Order, Product, Timestamp};

impl AsyncSubscriptions<'_> {
    /// Asynchronous form of [`Subscriptions::find_charges`](crate::Subscriptions::find_charges); takes the error in an
    /// `Arc`.
    pub async fn find_charges(self, charge: Arc<Error>, search: ChargeSearch) -> Result<Vec<Order>> {
        self.0.run(move |client| client.subscriptions().find_charges(&charge, search)).await
    }
    /// Asynchronous form of [`Subscriptions::find_charges_since`](crate::Subscriptions::find_charges_since).
    pub async fn find_charges_since(
        self,
        id: impl AsRef<str>,
        since: Timestamp,
        search: ChargeSearch,
    ) -> Result<Vec<Order>> {
        let id = id.as_ref().to_owned();
        self.0.run(move |client| client.subscriptions().find_charges_since(id, since, search)).await
    }
}

impl AsyncProducts<'_> {
    /// Asynchronous form of [`Products::update`](crate::Products::update).
    pub async fn update(self, id: i64, changes: ProductChanges) -> Result<Product> {
        self.0.run(move |client| client.products().update(id, changes)).await
    }
}
