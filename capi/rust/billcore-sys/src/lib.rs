//! The C ABI of billcore: declarations only, generated from the C headers. The crate `billcore` is a safe wrapper of
//! these declarations.
//!
//! Each function is documented in its C header, and the rules for all functions are at the top of `billcore.h`. This
//! crate has no getters for single fields, because in C the getters are inline functions. To read a field by its name,
//! call [`billcore_resource_text`] or a related function.

#![no_std]
#![allow(
    non_camel_case_types,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    clippy::all,
    clippy::pedantic
)]

// The linker takes the compiled libraries only if the program names their crate.
#[cfg(feature = "vendored")]
use billcore_src as _;

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
