//! The C ABI of billcore: declarations only, generated from its headers. The crate `billcore` makes these declarations
//! safe to use.
//!
//! Each function is documented in its C header, and the rules for all functions are at the top of `billcore.h`. This
//! crate has no getter for a single field, because in C these are inline functions: call [`billcore_resource_text`] or
//! a related function with the field's name.

#![no_std]
#![allow(
    non_camel_case_types,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    clippy::all,
    clippy::pedantic
)]

mod names;
pub use names::*;

mod webhook;
pub use webhook::*;

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
pub use client::*;

#[cfg(feature = "client")]
mod operations;
#[cfg(feature = "client")]
pub use operations::*;
