use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::AsyncClient;
use super::call::Pending;
use super::reactor::{Engine, OnReactor};
use crate::client::{CancelToken, Got, Ids, Item, ManyOptions, Read, Taken};
use crate::error::Result;
use crate::ffi::{NativeMany, Step};

/// An asynchronous [`Many`](crate::Many): a [`Stream`]. Its requests progress also while it is not polled, and dropping
/// the future of [`AsyncMany::next`] loses nothing. After [`CallOptions::cancel`](crate::CallOptions::cancel) the calls
/// stay in flight until the stream is dropped.
pub struct AsyncMany<T, I: Iterator> {
    waiting: Option<Pending>,
    ids: Ids<I>,
    failed: bool,
    token: Option<CancelToken>,
    reads: OnReactor,
    kind: PhantomData<fn() -> T>,
}

impl AsyncClient {
    pub(super) fn many<T: Item, I: Iterator>(
        &self,
        ids: I,
        options: ManyOptions,
        read: Read<I::Item>,
    ) -> Result<AsyncMany<T, I>> {
        let (token, call) = self.client.parts().1.on_loop()?;
        let ManyOptions { concurrency, ordered } = options;
        let reads = self.reactor.add_many(|on| NativeMany::on_loop(on, concurrency, ordered, call.as_ref()))?;
        Ok(AsyncMany {
            waiting: None,
            ids: Ids::new(ids, ordered, read),
            failed: false,
            token: token.cloned(),
            reads,
            kind: PhantomData,
        })
    }
}

impl<T: Item, I: Iterator> AsyncMany<T, I> {
    /// Returns the next result; `None` at the end, and once after an error.
    pub async fn next(&mut self) -> Option<Result<Got<I::Item, T>>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<<Self as Stream>::Item>> {
        if std::mem::take(&mut self.failed) {
            return Poll::Ready(None);
        }
        let step = ready!(self.step(cx));
        self.failed = step.is_err();
        Poll::Ready(step.transpose())
    }

    fn step(&mut self, cx: &mut Context<'_>) -> Poll<Taken<I::Item, T>> {
        loop {
            if let Some(waiting) = &mut self.waiting {
                let waited = ready!(Pin::new(waiting).poll(cx));
                self.waiting = None;
                waited?;
            }
            let reads = &self.reads;
            self.ids.fill(
                || reads.many(|many| Ok(many.wants())),
                |read, number| reads.many(|many| many.add(read, number)),
            )?;
            if let Some(refused) = self.ids.refused() {
                return Poll::Ready(Ok(Some(refused)));
            }
            match reads.many(NativeMany::next)? {
                Step::Item(Some((number, result))) => return Poll::Ready(Ok(self.ids.got(number, result))),
                Step::Item(None) => return Poll::Ready(Ok(None)),
                Step::Done => {}
            }
            let id = reads.id;
            let begin = move |engine: &Engine| engine.native.wait(engine.many(id)?);
            self.waiting = Some(Pending::new(&reads.reactor, self.token.as_ref(), None, begin));
        }
    }
}

// Nothing in it is pinned.
impl<T, I: Iterator> Unpin for AsyncMany<T, I> {}

impl<T: Item, I: Iterator> Stream for AsyncMany<T, I> {
    type Item = Result<Got<I::Item, T>>;
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(cx)
    }
}

impl<T, I: Iterator> fmt::Debug for AsyncMany<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncMany").field("waiting", &self.waiting.is_some()).finish_non_exhaustive()
    }
}
