use super::options::no_change;
use super::{
    ChargeOptions, ChargeSearch, Client, List, OrderQuery, ProductChanges, ProductQuery, Response, SubscriptionQuery,
    page::items,
};
use crate::error::{Error, ErrorCode, Result};
use crate::{Order, Product, Subscription, Timestamp};

macro_rules! group {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a> {
            client: &'a Client,
        }
        impl<'a> $name<'a> {
            pub(super) fn of(client: &'a Client) -> Self {
                Self { client }
            }
        }
    };
}

group!(
    /// Subscriptions of the account. Service interface: Endpoints, Subscriptions.
    Subscriptions
);

impl Subscriptions<'_> {
    /// All subscriptions, or those of [`SubscriptionQuery::reference_id`]. Sends nothing yet.
    pub fn list(self, query: SubscriptionQuery) -> Result<List<Subscription>> {
        let query = query.given.into_optional()?;
        List::make(self.client, |client, call| client.subscriptions(query.as_ref(), call))
    }
    /// A subscription by its id.
    pub fn get(self, id: impl AsRef<str>) -> Result<Subscription> {
        self.client.run(|client, call| client.subscription_get(id.as_ref(), call)).map(Subscription::own)
    }
    /// Ends billing at once; the subscription may stay active until [`Subscription::ends_at`]. Sent at most once. It gives the
    /// subscription as it is now.
    pub fn cancel(self, id: impl AsRef<str>) -> Result<Subscription> {
        self.client.run(|client, call| client.subscription_cancel(id.as_ref(), call)).map(Subscription::own)
    }
    /// Swaps the product for another one of the account. Sent at most once. It gives the subscription as it is now.
    pub fn change_product(self, id: impl AsRef<str>, product_id: i64) -> Result<Subscription> {
        self.client
            .run(|client, call| client.subscription_change_product(id.as_ref(), product_id, call))
            .map(Subscription::own)
    }
    /// Bills a one-off amount, in cents, through the subscription's billing method; `product_id` is a one-time product of the
    /// account. Sent at most once. [`ErrorCode::Payment`] when the service refuses the charge; where
    /// [`Error::outcome_unknown`] is true it may or may not have been made: see [`Subscriptions::find_charges`].
    pub fn charge(self, id: impl AsRef<str>, product_id: i64, cents: i64, options: ChargeOptions) -> Result<Order> {
        let options = options.given.into_optional()?;
        self.client
            .run(|client, call| client.subscription_charge(id.as_ref(), product_id, cents, options.as_ref(), call))
            .map(Order::own)
    }
    /// The subscription's orders, latest first. Sends nothing yet.
    pub fn orders(self, id: impl AsRef<str>, query: OrderQuery) -> Result<List<Order>> {
        let query = query.given.into_optional()?;
        List::make(self.client, |client, call| client.orders(id.as_ref(), query.as_ref(), call))
    }
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

group!(
    /// Products of the account. Service interface: Endpoints, Products.
    Products
);

impl Products<'_> {
    /// All products. Sends nothing yet.
    pub fn list(self, query: ProductQuery) -> Result<List<Product>> {
        let query = query.given.into_optional()?;
        List::make(self.client, |client, call| client.products(query.as_ref(), call))
    }
    /// A product by its id.
    pub fn get(self, id: i64) -> Result<Product> {
        self.client.run(|client, call| client.product_get(id, call)).map(Product::own)
    }
    /// Changes the given fields only; none at all is [`ErrorCode::InvalidArgument`]. Sent at most once. It gives the product as
    /// it is now.
    pub fn update(self, id: i64, changes: ProductChanges) -> Result<Product> {
        let changes = changes.given.into_optional()?.ok_or_else(no_change)?;
        self.client.run(|client, call| client.product_update(id, Some(&changes), call)).map(Product::own)
    }
    /// Deletes a product, softly. Sent at most once.
    pub fn delete(self, id: i64) -> Result<()> {
        self.client.run(|client, call| client.product_delete(id, call))
    }
}

group!(
    /// Orders of the account. Service interface: Endpoints, Orders.
    Orders
);

impl Orders<'_> {
    /// An order by its id.
    pub fn get(self, id: impl AsRef<str>) -> Result<Order> {
        self.client.run(|client, call| client.order_get(id.as_ref(), call)).map(Order::own)
    }
}

group!(
    /// Receivers of events. Service interface: Endpoints, Webhook endpoints.
    WebhookEndpoints
);

impl WebhookEndpoints<'_> {
    /// Registers a URL that receives signed events. Sent at most once. The answer does not hold the secret: read it from the
    /// admin UI. [`ErrorCode::Validation`] when the URL is invalid or already registered.
    pub fn create(self, url: &str) -> Result<Response> {
        self.client.run(|client, call| Response::own(client.endpoint_create(url, call)?))
    }
}
