//! The C libraries of billcore, compiled from their sources. This crate has no functions for Rust: `billcore-sys`, whose
//! feature `vendored` uses this crate, declares the functions of the C libraries.

#![no_std]

// The linker takes the libraries of a crate only if the program names the crate.
#[cfg(feature = "client")]
use {curl_sys as _, libz_sys as _};

use openssl_sys as _;
