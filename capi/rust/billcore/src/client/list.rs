use std::fmt;
use std::marker::PhantomData;

use super::{Client, Page};
use crate::error::Result;
use crate::ffi::{NativeClient, NativeList, Options, Step};

mod sealed {
    pub trait Sealed: Sized {
        fn own(native: crate::ffi::Resource) -> Self;
    }
}
pub(crate) use sealed::Sealed;

/// A type that a list can have as its item type, such as [`Order`](crate::Order).
pub trait Item: Sealed + Send + Sync + 'static {}

/// A lazy list: an iterator over items that prefetches the next pages while the caller reads the current page. A list
/// may outlive its client, and an item may outlive its list. Dropping a list cancels the list's requests in flight.
///
/// After an error the iterator returns `None` once. The first `next` after that `None`, for example in a second loop
/// over [`Iterator::by_ref`], requests the failed page again. [`List::pages`] reads whole pages instead of items.
///
/// Only one thread at a time may use a list: `List` is `Send`, but not `Sync`.
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
    failed: bool,
    kind: PhantomData<fn() -> T>,
}

impl<T: Item> List<T> {
    pub(super) fn make(
        client: &Client,
        begin: impl FnOnce(&NativeClient, Option<&Options>) -> Result<NativeList>,
    ) -> Result<Self> {
        Ok(Self { native: client.run(begin)?, failed: false, kind: PhantomData })
    }

    /// Converts the item or page in `step` to a public type with the function `own`. After an error, `take` makes the
    /// iterator return `None` once, so that a loop ends.
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

    /// Reads whole pages from the current position. The first page lacks the items that `self` has already returned.
    pub fn pages(&mut self) -> Pages<'_, T> {
        Pages { list: self }
    }
    /// Returns the list's first item without moving the position. Sends at most one request.
    pub fn first(&mut self) -> Result<Option<T>> {
        match self.native.first()? {
            Step::Item(native) => Ok(Some(T::own(native))),
            Step::Done => Ok(None),
        }
    }
    /// Cancels prefetching. After `stop`, the caller may still read the list. At the end of the list `stop` does
    /// nothing.
    pub fn stop(&mut self) -> Result<()> {
        self.native.stop()
    }
    /// The position of the list, as text. To resume the list later, in any language, pass the state as `resume` to a
    /// query without `page`. The resumed list continues after the last item that this list returned, even if an error
    /// ended the reading. The state contains ids, but no secrets: the ids of the pages read last (18 pages, or 2 *
    /// `concurrency` + 2 if that is more), at most 4096 ids. The state has about 4 KB if a page has 20 records, and
    /// 39 KB if a page has 200. `state` sends no request.
    pub fn state(&self) -> Result<String> {
        self.native.state()
    }
    /// Number of records in the whole list, according to the page read last; `None` before the first page.
    pub fn total(&self) -> Result<Option<i64>> {
        self.native.total()
    }
    /// How many pages were fetched so far.
    pub fn fetched_pages(&self) -> Result<i64> {
        self.native.fetched_pages()
    }
    /// Whether the list returned every record that existed during the whole reading. `None` until the last item was
    /// read or the list was stopped.
    pub fn verdict(&self) -> Result<Option<Verdict>> {
        Verdict::of(&self.native)
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

/// An iterator over the pages of a list: see [`List::pages`].
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

/// Whether a list returned all its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// Whether the list returned every record that existed during the whole reading.
    pub complete: bool,
    /// Why the list may have missed a record, such as "`total_changed`" or "stopped". The reason "`may_repeat`" means
    /// that the list grew by more records than the number of ids in [`List::state`], so the list may have missed
    /// records and returned others twice; drop duplicates by id.
    pub reason: Option<&'static str>,
}

impl Verdict {
    pub(crate) fn of(list: &NativeList) -> Result<Option<Self>> {
        let found = list.verdict()?;
        Ok(found.map(|(complete, reason)| Self { complete, reason: Some(reason).filter(|_| !complete) }))
    }
}
