//! The interface to the C library, with all unsafe code of this crate. Each C handle is owned by one Rust value, whose
//! `drop` frees the handle. A text borrowed from a handle has the lifetime of the handle's owner. The C headers state
//! a thread rule for each type: types marked "immutable" or "shared" are `Send` and `Sync` in Rust, types for "one
//! thread at a time" are only `Send`.

#![allow(unsafe_code)]

#[cfg(feature = "client")]
mod client;
mod error;
mod json;
#[cfg(feature = "_aio")]
mod loops;
#[cfg(feature = "client")]
mod many;
#[cfg(feature = "client")]
mod operation;
mod resource;
mod webhook;

use std::{ffi::CStr, ptr, slice, str};

use billcore_sys as sys;

#[cfg(feature = "_aio")]
pub(crate) use self::loops::*;
#[cfg(feature = "client")]
pub(crate) use self::{client::*, many::*, operation::*};
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
        crate::ffi::passed!($name, $raw, |raw| $name(raw));
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

/// Says how a type that owns a handle is passed to the library and made of a handle that the library returns.
macro_rules! passed {
    ($name:ident, $raw:ident, |$new:ident| $own:expr) => {
        impl crate::ffi::Output for $name {
            type Native = *mut billcore_sys::$raw;
            const EMPTY: Self::Native = std::ptr::null_mut();
            unsafe fn of(native: Self::Native) -> crate::Result<Self> {
                std::ptr::NonNull::new(native).map(|$new| $own).ok_or_else(crate::ffi::nothing)
            }
        }
        impl crate::ffi::Input for &$name {
            type Native = *mut billcore_sys::$raw;
            fn native(self) -> Self::Native {
                self.get()
            }
        }
    };
}
pub(crate) use passed;

/// Declares methods of an owner of a handle. Each method calls the function of the library after the `=`, with the
/// handle, the arguments, and a pointer for each output: for the result, and for whether an `Option` has one.
macro_rules! calls {
    ($owner:ident;) => {};
    (
        $owner:ident; $(#[$meta:meta])*
        fn $name:ident(&$this:ident $(, $arg:ident: $type:ty)*) -> Option<$out:ty> = $function:ident; $($rest:tt)*
    ) => {
        impl $owner {
            $(#[$meta])*
            pub(crate) fn $name(&$this $(, $arg: $type)*) -> crate::Result<Option<$out>> {
                let (mut out, mut present) = (<$out as crate::ffi::Output>::EMPTY, true);
                // SAFETY: the handle is valid; if its type allows one thread at a time, this type is not `Sync`. The
                // arguments are valid during the call, and the output pointers are valid.
                crate::ffi::check(|error| unsafe {
                    let (out, present) = (&raw mut out, &raw mut present);
                    billcore_sys::$function($this.get() $(, crate::ffi::Input::native($arg))*, out, present, error)
                })?;
                // SAFETY: what the result borrows is valid as long as the owner of the handle, which it borrows.
                if present { unsafe { crate::ffi::Output::of(out) }.map(Some) } else { Ok(None) }
            }
        }
        crate::ffi::calls!($owner; $($rest)*);
    };
    (
        $owner:ident; $(#[$meta:meta])*
        fn $name:ident(&$this:ident $(, $arg:ident: $type:ty)*) -> Step<$out:ty> = $function:ident; $($rest:tt)*
    ) => {
        impl $owner {
            $(#[$meta])*
            pub(crate) fn $name(&$this $(, $arg: $type)*) -> crate::Result<crate::ffi::Step<$out>> {
                // SAFETY: as above.
                crate::ffi::next(|out, error| unsafe {
                    billcore_sys::$function($this.get() $(, crate::ffi::Input::native($arg))*, out, error)
                })
            }
        }
        crate::ffi::calls!($owner; $($rest)*);
    };
    (
        $owner:ident; $(#[$meta:meta])*
        fn $name:ident(&$this:ident $(, $arg:ident: $type:ty)*) -> $out:ty = $function:ident; $($rest:tt)*
    ) => {
        impl $owner {
            $(#[$meta])*
            pub(crate) fn $name(&$this $(, $arg: $type)*) -> crate::Result<$out> {
                // SAFETY: as above.
                crate::ffi::made(|out, error| unsafe {
                    billcore_sys::$function($this.get() $(, crate::ffi::Input::native($arg))*, out, error)
                })
            }
        }
        crate::ffi::calls!($owner; $($rest)*);
    };
    (
        $owner:ident; $(#[$meta:meta])*
        fn $name:ident(&$this:ident $(, $arg:ident: $type:ty)*) = $function:ident; $($rest:tt)*
    ) => {
        impl $owner {
            $(#[$meta])*
            pub(crate) fn $name(&$this $(, $arg: $type)*) -> crate::Result<()> {
                // SAFETY: as above.
                crate::ffi::check(|error| unsafe {
                    billcore_sys::$function($this.get() $(, crate::ffi::Input::native($arg))*, error)
                })
            }
        }
        crate::ffi::calls!($owner; $($rest)*);
    };
}
pub(crate) use calls;

/// What a function of the library takes for a value. The library copies the texts that it keeps.
pub(crate) trait Input {
    type Native;
    fn native(self) -> Self::Native;
}

/// A result of a function of the library, made of what the function writes to an output parameter.
pub(crate) trait Output: Sized {
    type Native;
    const EMPTY: Self::Native;
    /// # Safety
    /// The function has succeeded, and has written `native`. The caller chooses a lifetime for the result during which
    /// a text that the library owns is valid and unchanged.
    unsafe fn of(native: Self::Native) -> Result<Self>;
}

macro_rules! numbers {
    ($($type:ident = $empty:literal),*) => {$(
        impl Input for $type {
            type Native = Self;
            fn native(self) -> Self {
                self
            }
        }
        impl Output for $type {
            type Native = Self;
            const EMPTY: Self = $empty;
            unsafe fn of(native: Self) -> Result<Self> {
                Ok(native)
            }
        }
    )*};
}
numbers!(bool = false, i32 = 0, i64 = 0, u64 = 0, usize = 0, f64 = 0.0);

impl Input for &[u8] {
    type Native = sys::billcore_str;
    fn native(self) -> Self::Native {
        sys::billcore_str { data: self.as_ptr().cast(), len: self.len() }
    }
}

impl Input for &str {
    type Native = sys::billcore_str;
    fn native(self) -> Self::Native {
        self.as_bytes().native()
    }
}

impl Input for Option<&[u8]> {
    type Native = sys::billcore_str;
    fn native(self) -> Self::Native {
        self.map_or(NO_TEXT, Input::native)
    }
}

impl Output for &[u8] {
    type Native = sys::billcore_str;
    const EMPTY: Self::Native = NO_TEXT;
    unsafe fn of(native: Self::Native) -> Result<Self> {
        // SAFETY: the caller of `of` keeps the text alive for as long as it uses the result.
        Ok(unsafe { bytes_out(native) })
    }
}

impl Output for &str {
    type Native = sys::billcore_str;
    const EMPTY: Self::Native = NO_TEXT;
    unsafe fn of(native: Self::Native) -> Result<Self> {
        // SAFETY: the caller of `of` keeps the text alive for as long as it uses the result.
        Ok(unsafe { text_out(native) })
    }
}

impl Output for String {
    type Native = sys::billcore_buf;
    const EMPTY: Self::Native = sys::billcore_buf { data: ptr::null_mut(), len: 0 };
    unsafe fn of(mut native: Self::Native) -> Result<Self> {
        // SAFETY: this function owns the buffer until it frees the buffer below.
        let bytes = unsafe { bytes_out(sys::billcore_str { data: native.data, len: native.len }) };
        let out = String::from_utf8_lossy(bytes).into_owned();
        // SAFETY: the buffer was made by the library and is freed once.
        unsafe { sys::billcore_buf_free(&raw mut native) };
        Ok(out)
    }
}

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
    // SAFETY: the library has returned a new error.
    match unsafe { NativeError::of(error) } {
        Ok(error) => Error::native(error),
        Err(_) => Error::of_status(status), // the C library had no memory for an error object
    }
}

/// Calls a function of the library that has one output.
fn made<T: Output>(call: impl FnOnce(*mut T::Native, Err) -> i32) -> Result<T> {
    let mut out = T::EMPTY;
    check(|error| call(&raw mut out, error))?;
    // SAFETY: the function has succeeded; the caller borrows the result from the owner of the handle.
    unsafe { T::of(out) }
}

/// Calls a function of the library that returns the next item of an iteration.
fn next<T: Output>(call: impl FnOnce(*mut T::Native, Err) -> i32) -> Result<Step<T>> {
    let (mut out, mut error) = (T::EMPTY, ptr::null_mut());
    match call(&raw mut out, &raw mut error) {
        // SAFETY: the function has succeeded; the caller borrows the result from the owner of the handle.
        sys::BILLCORE_OK => unsafe { T::of(out) }.map(Step::Item),
        sys::BILLCORE_DONE => Ok(Step::Done),
        status => Err(failed(status, error)),
    }
}

fn nothing() -> Error {
    Error::new(ErrorCode::Internal, "the C library gave nothing where it said that it succeeded")
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

/// The version of the C library that the program loaded at run time.
pub(crate) fn library_version() -> &'static str {
    // SAFETY: the function takes no arguments, and its text is never freed.
    unsafe { CStr::from_ptr(sys::billcore_version()) }.to_str().unwrap_or("")
}

/// The version of the C headers from which this crate's declarations were generated.
pub(crate) fn header_version() -> &'static str {
    sys::BILLCORE_VERSION.to_str().unwrap_or("")
}
