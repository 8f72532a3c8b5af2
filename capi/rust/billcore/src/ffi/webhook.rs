use std::any::Any;
use std::ffi::c_void;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

use billcore_sys as sys;

use super::{Fields, NO_TEXT, NativeValue, Resource, bytes_in, bytes_out, check, handle, made, owned_text, text_in};
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

impl NativeEvent {
    fn own(handle: NonNull<sys::billcore_event>) -> Self {
        // The C headers allow the functions for resources to read an event's fields. `Fields` does not free the
        // handle.
        Self { handle, fields: Fields::of(handle.cast()) }
    }
    fn get(&self) -> *const sys::billcore_event {
        self.handle.as_ptr()
    }
    fn number(
        &self,
        read: unsafe extern "C" fn(*const sys::billcore_event, *mut i32, *mut *mut sys::billcore_error) -> i32,
    ) -> Result<i32> {
        let mut out = 0;
        // SAFETY: the handle and the output pointers are valid.
        check(|error| unsafe { read(self.get(), &raw mut out, error) })?;
        Ok(out)
    }
    pub(crate) fn kind(&self) -> Result<i32> {
        self.number(sys::billcore_event_type)
    }
    pub(crate) fn data_kind(&self) -> Result<i32> {
        self.number(sys::billcore_event_data_kind)
    }
    pub(crate) fn require_claimable(&self) -> Result<()> {
        // SAFETY: the handle and the output pointer are valid.
        check(|error| unsafe { sys::billcore_event_require_claimable(self.get(), error) })
    }
    pub(crate) fn raw(&self) -> Result<&[u8]> {
        let mut out = NO_TEXT;
        // SAFETY: the handle and the output pointers are valid.
        check(|error| unsafe { sys::billcore_event_raw(self.get(), &raw mut out, error) })?;
        // SAFETY: the bytes are valid as long as the event, which the result borrows through `self`.
        Ok(unsafe { bytes_out(out) })
    }
    pub(crate) fn data(&self) -> Result<Option<NativeValue>> {
        let (mut out, mut present) = (ptr::null_mut(), false);
        // SAFETY: the handle and the output pointers are valid.
        check(|error| unsafe { sys::billcore_event_data(self.get(), &raw mut out, &raw mut present, error) })?;
        Ok(NonNull::new(out).map(NativeValue::own))
    }
    pub(crate) fn resource(&self, kind: i32) -> Result<Resource> {
        // SAFETY: the handle and the output pointers are valid.
        made(Resource::own, |out, error| unsafe { sys::billcore_event_resource(self.get(), kind, out, error) })
    }
    pub(crate) fn parse_unverified(body: &[u8]) -> Result<Self> {
        // SAFETY: the body is valid during the call, and the output pointers are valid.
        made(Self::own, |out, error| unsafe { sys::billcore_webhook_parse_unverified(bytes_in(body), out, error) })
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

impl NativeVerifierOptions {
    pub(crate) fn new() -> Result<Self> {
        // SAFETY: the output pointers are valid.
        made(Self::own, |out, error| unsafe { sys::billcore_verifier_options_new(out, error) })
    }
    pub(crate) fn add_secret(&mut self, secret: &[u8]) -> Result<()> {
        // SAFETY: the handle is valid and used by this thread alone, and the secret is valid during the call.
        check(|error| unsafe { sys::billcore_verifier_options_add_secret(self.get(), bytes_in(secret), error) })
    }
    pub(crate) fn add_account(&mut self, account: &str) -> Result<()> {
        // SAFETY: the handle is valid and used by this thread alone, and the account is valid during the call.
        check(|error| unsafe { sys::billcore_verifier_options_add_account(self.get(), text_in(account), error) })
    }
    pub(crate) fn set_header(&mut self, name: &str) -> Result<()> {
        // SAFETY: the handle is valid and used by this thread alone, and the name is valid during the call.
        check(|error| unsafe { sys::billcore_verifier_options_set_header(self.get(), text_in(name), error) })
    }
    pub(crate) fn set_max_body(&mut self, bytes: usize) -> Result<()> {
        // SAFETY: the handle is valid and used by this thread alone.
        check(|error| unsafe { sys::billcore_verifier_options_set_max_body(self.get(), bytes, error) })
    }
    pub(crate) fn set_freshness_ms(&mut self, milliseconds: i64) -> Result<()> {
        // SAFETY: the handle is valid and used by this thread alone.
        check(|error| unsafe { sys::billcore_verifier_options_set_freshness_ms(self.get(), milliseconds, error) })
    }
    pub(crate) fn allow_any_key_length(&mut self) -> Result<()> {
        // SAFETY: the handle is valid and used by this thread alone.
        check(|error| unsafe { sys::billcore_verifier_options_allow_any_key_length(self.get(), error) })
    }
}

handle!(NativeKeys, billcore_verifier, billcore_verifier_free, shared);

/// The C verifier (`keys`) and the clock that it calls. The clock must outlive the C verifier.
pub(crate) struct NativeVerifier {
    keys: NativeKeys,
    _clock: Option<Box<Clock>>,
}

impl NativeVerifier {
    pub(crate) fn new(options: &mut NativeVerifierOptions, now: Option<Clock>) -> Result<Self> {
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
        let keys = made(NativeKeys::own, |out, error| unsafe {
            sys::billcore_verifier_new(NO_TEXT, options.get(), out, error)
        })?;
        Ok(Self { keys, _clock: now })
    }
    pub(crate) fn verify(&self, body: &[u8], signature: Option<&[u8]>) -> Result<usize> {
        let mut index = 0;
        let (body, signature) = (bytes_in(body), signature.map_or(NO_TEXT, bytes_in));
        // SAFETY: the handle is valid, the inputs are valid during the call, and the output pointers are valid.
        check(|error| unsafe {
            sys::billcore_verifier_verify(self.keys.get(), body, signature, &raw mut index, error)
        })?;
        Ok(index)
    }
    pub(crate) fn unwrap(&self, body: &[u8], signature: Option<&[u8]>) -> Result<NativeEvent> {
        let (body, signature) = (bytes_in(body), signature.map_or(NO_TEXT, bytes_in));
        // SAFETY: the handle is valid, the inputs are valid during the call, and the output pointers are valid.
        made(NativeEvent::own, |out, error| unsafe {
            sys::billcore_verifier_unwrap(self.keys.get(), body, signature, out, error)
        })
    }
    pub(crate) fn unwrap_request(&self, body: &[u8], headers: &NativeHeaders) -> Result<NativeEvent> {
        // SAFETY: the handles are valid, the body is valid during the call, and the output pointers are valid.
        made(NativeEvent::own, |out, error| unsafe {
            sys::billcore_verifier_unwrap_request(self.keys.get(), bytes_in(body), headers.get(), out, error)
        })
    }
    pub(crate) fn secret_count(&self) -> usize {
        // SAFETY: the handle is valid.
        unsafe { sys::billcore_verifier_secret_count(self.keys.get()) }
    }
    pub(crate) fn matches(&self, secret: usize) -> Result<u64> {
        let mut out = 0;
        // SAFETY: the handle and the output pointers are valid.
        check(|error| unsafe { sys::billcore_verifier_matches(self.keys.get(), secret, &raw mut out, error) })?;
        Ok(out)
    }
    /// A stream keeps the C verifier alive. A stream never calls the clock: a verifier with a freshness check, which
    /// needs the clock, cannot make streams.
    pub(crate) fn stream(&self) -> Result<NativeStream> {
        // SAFETY: the handle and the output pointers are valid.
        made(NativeStream::own, |out, error| unsafe { sys::billcore_verifier_stream_new(self.keys.get(), out, error) })
    }
}

handle!(
    /// The header fields of a request.
    NativeHeaders, billcore_headers, billcore_headers_free, single
);

impl NativeHeaders {
    pub(crate) fn of<N: AsRef<[u8]>, V: AsRef<[u8]>>(fields: impl IntoIterator<Item = (N, V)>) -> Result<Self> {
        // SAFETY: the output pointers are valid.
        let mut out = made(Self::own, |out, error| unsafe { sys::billcore_headers_new(out, error) })?;
        for (name, value) in fields {
            out.add(name.as_ref(), value.as_ref())?;
        }
        Ok(out)
    }
    fn add(&mut self, name: &[u8], value: &[u8]) -> Result<()> {
        // SAFETY: the handle is valid and used by this thread alone, and the inputs are valid during the call.
        check(|error| unsafe { sys::billcore_headers_add(self.get(), bytes_in(name), bytes_in(value), error) })
    }
}

handle!(
    /// The check of one body that arrives in pieces.
    NativeStream, billcore_verifier_stream, billcore_verifier_stream_free, single
);

impl NativeStream {
    pub(crate) fn update(&mut self, piece: &[u8]) -> Result<()> {
        // SAFETY: the handle is valid and used by this thread alone, and the piece is valid during the call.
        check(|error| unsafe { sys::billcore_verifier_stream_update(self.get(), bytes_in(piece), error) })
    }
    pub(crate) fn finish(&mut self, signature: Option<&[u8]>) -> Result<usize> {
        let (mut index, signature) = (0, signature.map_or(NO_TEXT, bytes_in));
        // SAFETY: the handle is valid and used by this thread alone, and the output pointers are valid.
        check(|error| unsafe { sys::billcore_verifier_stream_finish(self.get(), signature, &raw mut index, error) })?;
        Ok(index)
    }
}

fn text_of(call: impl FnOnce(*mut sys::billcore_buf, super::Err) -> i32) -> Result<String> {
    let mut out = sys::billcore_buf { data: ptr::null_mut(), len: 0 };
    check(|error| call(&raw mut out, error))?;
    Ok(owned_text(out))
}

pub(crate) fn sign(body: &[u8], secret: &[u8]) -> Result<String> {
    // SAFETY: the inputs are valid during the call, and the output pointers are valid.
    text_of(|out, error| unsafe { sys::billcore_webhook_sign(bytes_in(body), bytes_in(secret), out, error) })
}

pub(crate) fn explain(
    body: &[u8],
    signature: Option<&[u8]>,
    headers: &NativeHeaders,
    options: &NativeVerifierOptions,
) -> Result<String> {
    let (body, signature) = (bytes_in(body), signature.map_or(NO_TEXT, bytes_in));
    let (headers, options) = (headers.get(), options.get());
    // SAFETY: the handles are valid, the inputs are valid during the call, and the output pointers are valid.
    text_of(|out, error| unsafe {
        sys::billcore_webhook_explain_with_headers(body, signature, headers, NO_TEXT, options, out, error)
    })
}
