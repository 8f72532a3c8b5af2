use std::ops::Deref;
use std::ptr::{self, NonNull};

use billcore_sys as sys;

use super::{Input, NO_TEXT, NativeValue, bytes_out, calls, check, handle, passed, text_out};
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

// A `?` at the end of the name of a field allows a field that is null or absent; only then may the result be `None`.
calls! { Fields;
    fn text(&self, name: &str) -> Option<&str> = billcore_resource_text;
    fn number(&self, name: &str) -> Option<&str> = billcore_resource_number;
    fn integer(&self, name: &str) -> Option<i64> = billcore_resource_int64;
    fn boolean(&self, name: &str) -> Option<bool> = billcore_resource_bool;
    fn object(&self, name: &str) -> Option<NativeValue> = billcore_resource_object;
    fn any(&self, name: &str) -> Option<NativeValue> = billcore_resource_any;
    /// The field with exactly this name, even if its value is null; `None` when the field is absent.
    fn field(&self, name: &str) -> Option<NativeValue> = billcore_resource_field;
    fn contains(&self, name: &str) -> bool = billcore_resource_contains;
    fn value(&self) -> NativeValue = billcore_resource_value;
    fn list_count(&self, name: &str) -> usize = billcore_resource_list_count;
    fn list_at(&self, name: &str, index: usize) -> Resource = billcore_resource_list_at;
    fn integers_count(&self, name: &str) -> usize = billcore_resource_integers_count;
    fn integer_at(&self, name: &str, index: usize) -> i64 = billcore_resource_integer_at;
}

impl Fields {
    pub(super) fn of(raw: NonNull<sys::billcore_resource>) -> Self {
        Self(raw)
    }
    pub(super) fn get(&self) -> *mut sys::billcore_resource {
        self.0.as_ptr()
    }
    /// The text of the id, and whether it was received as an integer.
    pub(crate) fn id(&self, name: &str) -> Result<(&str, bool)> {
        let (mut text, mut integer, name) = (NO_TEXT, false, name.native());
        // SAFETY: the handle is valid, the name is valid during the call, and the output pointers are valid or NULL.
        check(|error| unsafe {
            sys::billcore_resource_id(self.get(), name, &raw mut text, &raw mut integer, ptr::null_mut(), error)
        })?;
        // SAFETY: the text is valid as long as the handle, which the result borrows through `self`.
        Ok((unsafe { text_out(text) }, integer))
    }
    /// The instant in a field, in microseconds since 1970.
    pub(crate) fn time(&self, name: &str) -> Result<Option<i64>> {
        let (mut micros, mut present, name) = (0, true, name.native());
        // SAFETY: the handle is valid, the name is valid during the call, and the output pointers are valid or NULL.
        check(|error| unsafe {
            sys::billcore_resource_time(self.get(), name, ptr::null_mut(), &raw mut micros, &raw mut present, error)
        })?;
        Ok(present.then_some(micros))
    }
    pub(crate) fn list(&self, name: &str) -> Result<Vec<Resource>> {
        (0..self.list_count(name)?).map(|index| self.list_at(name, index)).collect()
    }
    pub(crate) fn integers(&self, name: &str) -> Result<Vec<i64>> {
        (0..self.integers_count(name)?).map(|index| self.integer_at(name, index)).collect()
    }
}

/// An owned C resource. `Resource` is public only because the sealed trait of list items names it.
#[allow(missing_debug_implementations, unreachable_pub)]
pub struct Resource(Fields);

passed!(Resource, billcore_resource, |raw| Resource(Fields::of(raw)));

calls! { Resource;
    fn raw(&self) -> &str = billcore_resource_raw;
    fn equal(&self, other: &Resource) -> bool = billcore_resource_equal;
    fn copy(&self) -> Resource = billcore_resource_copy;
    fn response_info(&self) -> Option<NativeInfo> = billcore_resource_response_info;
}

impl Resource {
    /// Whether the subscription is paid for at the instant `micros` (microseconds since 1970).
    pub(crate) fn usable_at(&self, micros: i64) -> Result<bool> {
        let mut out = false;
        // SAFETY: the handle and the output pointers are valid. Only `Subscription` calls this method, so the resource
        // is a subscription.
        check(|error| unsafe { sys::billcore_subscription_usable_at(self.get().cast(), micros, &raw mut out, error) })?;
        Ok(out)
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

calls! { NativeInfo;
    fn status(&self) -> i32 = billcore_response_info_status;
    fn attempts(&self) -> i32 = billcore_response_info_attempts;
    fn sent_late(&self) -> bool = billcore_response_info_sent_late;
    fn request_id(&self) -> &str = billcore_response_info_request_id;
    fn header(&self, name: &str) -> Option<&[u8]> = billcore_response_info_header;
    fn header_count(&self) -> usize = billcore_response_info_header_count;
}

impl NativeInfo {
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
