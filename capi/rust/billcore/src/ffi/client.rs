use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use billcore_sys as sys;

use super::{
    Input, NO_TEXT, NativeError, NativeInfo, NativeValue, Resource, calls, check, forget, handle, made, text_out,
};
use crate::client::{Attempt, Cell, Hooks};
use crate::error::{ErrorCode, Result};

handle!(
    /// The options of a client, a list or an operation, depending on the [`OptionsKind`].
    Options, billcore_options, billcore_options_free, single
);

/// Hooks that the C library calls.
pub(crate) struct HookContext(Box<dyn Hooks>);

impl HookContext {
    pub(crate) fn new(hooks: impl Hooks + 'static) -> Arc<Self> {
        Arc::new(Self(Box::new(hooks)))
    }
}

unsafe extern "C" fn hook(context: *mut c_void, attempt: *const sys::billcore_attempt) {
    // SAFETY: the library has a share of the context until it releases the share; the hooks are `Sync`; the attempt is
    // valid during this call.
    let (hooks, given) = unsafe { (&*context.cast::<HookContext>().cast_const(), &*attempt) };
    // SAFETY: the texts are valid during this call, and `told`, which borrows them, is dropped before the call ends.
    let (method, route, request_id, path) =
        unsafe { (text_out(given.method), text_out(given.route), text_out(given.request_id), text_out(given.path)) };
    let told = Attempt {
        number: given.number.try_into().unwrap_or(0),
        method,
        route,
        status: u16::try_from(given.status).ok().filter(|status| *status != 0),
        failure: ErrorCode::of_status(given.failure),
        request_id: Some(request_id).filter(|text| !text.is_empty()),
        duration: Duration::from_micros(given.duration_micros.try_into().unwrap_or(0)),
        wait: Duration::from_millis(given.wait_ms.try_into().unwrap_or(0)),
        sent: given.sent,
        outcome_unknown: given.outcome_unknown,
        path: Some(path).filter(|text| !text.is_empty()),
    };
    let tell = || match given.moment {
        sys::BILLCORE_MOMENT_REQUEST => hooks.0.on_request(&told),
        sys::BILLCORE_MOMENT_RESPONSE => hooks.0.on_response(&told),
        sys::BILLCORE_MOMENT_RETRY => hooks.0.on_retry(&told),
        _ => {}
    };
    catch_unwind(AssertUnwindSafe(tell)).unwrap_or_else(forget);
}

unsafe extern "C" fn release(context: *mut c_void) {
    // SAFETY: the library gives back, once, the share that `set_hooks` has passed to it.
    let hooks = unsafe { Arc::from_raw(context.cast::<HookContext>().cast_const()) };
    catch_unwind(AssertUnwindSafe(|| drop(hooks))).unwrap_or_else(forget);
}

#[derive(Clone, Copy)]
pub(crate) enum OptionsKind {
    Client = sys::BILLCORE_OPTIONS_OF_CLIENT as isize,
    Changes = sys::BILLCORE_OPTIONS_OF_CHANGES as isize,
    Call = sys::BILLCORE_OPTIONS_OF_CALL as isize,
    Charge = sys::BILLCORE_OPTIONS_OF_CHARGE as isize,
    Product = sys::BILLCORE_OPTIONS_OF_PRODUCT as isize,
    Request = sys::BILLCORE_OPTIONS_OF_REQUEST as isize,
    List = sys::BILLCORE_OPTIONS_OF_LIST as isize,
    ChargeSearch = sys::BILLCORE_OPTIONS_OF_CHARGE_SEARCH as isize,
}

calls! { Options;
    fn set_text(&self, name: &str, value: &[u8]) = billcore_options_set_text;
    fn set_integer(&self, name: &str, value: i64) = billcore_options_set_int64;
    fn set_flag(&self, name: &str, value: bool) = billcore_options_set_bool;
    fn set_json(&self, name: &str, json: &str) = billcore_options_set_json;
    fn add(&self, name: &str, key: &str, value: &str) = billcore_options_add;
    /// The C header allows freeing the token before the options.
    fn set_cancel(&self, cancel: &Cancel) = billcore_options_set_cancel;
}

impl Options {
    pub(crate) fn new(kind: OptionsKind) -> Result<Self> {
        // SAFETY: the output pointers are valid.
        made(|out, error| unsafe { sys::billcore_options_new(kind as i32, out, error) })
    }
    /// The library keeps a share of `hooks` as long as any client, list or call made with `self` exists.
    pub(crate) fn set_hooks(&self, hooks: &Arc<HookContext>) -> Result<()> {
        let context = Arc::into_raw(Arc::clone(hooks)).cast_mut().cast();
        // SAFETY: the handle is valid and used by this thread alone; the library releases the context, even if the
        // function fails.
        check(|error| unsafe { sys::billcore_options_set_hook(self.get(), Some(hook), context, Some(release), error) })
    }
}

/// The pointer to the options for C; NULL for `None`.
pub(super) fn raw<T>(options: Option<&Options>) -> *const T {
    options.map_or(ptr::null(), |options| options.get().cast_const().cast())
}

handle!(
    /// A cancel token: it cancels the calls that were given the token.
    Cancel, billcore_cancel, billcore_cancel_free, shared
);

impl Cancel {
    pub(crate) fn new() -> Result<Self> {
        // SAFETY: the output pointers are valid.
        made(|out, error| unsafe { sys::billcore_cancel_new(out, error) })
    }
    pub(crate) fn trigger(&self) {
        // SAFETY: the handle is valid.
        unsafe { sys::billcore_cancel_trigger(self.get()) }
    }
    pub(crate) fn is_triggered(&self) -> bool {
        // SAFETY: the handle is valid.
        unsafe { sys::billcore_cancel_is_triggered(self.get()) }
    }
}

handle!(
    /// A client.
    NativeClient, billcore_client, billcore_client_free, shared
);

calls! { NativeClient;
    fn close(&self) = billcore_client_close;
}

/// Call options as an argument of an operation; `None` when no option is set.
pub(super) type Call<'a> = Option<&'a Options>;

impl NativeClient {
    pub(crate) fn new(options: &Options) -> Result<Self> {
        // SAFETY: the options are valid and of the kind for a client, and the output pointers are valid.
        made(|out, error| unsafe { sys::billcore_client_new(raw(Some(options)), out, error) })
    }
    pub(crate) fn with_options(&self, changes: &Options) -> Result<Self> {
        // SAFETY: the handles are valid, and the output pointers are valid.
        made(|out, error| unsafe { sys::billcore_client_with_options(self.get(), raw(Some(changes)), out, error) })
    }
    // SAFETY, for all operations: the handles are valid, the options are of the kind that the function takes, the texts
    // are valid during the call, the output pointers are valid, and the C headers allow the cast from a typed resource
    // or page to the untyped one.

    pub(crate) fn find_charges(&self, charge: &NativeError, search: Call<'_>, call: Call<'_>) -> Result<NativePage> {
        let search = raw(search);
        // SAFETY: the conditions stated above for all operations hold.
        made::<NativePage>(|out, error| unsafe {
            sys::billcore_subscription_find_charges(self.get(), charge.get(), search, raw(call), out.cast(), error)
        })
    }
    pub(crate) fn find_charges_since(&self, id: &str, at: i64, search: Call<'_>, call: Call<'_>) -> Result<NativePage> {
        let (id, search) = (id.native(), raw(search));
        // SAFETY: the conditions stated above for all operations hold.
        made::<NativePage>(|out, error| unsafe {
            sys::billcore_subscription_find_charges_since(self.get(), id, at, search, raw(call), out.cast(), error)
        })
    }
}

handle!(
    /// An HTTP answer as received.
    NativeResponse, billcore_response, billcore_response_free, immutable
);

calls! { NativeResponse;
    fn body(&self) -> &[u8] = billcore_response_body;
    fn json(&self) -> NativeValue = billcore_response_json;
    fn info(&self) -> NativeInfo = billcore_response_get_info;
}

handle!(
    /// A list.
    NativeList, billcore_list, billcore_list_free, single
);

calls! { NativeList;
    fn next(&self) -> Step<Resource> = billcore_list_next;
    fn next_page(&self) -> Step<NativePage> = billcore_list_next_page;
    fn first(&self) -> Step<Resource> = billcore_list_first;
    #[cfg(feature = "_aio")]
    fn peek_page(&self) -> Step<NativePage> = billcore_list_peek_page;
    #[cfg(feature = "_aio")]
    fn skip(&self, count: usize) = billcore_list_skip;
    fn stop(&self) = billcore_list_stop;
    fn total(&self) -> Option<i64> = billcore_list_total;
    fn state(&self) -> String = billcore_list_state;
    fn fetched_pages(&self) -> i64 = billcore_list_fetched_pages;
}

impl NativeList {
    /// Whether the list is complete, and the reason if it is not; `None` until the list has ended or was stopped.
    pub(crate) fn verdict(&self) -> Result<Option<(bool, &'static str)>> {
        let (mut complete, mut present, mut reason) = (false, false, NO_TEXT);
        // SAFETY: the handle is valid, and no other thread uses it, because its owner is not `Sync`; the output
        // pointers are valid.
        check(|error| unsafe {
            sys::billcore_list_verdict(self.get(), &raw mut complete, &raw mut reason, &raw mut present, error)
        })?;
        // SAFETY: according to the C header, the library never frees the text of the reason.
        Ok(present.then(|| (complete, unsafe { text_out(reason) })))
    }
}

handle!(
    /// A page of a list.
    NativePage, billcore_page, billcore_page_free, immutable
);

calls! { NativePage;
    fn count(&self) -> usize = billcore_page_count;
    fn at(&self, index: usize) -> Resource = billcore_page_at;
    fn numbers(&self) -> Resource = billcore_page_numbers;
}

impl NativePage {
    /// The orders that a search found before it failed with [`ErrorCode::PossiblyMissed`].
    pub(crate) fn found(error: &NativeError) -> Result<Self> {
        // SAFETY: the handle and the output pointers are valid.
        made::<NativePage>(|out, err| unsafe { sys::billcore_subscription_found_charges(error.get(), out.cast(), err) })
    }
    pub(crate) fn column(&self, name: &str) -> Result<Vec<Cell<'_>>> {
        let empty = || sys::billcore_cell { text: NO_TEXT, number: 0, kind: sys::BILLCORE_CELL_ABSENT };
        let mut cells: Vec<_> = std::iter::repeat_with(empty).take(self.count()?).collect();
        let name = name.native();
        // SAFETY: the handle is valid, the name is valid during the call, and the vector has room for `cells.len()`
        // cells.
        check(|error| unsafe { sys::billcore_page_column(self.get(), name, cells.as_mut_ptr(), cells.len(), error) })?;
        Ok(cells
            .into_iter()
            .map(|cell| match cell.kind {
                sys::BILLCORE_CELL_ABSENT => Cell::Absent,
                sys::BILLCORE_CELL_NULL => Cell::Null,
                // SAFETY: the text is valid as long as the page, which the result borrows through `self`.
                sys::BILLCORE_CELL_TEXT => Cell::Text(unsafe { text_out(cell.text) }),
                sys::BILLCORE_CELL_INTEGER => Cell::Integer(cell.number),
                sys::BILLCORE_CELL_BOOLEAN => Cell::Boolean(cell.number != 0),
                _ => Cell::Other,
            })
            .collect())
    }
}
