use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{CancelToken, Hooks};
use crate::error::{Error, ErrorCode, Result};
use crate::ffi::{HookContext, Options, OptionsKind};

/// Options of a call, which override the client's options: see [`Client::with_call`](crate::Client::with_call).
#[derive(Clone, Default)]
#[must_use]
pub struct CallOptions {
    timeout: Timeout,
    total_timeout: Option<Duration>,
    deadline: Option<Instant>,
    cancel: Option<CancelToken>,
    hooks: Option<Arc<HookContext>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Timeout {
    #[default]
    OfClient,
    After(Duration),
    Never,
}

impl CallOptions {
    /// Makes options of which none is set.
    pub fn new() -> Self {
        Self::default()
    }
    /// Overrides the client's time-out. For a list, the time-out applies to each page.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Timeout::After(timeout);
        self
    }
    /// Removes the client's time-out for the call. A [`CallOptions::deadline`] still applies.
    pub fn no_timeout(mut self) -> Self {
        self.timeout = Timeout::Never;
        self
    }
    /// Limits the time of a whole list, search or `get_many`, from its first request on, with the caller's pauses.
    /// Without it a list and `get_many` have no limit, and the time-out of a search is that of the whole search.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.total_timeout = Some(timeout);
        self
    }
    /// Ends the call at the instant `deadline`. The deadline replaces the client's time-out; if
    /// [`CallOptions::timeout`] is also set, the call ends at the earlier of the two times. For a list, each page has a
    /// time-out: the time from the making of the list to the deadline.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }
    /// Ends the call when the token is triggered. For a list, the token applies to every page.
    pub fn cancel(mut self, token: &CancelToken) -> Self {
        self.cancel = Some(token.clone());
        self
    }
    /// Sets the hooks of the call, which replace the client's hooks.
    pub fn hooks(mut self, hooks: impl Hooks + 'static) -> Self {
        self.hooks = Some(HookContext::new(hooks));
        self
    }

    /// Returns the options in `self`; an option that is not set gets the value that it has in `before`.
    pub(super) fn over(self, before: &Self) -> Self {
        Self {
            timeout: if self.timeout == Timeout::OfClient { before.timeout } else { self.timeout },
            total_timeout: self.total_timeout.or(before.total_timeout),
            deadline: self.deadline.or(before.deadline),
            cancel: self.cancel.or_else(|| before.cancel.clone()),
            hooks: self.hooks.or_else(|| before.hooks.clone()),
        }
    }
    /// The token, and the options without it, which the C library does not take for the calls of a loop.
    #[cfg(feature = "_aio")]
    pub(crate) fn on_loop(&self) -> Result<(Option<&CancelToken>, Option<Options>)> {
        Ok((self.cancel.as_ref(), Self { cancel: None, ..self.clone() }.native()?))
    }
    /// Makes the C library's options object; `None` when nothing is set.
    pub(super) fn native(&self) -> Result<Option<Options>> {
        let timed = self.timeout != Timeout::OfClient || self.total_timeout.is_some() || self.deadline.is_some();
        if !timed && self.cancel.is_none() && self.hooks.is_none() {
            return Ok(None);
        }
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return Err(Error::new(ErrorCode::Timeout, "the deadline passed before the request: nothing was sent"));
        }
        let out = Options::new(OptionsKind::Call)?;
        match (self.timeout, left) {
            (Timeout::After(timeout), Some(left)) => out.set_milliseconds("timeout_ms", timeout.min(left))?,
            (Timeout::After(length), None) | (_, Some(length)) => out.set_milliseconds("timeout_ms", length)?,
            (Timeout::Never, None) => out.set_flag("no_timeout", true)?,
            (Timeout::OfClient, None) => {}
        }
        if let Some(length) = self.total_timeout {
            out.set_milliseconds("total_timeout_ms", length)?;
        }
        if let Some(token) = &self.cancel {
            out.set_cancel(token.native())?;
        }
        if let Some(hooks) = &self.hooks {
            out.set_hooks(hooks)?;
        }
        Ok(Some(out))
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("total_timeout", &self.total_timeout)
            .field("deadline", &self.deadline)
            .field("cancel", &self.cancel)
            .finish_non_exhaustive()
    }
}
