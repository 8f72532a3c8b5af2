//! The interface to the C library, with all unsafe code of this crate. Each C handle is owned by one Rust value, whose
//! `drop` frees the handle. A text borrowed from a handle has the lifetime of the handle's owner. The C headers state
//! a thread rule for each type: types marked "immutable" or "shared" are `Send` and `Sync` in Rust, types for "one
//! thread at a time" are only `Send`.

#![allow(unsafe_code)]

#[cfg(feature = "client")]
mod client;
mod error;
mod json;
#[cfg(feature = "client")]
mod operation;
mod resource;
mod webhook;

use std::ptr::{self, NonNull};
use std::{ffi::CStr, slice, str};

use billcore_sys as sys;

#[cfg(feature = "client")]
pub(crate) use self::{client::*, operation::Operation};
pub(crate) use self::{
    error::NativeError,
    json::{NativeItems, NativeValue},
    resource::*,
    webhook::*,
};
use crate::error::{Error, ErrorCode, Result};

type Err = *mut *mut sys::billcore_error;

/// Declares a Rust type that owns a C handle. The thread rules `immutable` and `shared` allow any number of threads at
/// once; `single` allows one thread at a time.
macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $raw:ident, $free:ident, $rule:ident) => {
        $(#[$doc])*
        pub(crate) struct $name(std::ptr::NonNull<billcore_sys::$raw>);
        impl $name {
            /// Takes ownership of a new handle.
            #[allow(dead_code)]
            pub(super) fn own(raw: std::ptr::NonNull<billcore_sys::$raw>) -> Self {
                Self(raw)
            }
            pub(super) fn get(&self) -> *mut billcore_sys::$raw {
                self.0.as_ptr()
            }
        }
        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the handle is owned by this value alone, and nothing borrows from it any more.
                unsafe { billcore_sys::$free(self.get()) }
            }
        }
        // SAFETY: no object of the library is bound to the thread that made it.
        unsafe impl Send for $name {}
        crate::ffi::handle!(@$rule $name);
    };
    (@single $name:ident) => {};
    (@immutable $name:ident) => {
        // SAFETY: the C header says "Threads: immutable" of this type: any number of threads may use an object at once.
        unsafe impl Sync for $name {}
    };
    (@shared $name:ident) => {
        // SAFETY: the C header says "Threads: shared" of this type: any number of threads may pass an object to
        // functions at once.
        unsafe impl Sync for $name {}
    };
}
pub(crate) use handle;

/// The result of one step of an iteration.
pub(crate) enum Step<T> {
    Item(T),
    Done,
}

/// Calls a function of the library that may fail.
fn check(call: impl FnOnce(Err) -> i32) -> Result<()> {
    let mut error = ptr::null_mut();
    let status = call(&raw mut error);
    if status == sys::BILLCORE_OK { Ok(()) } else { Err(failed(status, error)) }
}

#[cold]
fn failed(status: i32, error: *mut sys::billcore_error) -> Error {
    match NonNull::new(error) {
        Some(error) => Error::native(NativeError::own(error)),
        None => Error::of_status(status), // the C library had no memory for an error object
    }
}

/// Calls a function of the library that returns a new handle.
fn made<T, H>(own: impl FnOnce(NonNull<T>) -> H, call: impl FnOnce(*mut *mut T, Err) -> i32) -> Result<H> {
    let mut out = ptr::null_mut();
    check(|error| call(&raw mut out, error))?;
    NonNull::new(out).map(own).ok_or_else(nothing)
}

/// Calls a function of the library that returns the next handle of an iteration.
fn next<T, H>(own: impl FnOnce(NonNull<T>) -> H, call: impl FnOnce(*mut *mut T, Err) -> i32) -> Result<Step<H>> {
    let (mut out, mut error) = (ptr::null_mut(), ptr::null_mut());
    match call(&raw mut out, &raw mut error) {
        sys::BILLCORE_OK => NonNull::new(out).map(own).map(Step::Item).ok_or_else(nothing),
        sys::BILLCORE_DONE => Ok(Step::Done),
        status => Err(failed(status, error)),
    }
}

fn nothing() -> Error {
    Error::new(ErrorCode::Internal, "the C library gave nothing where it said that it succeeded")
}

fn text_in(text: &str) -> sys::billcore_str {
    bytes_in(text.as_bytes())
}

/// Passes bytes to the library for one call: the library copies the bytes that it keeps.
fn bytes_in(bytes: &[u8]) -> sys::billcore_str {
    sys::billcore_str { data: bytes.as_ptr().cast(), len: bytes.len() }
}

const NO_TEXT: sys::billcore_str = sys::billcore_str { data: ptr::null(), len: 0 };

/// Returns bytes that the library owns, without copying them.
///
/// # Safety
/// The bytes must stay valid and unchanged for the lifetime `'a` that the caller chooses for the result.
unsafe fn bytes_out<'a>(from: sys::billcore_str) -> &'a [u8] {
    if from.data.is_null() {
        return &[];
    }
    // SAFETY: the library returned a valid pointer and length; the caller guarantees the lifetime.
    unsafe { slice::from_raw_parts(from.data.cast(), from.len) }
}

/// Returns text that the library owns, as [`bytes_out`] returns bytes. The library's texts are UTF-8; for invalid
/// UTF-8, `text_out` returns the part before the first invalid byte.
///
/// # Safety
/// The requirements are the same as for [`bytes_out`].
unsafe fn text_out<'a>(from: sys::billcore_str) -> &'a str {
    // SAFETY: the caller of `text_out` guarantees the requirements of `bytes_out`.
    let bytes = unsafe { bytes_out(from) };
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(fault) => str::from_utf8(&bytes[..fault.valid_up_to()]).unwrap_or(""),
    }
}

/// Copies a buffer that the C library allocated for this crate, then frees the buffer.
fn owned(mut from: sys::billcore_buf) -> Vec<u8> {
    // SAFETY: this function owns the buffer until it frees the buffer below.
    let out = unsafe { bytes_out(sys::billcore_str { data: from.data, len: from.len }) }.to_vec();
    // SAFETY: the buffer was made by the library and is freed once.
    unsafe { sys::billcore_buf_free(&raw mut from) };
    out
}

fn owned_text(from: sys::billcore_buf) -> String {
    String::from_utf8_lossy(&owned(from)).into_owned()
}

/// The version of the C library that the program loaded at run time.
pub(crate) fn library_version() -> &'static str {
    // SAFETY: the function takes no arguments, and its text is never freed.
    unsafe { CStr::from_ptr(sys::billcore_version()) }.to_str().unwrap_or("")
}

/// The version of the C headers from which this crate's declarations were generated.
pub(crate) fn header_version() -> &'static str {
    sys::BILLCORE_VERSION.to_str().unwrap_or("")
}
