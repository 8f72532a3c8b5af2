use std::any::Any;
use std::ffi::c_void;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

use billcore_sys as sys;

use super::{Fields, Input, NO_TEXT, NativeValue, Resource, calls, check, handle, made, passed};
use crate::error::Result;

/// An event; the C functions for resources read its fields.
pub(crate) struct NativeEvent {
    handle: NonNull<sys::billcore_event>,
    fields: Fields,
}

// SAFETY: the C header says "Threads: immutable" of events.
unsafe impl Send for NativeEvent {}
// SAFETY: an event is immutable, so any number of threads may use it at once.
unsafe impl Sync for NativeEvent {}

// The C headers allow the functions for resources to read an event's fields. `Fields` does not free the handle.
passed!(NativeEvent, billcore_event, |raw| NativeEvent { handle: raw, fields: Fields::of(raw.cast()) });

calls! { NativeEvent;
    fn kind(&self) -> i32 = billcore_event_type;
    fn data_kind(&self) -> i32 = billcore_event_data_kind;
    fn require_claimable(&self) = billcore_event_require_claimable;
    fn raw(&self) -> &[u8] = billcore_event_raw;
    fn data(&self) -> Option<NativeValue> = billcore_event_data;
    fn resource(&self, kind: i32) -> Resource = billcore_event_resource;
}

impl NativeEvent {
    fn get(&self) -> *mut sys::billcore_event {
        self.handle.as_ptr()
    }
    pub(crate) fn parse_unverified(body: &[u8]) -> Result<Self> {
        // SAFETY: the body is valid during the call, and the output pointers are valid.
        made(|out, error| unsafe { sys::billcore_webhook_parse_unverified(body.native(), out, error) })
    }
}

impl Deref for NativeEvent {
    type Target = Fields;
    fn deref(&self) -> &Fields {
        &self.fields
    }
}

impl Drop for NativeEvent {
    fn drop(&mut self) {
        // SAFETY: the handle is owned by this value alone, and nothing borrows from it any more.
        unsafe { sys::billcore_event_free(self.handle.as_ptr()) }
    }
}

/// A clock that returns microseconds since 1970.
pub(crate) type Clock = Box<dyn Fn() -> i64 + Send + Sync>;

/// The instant that `clock` returns when the user's clock panics: it is so early that the event counts as stale.
const NO_INSTANT: i64 = i64::MIN / 2;

unsafe extern "C" fn clock(context: *mut c_void) -> i64 {
    // SAFETY: the context is the clock, which the verifier keeps alive and which is `Sync`.
    let clock = unsafe { &*context.cast::<Clock>().cast_const() };
    catch_unwind(AssertUnwindSafe(clock)).unwrap_or_else(|panic| {
        forget(panic);
        NO_INSTANT
    })
}

/// Drops the payload of a panic. If dropping the payload panics, `forget` catches the new panic, because a panic must
/// not unwind through C code.
pub(super) fn forget(mut panic: Box<dyn Any + Send>) {
    for _ in 0..4 {
        match catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            Ok(()) => return,
            Err(next) => panic = next,
        }
    }
    std::mem::forget(panic);
}

handle!(
    /// Options of a verifier.
    NativeVerifierOptions, billcore_verifier_options, billcore_verifier_options_free, single
);

calls! { NativeVerifierOptions;
    fn add_secret(&self, secret: &[u8]) = billcore_verifier_options_add_secret;
    fn add_account(&self, account: &str) = billcore_verifier_options_add_account;
    fn set_header(&self, name: &str) = billcore_verifier_options_set_header;
    fn set_max_body(&self, bytes: usize) = billcore_verifier_options_set_max_body;
    fn set_freshness_ms(&self, milliseconds: i64) = billcore_verifier_options_set_freshness_ms;
    fn allow_any_key_length(&self) = billcore_verifier_options_allow_any_key_length;
}

impl NativeVerifierOptions {
    pub(crate) fn new() -> Result<Self> {
        // SAFETY: the output pointers are valid.
        made(|out, error| unsafe { sys::billcore_verifier_options_new(out, error) })
    }
}

handle!(NativeKeys, billcore_verifier, billcore_verifier_free, shared);

/// The C verifier (`keys`) and the clock that it calls. The clock must outlive the C verifier.
pub(crate) struct NativeVerifier {
    keys: NativeKeys,
    _clock: Option<Box<Clock>>,
}

calls! { NativeVerifier;
    fn verify(&self, body: &[u8], signature: Option<&[u8]>) -> usize = billcore_verifier_verify;
    fn unwrap(&self, body: &[u8], signature: Option<&[u8]>) -> NativeEvent = billcore_verifier_unwrap;
    fn unwrap_request(&self, body: &[u8], headers: &NativeHeaders) -> NativeEvent = billcore_verifier_unwrap_request;
    fn matches(&self, secret: usize) -> u64 = billcore_verifier_matches;
    /// A stream keeps the C verifier alive. A stream never calls the clock: a verifier with a freshness check, which
    /// needs the clock, cannot make streams.
    fn stream(&self) -> NativeStream = billcore_verifier_stream_new;
}

impl NativeVerifier {
    fn get(&self) -> *mut sys::billcore_verifier {
        self.keys.get()
    }
    pub(crate) fn new(options: &NativeVerifierOptions, now: Option<Clock>) -> Result<Self> {
        let now = now.map(Box::new);
        if let Some(now) = &now {
            let context = ptr::from_ref::<Clock>(now).cast_mut().cast();
            // SAFETY: the options are valid and used by this thread alone; only `billcore_verifier_new` below reads
            // them, while the clock is alive.
            check(|error| unsafe {
                sys::billcore_verifier_options_set_clock(options.get(), Some(clock), context, None, error)
            })?;
        }
        // SAFETY: the options are valid, and the output pointers are valid.
        let keys = made(|out, error| unsafe { sys::billcore_verifier_new(NO_TEXT, options.get(), out, error) })?;
        Ok(Self { keys, _clock: now })
    }
    pub(crate) fn secret_count(&self) -> usize {
        // SAFETY: the handle is valid.
        unsafe { sys::billcore_verifier_secret_count(self.get()) }
    }
}

handle!(
    /// The header fields of a request.
    NativeHeaders, billcore_headers, billcore_headers_free, single
);

calls! { NativeHeaders;
    fn add(&self, name: &[u8], value: &[u8]) = billcore_headers_add;
}

impl NativeHeaders {
    pub(crate) fn of<N: AsRef<[u8]>, V: AsRef<[u8]>>(fields: impl IntoIterator<Item = (N, V)>) -> Result<Self> {
        // SAFETY: the output pointers are valid.
        let out: Self = made(|out, error| unsafe { sys::billcore_headers_new(out, error) })?;
        for (name, value) in fields {
            out.add(name.as_ref(), value.as_ref())?;
        }
        Ok(out)
    }
}

handle!(
    /// The check of one body that arrives in pieces.
    NativeStream, billcore_verifier_stream, billcore_verifier_stream_free, single
);

calls! { NativeStream;
    fn update(&self, piece: &[u8]) = billcore_verifier_stream_update;
    fn finish(&self, signature: Option<&[u8]>) -> usize = billcore_verifier_stream_finish;
}

pub(crate) fn sign(body: &[u8], secret: &[u8]) -> Result<String> {
    // SAFETY: the inputs are valid during the call, and the output pointers are valid.
    made(|out, error| unsafe { sys::billcore_webhook_sign(body.native(), secret.native(), out, error) })
}

pub(crate) fn explain(
    body: &[u8],
    signature: Option<&[u8]>,
    headers: &NativeHeaders,
    options: &NativeVerifierOptions,
) -> Result<String> {
    let (body, signature) = (body.native(), signature.native());
    let (headers, options) = (headers.get(), options.get());
    // SAFETY: the handles are valid, the inputs are valid during the call, and the output pointers are valid.
    made(|out, error| unsafe {
        sys::billcore_webhook_explain_with_headers(body, signature, headers, NO_TEXT, options, out, error)
    })
}
