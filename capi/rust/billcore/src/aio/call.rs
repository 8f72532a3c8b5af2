use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::reactor::{Begin, Call, Command, Engine, Outcome, PartId, Reactor, in_hook};
use crate::client::{CancelToken, Triggered};
use crate::error::{Error, ErrorCode, Result};
use crate::ffi::Ticket;

/// The future of a call. Its first poll starts the call; dropping it gives the call up.
pub(super) struct Pending {
    shared: Arc<Shared>,
    start: Option<(Option<PartId>, Begin)>,
    token: Option<CancelToken>,
}

struct Shared {
    reactor: Arc<Reactor>,
    call: Arc<Call>,
}

impl Triggered for Shared {
    fn trigger(&self) {
        self.reactor.command(Command::Cancel(Arc::clone(&self.call)));
    }
}

impl Pending {
    /// `begin` starts the call, which is a fetch for the list if there is one.
    pub(super) fn new(
        reactor: &Arc<Reactor>,
        token: Option<&CancelToken>,
        list: Option<PartId>,
        begin: impl FnOnce(&Engine) -> Result<Ticket> + Send + 'static,
    ) -> Self {
        let shared = Arc::new(Shared { reactor: Arc::clone(reactor), call: Arc::default() });
        Self { shared, start: Some((list, Box::new(begin))), token: token.cloned() }
    }

    fn start(&mut self) -> Result<()> {
        let Some((list, begin)) = self.start.take() else { return Ok(()) };
        if let Some(token) = &self.token {
            token.add(Arc::downgrade(&self.shared) as _);
            if token.is_triggered() {
                let text = "cancelled before it was sent: the call's token was triggered";
                return Err(Error::new(ErrorCode::Interrupted, text));
            }
        }
        self.shared.reactor.command(Command::Start(Arc::clone(&self.shared.call), list, begin));
        Ok(())
    }
}

impl Future for Pending {
    type Output = Result<Outcome>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let shared = Arc::clone(&self.shared);
        let (reactor, call) = (&shared.reactor, &shared.call);
        if self.start.is_some() {
            if reactor.is_in_hook() {
                return Poll::Ready(Err(in_hook()));
            }
            reactor.attend()?;
            self.start()?;
            return call.poll(Some(cx.waker().clone()));
        }
        let polled = call.poll(Some(cx.waker().clone()));
        if polled.is_pending() && !reactor.is_in_hook() && reactor.attend().is_err() {
            // Nothing drives the loop here. The call's end says whether a write may have happened.
            reactor.command(Command::Cancel(Arc::clone(call)));
            return call.poll(Some(cx.waker().clone()));
        }
        polled
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.start.is_none() && self.shared.call.leave() {
            self.shared.reactor.command(Command::Cancel(Arc::clone(&self.shared.call)));
        }
    }
}
