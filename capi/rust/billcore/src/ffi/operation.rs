use std::ptr;

use billcore_sys as sys;

#[cfg(feature = "_aio")]
use super::NativePage;
use super::client::{Call, NativeClient, NativeList, NativeResponse, raw};
use super::{Input, Options, Resource, check, handle, made};
use crate::error::Result;

handle!(
    /// An operation with its arguments; the C library lets a write be used once.
    Operation, billcore_operation, billcore_operation_free, shared
);

impl Operation {
    pub(crate) fn new(name: &str) -> Result<Self> {
        // SAFETY: the text is valid during the call, and the output pointers are valid.
        made(|out, error| unsafe { sys::billcore_operation_new(name.native(), out, error) })
    }
    pub(crate) fn text(self, name: &str, value: &str) -> Result<Self> {
        // SAFETY: the handle is valid and used by this thread alone, and the texts are valid during the call.
        check(|error| unsafe { sys::billcore_operation_set_text(self.get(), name.native(), value.native(), error) })?;
        Ok(self)
    }
    pub(crate) fn integer(self, name: &str, value: i64) -> Result<Self> {
        // SAFETY: the handle is valid and used by this thread alone, and the text is valid during the call.
        check(|error| unsafe { sys::billcore_operation_set_int64(self.get(), name.native(), value, error) })?;
        Ok(self)
    }
    pub(crate) fn options(self, options: Option<&Options>) -> Result<Self> {
        // SAFETY: the handles are valid and used by this thread alone; NULL is no option.
        check(|error| unsafe { sys::billcore_operation_set_options(self.get(), raw(options), error) })?;
        Ok(self)
    }
}

/// What an operation has returned; NULL for an operation that returns nothing.
pub(crate) struct Performed(*mut sys::billcore_result);

// SAFETY: no object of the library is bound to the thread that made it.
unsafe impl Send for Performed {}

impl Performed {
    pub(super) fn own(result: *mut sys::billcore_result) -> Self {
        Self(result)
    }
    pub(crate) fn resource(mut self) -> Result<Resource> {
        // SAFETY: the handle is valid or NULL, and the output pointers are valid.
        made(|out, error| unsafe {
            let kind = sys::billcore_result_kind_of(self.0);
            sys::billcore_result_take_resource(&raw mut self.0, kind, out, error)
        })
    }
    /// The page of a search for charges.
    #[cfg(feature = "_aio")]
    pub(crate) fn page(mut self) -> Result<NativePage> {
        // SAFETY: the handle is valid or NULL, and the output pointers are valid.
        made(|out, error| unsafe { sys::billcore_result_take_page(&raw mut self.0, out, error) })
    }
    pub(crate) fn response(mut self) -> Result<NativeResponse> {
        // SAFETY: the handle is valid or NULL, and the output pointers are valid.
        made(|out, error| unsafe { sys::billcore_result_take_response(&raw mut self.0, out, error) })
    }
}

impl Drop for Performed {
    fn drop(&mut self) {
        // SAFETY: the handle is owned by this value alone; the function accepts the NULL that taking a result leaves.
        unsafe { sys::billcore_result_free(self.0) }
    }
}

impl NativeClient {
    pub(crate) fn perform(&self, operation: &Operation, call: Call<'_>) -> Result<Performed> {
        let mut out = Performed(ptr::null_mut());
        // SAFETY: the handles are valid, the options are those of a call, and the output pointers are valid.
        check(|error| unsafe {
            sys::billcore_client_perform(self.get(), operation.get(), raw(call), &raw mut out.0, error)
        })?;
        Ok(out)
    }
    pub(crate) fn list(&self, operation: &Operation, call: Call<'_>) -> Result<NativeList> {
        // SAFETY: the handles are valid, the options are those of a call, and the output pointers are valid.
        made(|out, error| unsafe { sys::billcore_client_list(self.get(), operation.get(), raw(call), out, error) })
    }
}
