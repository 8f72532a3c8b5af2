//! A client for the billing service and a verifier for its webhooks, built on the C library of billcore.
//!
//! ```no_run
//! use billcore::{Client, SubscriptionQuery};
//!
//! # fn main() -> billcore::Result<()> {
//! let client = Client::from_env()?; // uses BILLCORE_BASE_URL and BILLCORE_API_KEY
//! for subscription in client.subscriptions().list(SubscriptionQuery::new().reference_id("demo-active"))? {
//!     let subscription = subscription?;
//!     println!("{} {}", subscription.id()?, subscription.status()?);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! - **Errors** are one type, [`Error`]. [`Error::outcome_unknown`] is true when the library cannot know whether the
//!   service has done a write. Before you send a write of unknown outcome again, check whether it was done (for a
//!   charge, with [`Subscriptions::find_charges`]). A write that fails with [`ErrorCode::Decode`] was done, but the
//!   service's answer does not match the service interface. After [`ErrorCode::OutOfMemory`] the caller cannot know
//!   whether the write was done. If `outcome_unknown` is false and the code is not `Decode` or `OutOfMemory`, the
//!   write was not done.
//! - **Resources** are views of the JSON that the service sent. A getter borrows from its resource. A getter returns an
//!   error when the service sent a value that the interface does not allow, and `None` for a field that is null or
//!   absent.
//!   ```compile_fail,E0505
//!   # fn main() -> billcore::Result<()> {
//!   let event = billcore::webhook::parse_unverified(b"{}")?;
//!   let name = event.name()?;
//!   drop(event); // does not compile: `name` borrows from `event`
//!   println!("{name}");
//!   # Ok(())
//!   # }
//!   ```
//! - **Lists** are iterators ([`List`]) that fetch the next pages while the caller reads the current page.
//! - **Cancelling**: each call can have a [`CancelToken`], a time-out and a deadline ([`CallOptions`]).
//! - **Webhooks**: see [`webhook`]. The module `webhook` does not need the feature `client`.
//! - **Async**: the features `tokio` and `async-io` add the type `AsyncClient`, which makes thousands of calls at once
//!   without a thread of its own.
//!
//! The constructors of clients and verifiers check that the crate and the C library have the same major and minor
//! version.

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod codes;
mod error;
mod event;
mod event_data;
mod ffi;
mod id;
mod resource;
mod resources;
mod secret;
mod timestamp;
mod value;
mod version;
pub mod webhook;

#[cfg(feature = "_aio")]
mod aio;
#[cfg(feature = "client")]
mod client;

pub use codes::*;
pub use error::{Error, Result};
pub use event::Event;
pub use event_data::EventData;
pub use id::Id;
pub use resource::{Resource, ResponseInfo};
pub use resources::*;
pub use secret::Secret;
pub use timestamp::Timestamp;
pub use value::{Kind, Members, Value};
pub use version::VERSION;

#[cfg(feature = "_aio")]
pub use aio::*;
#[cfg(feature = "client")]
pub use client::*;
