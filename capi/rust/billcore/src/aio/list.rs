use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::AsyncClient;
use super::call::Pending;
use super::reactor::{Engine, OnReactor};
use crate::client::{CancelToken, Item, Page, Verdict};
use crate::error::{Error, ErrorCode, Result};
use crate::ffi::{NativeList, Operation, Step};

/// An asynchronous [`List`](crate::List): await its items with [`AsyncList::next`], or use it as a [`Stream`] of items.
/// [`AsyncList::pages`] is a stream of pages.
///
/// Dropping the future of `next` loses no item: the list continues to fetch the page, and the next call of `next`
/// returns the item that the dropped future would have returned. Dropping the list cancels the list's requests in
/// flight.
pub struct AsyncList<T> {
    fetching: Option<Pending>,
    page: Option<Page<T>>,
    given: usize,
    /// How many items of `page` are already marked as read in the C library's list.
    told: usize,
    failed: bool,
    token: Option<CancelToken>,
    list: OnReactor,
}

impl AsyncClient {
    pub(super) fn list<T: Item>(&self, operation: &Operation) -> Result<AsyncList<T>> {
        let (client, call) = self.client.parts();
        let (token, options) = call.on_loop()?;
        let list = self.reactor.add_list(client.list(operation, options.as_ref())?)?;
        Ok(AsyncList { fetching: None, page: None, given: 0, told: 0, failed: false, token: token.cloned(), list })
    }
}

impl<T: Item> AsyncList<T> {
    /// Returns the next item; `None` at the end of the list. After an error, `next` returns `None` once; a further
    /// `next` requests the failed page again.
    pub async fn next(&mut self) -> Option<Result<T>> {
        poll_fn(|cx| self.poll(cx)).await
    }
    /// Reads whole pages from the current position. The first page lacks the items that `self` has already returned.
    pub fn pages(&mut self) -> AsyncPages<'_, T> {
        AsyncPages { list: self }
    }

    /// Returns the list's first item without moving the position. Sends at most one request.
    pub async fn first(&mut self) -> Result<Option<T>> {
        if self.page.is_none() {
            self.page = poll_fn(|cx| self.fetch(cx)).await?;
        }
        Ok(match self.standing()?.list(NativeList::first)? {
            Step::Item(native) => Some(T::own(native)),
            Step::Done => None,
        })
    }
    /// Cancels prefetching, as [`List::stop`](crate::List::stop).
    pub fn stop(&mut self) -> Result<()> {
        self.tell()?;
        self.standing()?.list(NativeList::stop)
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
            match ready!(self.fetch(cx)) {
                Ok(Some(page)) => self.page = Some(page),
                Ok(None) => return Poll::Ready(None),
                Err(error) => return self.fail(error),
            }
        }
    }

    fn poll_page(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Page<T>>>> {
        if std::mem::take(&mut self.failed) {
            return Poll::Ready(None);
        }
        let page = match ready!(self.fetch(cx)) {
            Ok(Some(page)) => page,
            Ok(None) => return Poll::Ready(None),
            Err(error) => return self.fail(error),
        };
        match self.list.list(|list| list.skip(page.len())) {
            Ok(()) => Poll::Ready(Some(Ok(page))),
            Err(error) => self.fail(error),
        }
    }

    fn fail<R>(&mut self, error: Error) -> Poll<Option<Result<R>>> {
        self.failed = true;
        Poll::Ready(Some(Err(error)))
    }

    /// Fetches what is unread of the list after the items that were returned; `None` at the end.
    fn fetch(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Page<T>>>> {
        if self.fetching.is_none() {
            self.tell()?;
            (self.page, self.given, self.told) = (None, 0, 0);
            let OnReactor { reactor, id } = &self.list;
            let id = *id;
            let begin = move |engine: &Engine| engine.native.fetch(engine.list(id)?);
            self.fetching = Some(Pending::new(reactor, self.token.as_ref(), Some(id), begin));
        }
        let Some(fetching) = &mut self.fetching else { return Poll::Pending };
        let fetched = ready!(Pin::new(fetching).poll(cx));
        self.fetching = None;
        Poll::Ready(fetched?.page()?.map(Page::own).transpose())
    }

    /// Marks the items that `next` has returned as read in the C library's list.
    fn tell(&mut self) -> Result<()> {
        self.standing()?;
        if self.given > self.told {
            self.list.list(|list| list.skip(self.given - self.told))?;
            self.told = self.given;
        }
        Ok(())
    }

    fn standing(&self) -> Result<&OnReactor> {
        if self.fetching.is_none() {
            return Ok(&self.list);
        }
        Err(Error::new(ErrorCode::InvalidArgument, "a page of the list is being fetched: await its next item first"))
    }
    /// Returns the same value as [`List::state`](crate::List::state). `state`, `total`, `fetched_pages` and `verdict`
    /// return [`ErrorCode::InvalidArgument`] if the caller dropped a pending future of `next` and the list is still
    /// fetching the page.
    pub fn state(&mut self) -> Result<String> {
        self.tell()?;
        self.standing()?.list(NativeList::state)
    }
    /// Returns the same value as [`List::total`](crate::List::total).
    pub fn total(&self) -> Result<Option<i64>> {
        self.standing()?.list(NativeList::total)
    }
    /// Returns the same value as [`List::fetched_pages`](crate::List::fetched_pages).
    pub fn fetched_pages(&self) -> Result<i64> {
        self.standing()?.list(NativeList::fetched_pages)
    }
    /// Returns the same value as [`List::verdict`](crate::List::verdict).
    pub fn verdict(&self) -> Result<Option<Verdict>> {
        self.standing()?.list(Verdict::of)
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

/// A [`Stream`] of the pages of a list: see [`AsyncList::pages`].
#[derive(Debug)]
pub struct AsyncPages<'a, T> {
    list: &'a mut AsyncList<T>,
}

impl<T: Item> AsyncPages<'_, T> {
    /// Returns the next page, as [`AsyncList::next`] returns items.
    pub async fn next(&mut self) -> Option<Result<Page<T>>> {
        poll_fn(|cx| self.list.poll_page(cx)).await
    }
}

impl<T: Item> Stream for AsyncPages<'_, T> {
    type Item = Result<Page<T>>;
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().list.poll_page(cx)
    }
}
