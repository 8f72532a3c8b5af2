use std::os::fd::{BorrowedFd, OwnedFd};
use std::ptr;

use billcore_sys as sys;

use super::client::{Call, NativeClient, NativeList, raw};
use super::operation::{Operation, Performed};
use super::{Input, NativeError, NativeMany, check, handle, made};
use crate::error::{Error, ErrorCode, Result};

/// Names a call among the calls of its loop.
pub(crate) type Ticket = u64;

handle!(
    /// A loop: the calls of an `AsyncClient`.
    NativeLoop, billcore_loop, billcore_loop_free, single
);

impl NativeLoop {
    pub(crate) fn new(client: &NativeClient) -> Result<Self> {
        // SAFETY: the handle and the output pointers are valid.
        made(|out, error| unsafe { sys::billcore_loop_new(client.get(), out, error) })
    }
    /// A duplicate of the loop's descriptor: readable when `process` has something to do.
    pub(crate) fn descriptor(&self) -> Result<OwnedFd> {
        // SAFETY: the handle is valid, and the loop has its descriptor until it is freed.
        let own = unsafe { BorrowedFd::borrow_raw(sys::billcore_loop_descriptor(self.get())) };
        own.try_clone_to_owned().map_err(|fault| {
            Error::new(ErrorCode::Internal, format!("no descriptor for the calls of an AsyncClient: {fault}"))
        })
    }
    /// Starts the call that `begin` begins. The call's end comes from `next`.
    fn start(&self, begin: impl FnOnce(Starting) -> i32) -> Result<Ticket> {
        let mut ticket = 0;
        let loop_ = self.get();
        check(|error| begin(Starting { loop_, ticket: &raw mut ticket, error }))?;
        Ok(ticket)
    }
    pub(crate) fn perform(&self, operation: &Operation, call: Call<'_>) -> Result<Ticket> {
        // SAFETY: the handles are valid, the options are those of a call, and the output pointers are valid. The
        // library copies what it keeps.
        self.start(|to| unsafe {
            let (operation, call) = (operation.get(), raw(call));
            sys::billcore_loop_start(to.loop_, operation, call, None, ptr::null_mut(), None, to.ticket, to.error)
        })
    }
    pub(crate) fn find_charges(&self, charge: &NativeError, search: Call<'_>, call: Call<'_>) -> Result<Ticket> {
        let (charge, search, call, none) = (charge.get(), raw(search), raw(call), ptr::null_mut());
        // SAFETY: as above.
        self.start(|to| unsafe {
            sys::billcore_loop_find_charges(to.loop_, charge, search, call, None, none, None, to.ticket, to.error)
        })
    }
    pub(crate) fn find_charges_since(&self, id: &str, at: i64, search: Call<'_>, call: Call<'_>) -> Result<Ticket> {
        let (id, search, call, none) = (id.native(), raw(search), raw(call), ptr::null_mut());
        // SAFETY: as above; the text is valid during the call.
        self.start(|to| unsafe {
            let (ticket, error) = (to.ticket, to.error);
            sys::billcore_loop_find_charges_since(to.loop_, id, at, search, call, None, none, None, ticket, error)
        })
    }
    /// Starts to fetch the next page of a list. From then on the caller may use and free the list only while it has the
    /// loop.
    pub(crate) fn fetch(&self, list: &NativeList) -> Result<Ticket> {
        // SAFETY: as above.
        self.start(|to| unsafe {
            sys::billcore_loop_fetch(to.loop_, list.get(), None, ptr::null_mut(), None, to.ticket, to.error)
        })
    }
    /// Starts to wait for a result of the reads.
    pub(crate) fn wait(&self, many: &NativeMany) -> Result<Ticket> {
        // SAFETY: as above.
        self.start(|to| unsafe {
            sys::billcore_loop_many_wait(to.loop_, many.get(), None, ptr::null_mut(), None, to.ticket, to.error)
        })
    }
    /// Advances all calls without waiting. Returns whether there is more to do at once.
    pub(crate) fn process(&self) -> Result<bool> {
        made(|out, error| {
            // SAFETY: the handle is valid and used by this thread alone, and the output pointers are valid.
            unsafe { sys::billcore_loop_process(self.get(), out, error) }
        })
    }
    /// Asks the loop to cancel a call in the next `process`; ignores the ticket of a call that has ended.
    pub(crate) fn cancel(&self, ticket: Ticket) {
        // The function fails only in a forked child, whose calls make no progress.
        // SAFETY: the handle is valid.
        let _ = check(|error| unsafe { sys::billcore_loop_cancel(self.get(), ticket, error) });
    }
    /// Takes the end of a call; `None` when no end waits.
    pub(crate) fn next(&self) -> Option<(Ticket, Result<Performed>)> {
        let (mut ticket, mut result, mut failure) = (0, ptr::null_mut(), ptr::null_mut());
        let (taken, ended, failed) = (&raw mut ticket, &raw mut result, &raw mut failure);
        // SAFETY: the handle is valid and used by this thread alone, and the output pointers are valid or NULL.
        let status = unsafe { sys::billcore_loop_next(self.get(), taken, ended, failed, ptr::null_mut()) };
        if status != sys::BILLCORE_OK {
            return None;
        }
        Some((ticket, NativeError::or(failure, Performed::own(result))))
    }
}

/// The arguments that each function has which starts a call.
struct Starting {
    loop_: *mut sys::billcore_loop,
    ticket: *mut Ticket,
    error: super::Err,
}
