//! The C ABI of billcore: declarations only, generated from its headers. The crate `billcore` makes them safe to use.
//!
//! What a function promises and asks for is said in its header, and in the list that `billcore.h` begins with. Functions of
//! single fields, which are inline in C, are not here: they call [`billcore_resource_text`] and the like with a name.

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
