use std::ptr;

use billcore_sys as sys;

#[cfg(feature = "_aio")]
use super::NativeLoop;
use super::client::{Call, NativeClient, raw};
use super::operation::{Operation, Performed};
use super::{NativeError, Step, calls, failed, handle, made};
use crate::error::Result;

/// The result of a read, and the number of the read.
pub(crate) type Numbered = (u64, Result<Performed>);

handle!(
    /// Many reads, several at once.
    NativeMany, billcore_many, billcore_many_free, single
);

calls! { NativeMany;
    /// Starts a read; its result has the number.
    fn add(&self, read: &Operation, number: u64) = billcore_many_add;
}

impl NativeMany {
    pub(crate) fn new(client: &NativeClient, at_once: i32, ordered: bool, call: Call<'_>) -> Result<Self> {
        // SAFETY: the handles are valid, the options are those of a call, and the output pointers are valid.
        made(|out, error| unsafe { sys::billcore_many_new(client.get(), at_once, ordered, raw(call), out, error) })
    }
    /// Makes reads on a loop. From then on the caller may use and free them only while it has the loop.
    #[cfg(feature = "_aio")]
    pub(crate) fn on_loop(on: &NativeLoop, at_once: i32, ordered: bool, call: Call<'_>) -> Result<Self> {
        // SAFETY: as above.
        made(|out, error| unsafe { sys::billcore_loop_many_new(on.get(), at_once, ordered, raw(call), out, error) })
    }
    /// Whether a further read may be added.
    pub(crate) fn wants(&self) -> bool {
        // SAFETY: the handle is valid and used by this thread alone.
        unsafe { sys::billcore_many_wants(self.get()) }
    }
    /// Takes a result and its number; `None` when no read is left. `Done` when the reads are on a loop and the result is
    /// not here.
    pub(crate) fn next(&self) -> Result<Step<Option<Numbered>>> {
        let (mut number, mut result, mut failure, mut error) = (0, ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let (taken, ended, without) = (&raw mut number, &raw mut result, &raw mut failure);
        // SAFETY: the handle is valid and used by this thread alone, and the output pointers are valid.
        match unsafe { sys::billcore_many_next(self.get(), taken, ended, without, &raw mut error) } {
            sys::BILLCORE_OK if result.is_null() && failure.is_null() => Ok(Step::Item(None)),
            sys::BILLCORE_OK => Ok(Step::Item(Some((number, NativeError::or(failure, Performed::own(result)))))),
            sys::BILLCORE_DONE => Ok(Step::Done),
            status => Err(failed(status, error)),
        }
    }
}
