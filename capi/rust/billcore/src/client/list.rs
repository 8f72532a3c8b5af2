use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{Client, Page};
use crate::error::Result;
use crate::ffi::{HookContext, NativeClient, NativeList, Options, Step};

mod sealed {
    pub trait Sealed: Sized {
        fn own(native: crate::ffi::Resource) -> Self;
    }
}
pub(crate) use sealed::Sealed;

/// What lists hold, such as [`Order`](crate::Order).
pub trait Item: Sealed + Send + Sync + 'static {}

/// A list, read lazily and in order: an iterator of its items, which fetches the next pages while one is read. It may outlive
/// its client, and what it gives may outlive it. Dropping it ends what it has in flight.
///
/// After an error the iterator ends; iterating on, as with [`Iterator::by_ref`], requests the same page again. Items come by
/// [`List::pages`] too.
///
/// One thread at a time may use it: it is `Send`, not `Sync`.
///
/// ```compile_fail,E0277
/// fn shared<T: Sync>() {}
/// shared::<billcore::List<billcore::Order>>();
/// ```
///
/// ```
/// fn sent<T: Send + 'static>() {}
/// sent::<billcore::List<billcore::Order>>();
/// ```
pub struct List<T> {
    native: NativeList,
    /// The library may call these until the list is freed.
    _hooks: [Option<Arc<HookContext>>; 2],
    failed: bool,
    kind: PhantomData<fn() -> T>,
}

impl<T: Item> List<T> {
    pub(super) fn make(
        client: &Client,
        begin: impl FnOnce(&NativeClient, Option<&Options>) -> Result<NativeList>,
    ) -> Result<Self> {
        let native = client.run(begin)?;
        let hooks = [client.shared.hooks.clone(), client.call.hooks.clone()];
        Ok(Self { native, _hooks: hooks, failed: false, kind: PhantomData })
    }

    /// The item or page that a step gave; after an error `None` once, so that a loop ends.
    fn take<N, M>(&mut self, step: Result<Step<N>>, own: impl FnOnce(N) -> Result<M>) -> Option<Result<M>> {
        let made = match step {
            Ok(Step::Item(native)) => own(native),
            Ok(Step::Done) => return None,
            Err(error) => Err(error),
        };
        self.failed = made.is_err();
        Some(made)
    }
    fn ended_by_error(&mut self) -> bool {
        std::mem::take(&mut self.failed)
    }

    /// Reads on by whole pages: first what is left of a page already begun.
    pub fn pages(&mut self) -> Pages<'_, T> {
        Pages { list: self }
    }
    /// The list's first item, without moving on: one request at most.
    pub fn first(&mut self) -> Result<Option<T>> {
        match self.native.first()? {
            Step::Item(native) => Ok(Some(T::own(native))),
            Step::Done => Ok(None),
        }
    }
    /// The rest is not wanted: ends what is in flight. It does nothing at the end of the list. Reading on is possible.
    pub fn stop(&mut self) -> Result<()> {
        self.native.stop()
    }
    /// The position of the list. Pass it as `resume` to a later query without `page`, in any language: that list continues
    /// behind the item given last, also after an error. The text has no secrets and the ids of the last 18 pages: 4 KB for
    /// pages of 20 records, 39 KB for 200. This function sends nothing.
    pub fn state(&self) -> Result<String> {
        self.native.state()
    }
    /// The service's count of the whole list, from the page read last; `None` before the first.
    pub fn total(&self) -> Result<Option<i64>> {
        self.native.total()
    }
    /// How many pages were fetched.
    pub fn fetched_pages(&self) -> Result<i64> {
        self.native.fetched_pages()
    }
    /// Whether everything was read that was there from start to end; `None` until the last item was taken or the list
    /// was stopped.
    pub fn verdict(&self) -> Result<Option<Verdict>> {
        let found = self.native.verdict()?;
        Ok(found.map(|(complete, reason)| Verdict { complete, reason: Some(reason).filter(|_| !complete) }))
    }
    #[cfg(feature = "tokio")]
    pub(crate) fn native(&mut self) -> &mut NativeList {
        &mut self.native
    }
}

impl<T: Item> Iterator for List<T> {
    type Item = Result<T>;
    fn next(&mut self) -> Option<Result<T>> {
        if self.ended_by_error() {
            return None;
        }
        let step = self.native.next();
        self.take(step, |native| Ok(T::own(native)))
    }
}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").finish_non_exhaustive()
    }
}

/// The pages of a list: see [`List::pages`].
#[derive(Debug)]
pub struct Pages<'a, T> {
    list: &'a mut List<T>,
}

impl<T: Item> Iterator for Pages<'_, T> {
    type Item = Result<Page<T>>;
    fn next(&mut self) -> Option<Self::Item> {
        if self.list.ended_by_error() {
            return None;
        }
        let step = self.list.native.next_page();
        self.list.take(step, Page::own)
    }
}

/// What is known of a list at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// Everything was read that was there from start to end.
    pub complete: bool,
    /// Why a record may have been missed, such as "`total_changed`" or "stopped". "`may_repeat`": the list has grown by
    /// more records than its state remembers, so some may also have been given twice; drop duplicates by id.
    pub reason: Option<&'static str>,
}
