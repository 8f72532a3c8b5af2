use std::ops::Deref;
use std::ptr::{self, NonNull};

use billcore_sys as sys;

use super::{NO_TEXT, NativeValue, bytes_out, check, handle, made, text_in, text_out};
use crate::error::Result;

/// The fields of a JSON object (a resource or an event), read by name. `Fields` is public only because the sealed
/// trait of list items names it.
#[allow(missing_debug_implementations, unreachable_pub)]
#[repr(transparent)]
pub struct Fields(NonNull<sys::billcore_resource>);

// SAFETY: the C headers say "Threads: immutable" of resources and events.
unsafe impl Send for Fields {}
// SAFETY: a resource or event is immutable, so any number of threads may use it at once.
unsafe impl Sync for Fields {}

type Read<T> = unsafe extern "C" fn(
    *const sys::billcore_resource,
    sys::billcore_str,
    *mut T,
    *mut bool,
    *mut *mut sys::billcore_error,
) -> i32;

impl Fields {
    pub(super) fn of(raw: NonNull<sys::billcore_resource>) -> Self {
        Self(raw)
    }
    pub(super) fn get(&self) -> *mut sys::billcore_resource {
        self.0.as_ptr()
    }

    /// Reads a field. A `?` at the end of the name allows a field that is null or absent; only then may the result be
    /// `None`.
    fn read<T>(&self, name: &str, empty: T, read: Read<T>) -> Result<Option<T>> {
        let (mut out, mut present, name) = (empty, true, text_in(name));
        // SAFETY: the handle is valid, the name is valid during the call, and the output pointers are valid.
        check(|error| unsafe { read(self.get(), name, &raw mut out, &raw mut present, error) })?;
        Ok(present.then_some(out))
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>> {
        let found = self.read(name, NO_TEXT, sys::billcore_resource_text)?;
        // SAFETY: the text is valid as long as the handle, which the result borrows through `self`.
        Ok(found.map(|text| unsafe { text_out(text) }))
    }
    pub(crate) fn number(&self, name: &str) -> Result<Option<&str>> {
        let found = self.read(name, NO_TEXT, sys::billcore_resource_number)?;
        // SAFETY: the text is valid as long as the handle, which the result borrows through `self`.
        Ok(found.map(|text| unsafe { text_out(text) }))
    }
    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>> {
        self.read(name, 0, sys::billcore_resource_int64)
    }
    pub(crate) fn boolean(&self, name: &str) -> Result<Option<bool>> {
        self.read(name, false, sys::billcore_resource_bool)
    }
    /// The text of the id, and whether it was received as an integer.
    pub(crate) fn id(&self, name: &str) -> Result<(&str, bool)> {
        let (mut text, mut integer, name) = (NO_TEXT, false, text_in(name));
        // SAFETY: the handle is valid, the name is valid during the call, and the output pointers are valid or NULL.
        check(|error| unsafe {
            sys::billcore_resource_id(self.get(), name, &raw mut text, &raw mut integer, ptr::null_mut(), error)
        })?;
        // SAFETY: the text is valid as long as the handle, which the result borrows through `self`.
        Ok((unsafe { text_out(text) }, integer))
    }
    /// The instant in a field, in microseconds since 1970.
    pub(crate) fn time(&self, name: &str) -> Result<Option<i64>> {
        let (mut micros, mut present, name) = (0, true, text_in(name));
        // SAFETY: the handle is valid, the name is valid during the call, and the output pointers are valid or NULL.
        check(|error| unsafe {
            sys::billcore_resource_time(self.get(), name, ptr::null_mut(), &raw mut micros, &raw mut present, error)
        })?;
        Ok(present.then_some(micros))
    }

    fn value_of(&self, name: &str, read: Read<*mut sys::billcore_value>) -> Result<Option<NativeValue>> {
        let found = self.read(name, ptr::null_mut(), read)?;
        Ok(found.and_then(NonNull::new).map(NativeValue::own))
    }
    pub(crate) fn object(&self, name: &str) -> Result<Option<NativeValue>> {
        self.value_of(name, sys::billcore_resource_object)
    }
    pub(crate) fn any(&self, name: &str) -> Result<Option<NativeValue>> {
        self.value_of(name, sys::billcore_resource_any)
    }
    /// The field with exactly this name, even if its value is null; `None` when the field is absent.
    pub(crate) fn field(&self, name: &str) -> Result<Option<NativeValue>> {
        self.value_of(name, sys::billcore_resource_field)
    }
    pub(crate) fn contains(&self, name: &str) -> Result<bool> {
        let (mut out, name) = (false, text_in(name));
        // SAFETY: the handle is valid, the name is valid during the call, and the output pointers are valid.
        check(|error| unsafe { sys::billcore_resource_contains(self.get(), name, &raw mut out, error) })?;
        Ok(out)
    }
    pub(crate) fn value(&self) -> Result<NativeValue> {
        // SAFETY: the handle and the output pointers are valid.
        made(NativeValue::own, |out, error| unsafe { sys::billcore_resource_value(self.get(), out, error) })
    }

    pub(crate) fn list(&self, name: &str) -> Result<Vec<Resource>> {
        let (mut count, name) = (0, text_in(name));
        // SAFETY: the handle is valid, the name is valid during the calls, and the output pointers are valid.
        check(|error| unsafe { sys::billcore_resource_list_count(self.get(), name, &raw mut count, error) })?;
        let item = |index| {
            // SAFETY: the handle is valid, the name is valid during the call, and the output pointers are valid.
            made(Resource::own, |out, error| unsafe {
                sys::billcore_resource_list_at(self.get(), name, index, out, error)
            })
        };
        (0..count).map(item).collect()
    }
    pub(crate) fn integers(&self, name: &str) -> Result<Vec<i64>> {
        let (mut count, name) = (0, text_in(name));
        // SAFETY: the handle is valid, the name is valid during the calls, and the output pointers are valid.
        check(|error| unsafe { sys::billcore_resource_integers_count(self.get(), name, &raw mut count, error) })?;
        let item = |index| {
            let mut out = 0;
            // SAFETY: the handle is valid, the name is valid during the call, and the output pointers are valid.
            check(|error| unsafe { sys::billcore_resource_integer_at(self.get(), name, index, &raw mut out, error) })?;
            Ok(out)
        };
        (0..count).map(item).collect()
    }
}

/// An owned C resource. `Resource` is public only because the sealed trait of list items names it.
#[allow(missing_debug_implementations, unreachable_pub)]
pub struct Resource(Fields);

impl Resource {
    pub(super) fn own(raw: NonNull<sys::billcore_resource>) -> Self {
        Self(Fields::of(raw))
    }
    pub(crate) fn raw(&self) -> Result<&str> {
        let mut out = NO_TEXT;
        // SAFETY: the handle and the output pointers are valid.
        check(|error| unsafe { sys::billcore_resource_raw(self.get(), &raw mut out, error) })?;
        // SAFETY: the text is valid as long as the handle, which the result borrows through `self`.
        Ok(unsafe { text_out(out) })
    }
    pub(crate) fn equal(&self, other: &Self) -> Result<bool> {
        let mut out = false;
        // SAFETY: both handles are valid, and the output pointers are valid.
        check(|error| unsafe { sys::billcore_resource_equal(self.get(), other.get(), &raw mut out, error) })?;
        Ok(out)
    }
    pub(crate) fn copy(&self) -> Result<Self> {
        // SAFETY: the handle and the output pointers are valid.
        made(Self::own, |out, error| unsafe { sys::billcore_resource_copy(self.get(), out, error) })
    }
    /// Whether the subscription is paid for at the instant `micros` (microseconds since 1970).
    pub(crate) fn usable_at(&self, micros: i64) -> Result<bool> {
        let mut out = false;
        // SAFETY: the handle and the output pointers are valid. Only `Subscription` calls this method, so the resource
        // is a subscription.
        check(|error| unsafe { sys::billcore_subscription_usable_at(self.get().cast(), micros, &raw mut out, error) })?;
        Ok(out)
    }
    pub(crate) fn response_info(&self) -> Result<Option<NativeInfo>> {
        let (mut out, mut present) = (ptr::null_mut(), false);
        // SAFETY: the handle and the output pointers are valid.
        check(|error| unsafe {
            sys::billcore_resource_response_info(self.get(), &raw mut out, &raw mut present, error)
        })?;
        Ok(NonNull::new(out).map(NativeInfo::own))
    }
}

impl Deref for Resource {
    type Target = Fields;
    fn deref(&self) -> &Fields {
        &self.0
    }
}

impl Drop for Resource {
    fn drop(&mut self) {
        // SAFETY: the handle is owned by this value alone, and nothing borrows from it any more.
        unsafe { sys::billcore_resource_free(self.get()) }
    }
}

handle!(
    /// Status, header fields, number of attempts and request id of an answer.
    NativeInfo, billcore_response_info, billcore_response_info_free, immutable
);

impl NativeInfo {
    fn number<T: Default>(
        &self,
        read: unsafe extern "C" fn(*const sys::billcore_response_info, *mut T, *mut *mut sys::billcore_error) -> i32,
    ) -> Result<T> {
        let mut out = T::default();
        // SAFETY: the handle and the output pointers are valid.
        check(|error| unsafe { read(self.get(), &raw mut out, error) })?;
        Ok(out)
    }
    pub(crate) fn status(&self) -> Result<i32> {
        self.number(sys::billcore_response_info_status)
    }
    pub(crate) fn attempts(&self) -> Result<i32> {
        self.number(sys::billcore_response_info_attempts)
    }
    pub(crate) fn sent_late(&self) -> Result<bool> {
        self.number(sys::billcore_response_info_sent_late)
    }
    pub(crate) fn request_id(&self) -> Result<&str> {
        let mut out = NO_TEXT;
        // SAFETY: the handle and the output pointers are valid.
        check(|error| unsafe { sys::billcore_response_info_request_id(self.get(), &raw mut out, error) })?;
        // SAFETY: the text is valid as long as the handle, which the result borrows through `self`.
        Ok(unsafe { text_out(out) })
    }
    pub(crate) fn header(&self, name: &str) -> Result<Option<&[u8]>> {
        let (mut out, mut present, name) = (NO_TEXT, false, text_in(name));
        // SAFETY: the handle is valid, the name is valid during the call, and the output pointers are valid.
        check(|error| unsafe {
            sys::billcore_response_info_header(self.get(), name, &raw mut out, &raw mut present, error)
        })?;
        // SAFETY: the texts are valid as long as the handle, which the result borrows through `self`.
        Ok(present.then(|| unsafe { bytes_out(out) }))
    }
    pub(crate) fn header_count(&self) -> Result<usize> {
        let mut out = 0;
        // SAFETY: the handle and the output pointers are valid.
        check(|error| unsafe { sys::billcore_response_info_header_count(self.get(), &raw mut out, error) })?;
        Ok(out)
    }
    pub(crate) fn header_at(&self, index: usize) -> Result<(&str, &[u8])> {
        let (mut name, mut value) = (NO_TEXT, NO_TEXT);
        // SAFETY: the handle and the output pointers are valid.
        check(|error| unsafe {
            sys::billcore_response_info_header_at(self.get(), index, &raw mut name, &raw mut value, error)
        })?;
        // SAFETY: the texts are valid as long as the handle, which the result borrows through `self`.
        Ok(unsafe { (text_out(name), bytes_out(value)) })
    }
}
