use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::{Trigger, ended, slot};
use crate::client::{Item, List, Page, Verdict};
use crate::error::{Error, ErrorCode, Result};
use crate::ffi::Step;

/// An asynchronous [`List`]: await its items with [`AsyncList::next`], or use it as a [`Stream`]. Fetching a page
/// occupies a thread; returning the items of a fetched page does not.
///
/// Dropping the future of `next` loses no item: the list continues to fetch the page, and the next call of `next`
/// returns the item that the dropped future would have returned. Dropping the list cancels the list's requests in
/// flight.
pub struct AsyncList<T> {
    /// The list; `None` while the blocking task that fetches a page owns the list.
    list: Option<List<T>>,
    fetching: Option<Fetching<T>>,
    page: Option<Page<T>>,
    given: usize,
    /// How many items of `page` are already marked as read in the C library's list.
    told: usize,
    failed: bool,
    slots: Arc<Semaphore>,
    _ends: Trigger,
}

type Fetched<T> = Result<(List<T>, Result<Option<Page<T>>>)>;
type Fetching<T> = Pin<Box<dyn Future<Output = Fetched<T>> + Send>>;

impl<T: Item> AsyncList<T> {
    pub(super) fn of(list: List<T>, ends: Trigger, slots: &Arc<Semaphore>) -> Self {
        Self {
            list: Some(list),
            fetching: None,
            page: None,
            given: 0,
            told: 0,
            failed: false,
            slots: Arc::clone(slots),
            _ends: ends,
        }
    }

    /// Returns the next item; `None` at the end of the list. After an error, `next` returns `None` once; a further
    /// `next` requests the failed page again.
    pub async fn next(&mut self) -> Option<Result<T>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        if std::mem::take(&mut self.failed) {
            return Poll::Ready(None);
        }
        loop {
            if let Some(page) = self.page.as_ref().filter(|page| self.given < page.len()) {
                let item = page.at(self.given);
                self.given += 1;
                if self.given == page.len() {
                    let _ = self.tell(); // if tell() fails, fetch() calls tell() again and returns the error
                }
                return Poll::Ready(Some(item));
            }
            if self.fetching.is_none() {
                match self.fetch() {
                    Ok(begun) => self.fetching = Some(begun),
                    Err(error) => return self.fail(error),
                }
            }
            let Some(fetching) = &mut self.fetching else { continue };
            let fetched = ready!(fetching.as_mut().poll(cx));
            self.fetching = None;
            match fetched {
                Ok((list, step)) => {
                    self.list = Some(list);
                    match step {
                        Ok(Some(page)) => self.page = Some(page),
                        Ok(None) => return Poll::Ready(None),
                        Err(error) => return self.fail(error),
                    }
                }
                Err(error) => return self.fail(error),
            }
        }
    }

    fn fail(&mut self, error: Error) -> Poll<Option<Result<T>>> {
        self.failed = true;
        Poll::Ready(Some(Err(error)))
    }

    /// Marks the current page as read, and begins to fetch the next page.
    fn fetch(&mut self) -> Result<Fetching<T>> {
        self.tell()?;
        (self.page, self.given, self.told) = (None, 0, 0);
        let mut list = self.list.take().ok_or_else(|| not_here(false))?;
        let slots = Arc::clone(&self.slots);
        Ok(Box::pin(async move {
            let slot = slot(&slots).await?;
            let task = spawn_blocking(move || {
                let _slot = slot;
                let step = next_page(&mut list);
                (list, step)
            });
            task.await.map_err(ended)
        }))
    }

    /// Marks the items that `next` has returned as read in the C library's list.
    fn tell(&mut self) -> Result<()> {
        let fetching = self.fetching.is_some();
        let list = self.list.as_mut().ok_or_else(|| not_here(fetching))?;
        if self.given > self.told {
            list.native().skip(self.given - self.told)?;
            self.told = self.given;
        }
        Ok(())
    }

    fn standing(&self) -> Result<&List<T>> {
        self.list.as_ref().ok_or_else(|| not_here(self.fetching.is_some()))
    }
    /// Returns the same value as [`List::state`]. `state`, `total`, `fetched_pages` and `verdict` return
    /// [`ErrorCode::InvalidArgument`] if the caller dropped a pending future of `next` and the list is still fetching
    /// the page, and [`ErrorCode::Interrupted`] if the list's tokio runtime was shut down.
    pub fn state(&mut self) -> Result<String> {
        self.tell()?;
        self.standing()?.state()
    }
    /// Returns the same value as [`List::total`].
    pub fn total(&self) -> Result<Option<i64>> {
        self.standing()?.total()
    }
    /// Returns the same value as [`List::fetched_pages`].
    pub fn fetched_pages(&self) -> Result<i64> {
        self.standing()?.fetched_pages()
    }
    /// Returns the same value as [`List::verdict`].
    pub fn verdict(&self) -> Result<Option<Verdict>> {
        self.standing()?.verdict()
    }
}

fn next_page<T: Item>(list: &mut List<T>) -> Result<Option<Page<T>>> {
    // `peek_page` does not mark items as read. Only `tell` marks items as read, after `next` has returned them, so
    // `state` is exact in the middle of a page.
    loop {
        let Step::Item(native) = list.native().peek_page()? else { return Ok(None) };
        let page = Page::own(native)?;
        if !page.is_empty() {
            return Ok(Some(page));
        }
        if let Step::Done = list.native().next_page()? {
            return Ok(None);
        }
    }
}

/// The error of a method called while a blocking task owns the list, or after the tokio runtime shut down and dropped
/// the list.
fn not_here(fetching: bool) -> Error {
    if fetching {
        Error::new(ErrorCode::InvalidArgument, "a page of the list is being fetched: await its next item first")
    } else {
        Error::new(ErrorCode::Interrupted, "the list ended with the tokio runtime it was read on: make a new one")
    }
}

impl<T: Item> Stream for AsyncList<T> {
    type Item = Result<T>;
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        self.get_mut().poll(cx)
    }
}

impl<T> fmt::Debug for AsyncList<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncList").field("fetching", &self.fetching.is_some()).finish_non_exhaustive()
    }
}
