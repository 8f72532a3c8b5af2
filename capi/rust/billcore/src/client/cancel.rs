use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::error::Result;
use crate::ffi::Cancel;

/// Cancels calls that run on other threads: pass the token with [`CallOptions::cancel`](crate::CallOptions::cancel).
/// When the token is triggered, a running call returns at once with the error
/// [`ErrorCode::Interrupted`](crate::ErrorCode::Interrupted). A call that begins after the trigger returns the same
/// error and sends nothing. A list returns the error if it is waiting for a page, or when it needs a further page. A
/// call whose answer arrives before the trigger, or at the same moment, returns as usual.
///
/// For a cancelled write, [`Error::outcome_unknown`](crate::Error::outcome_unknown) tells whether the write may have
/// happened; if it is false, the write was not sent.
///
/// A clone is another handle of the same token, and any number of threads may share a token.
#[derive(Clone)]
pub struct CancelToken(Arc<Inner>);

struct Inner {
    native: Cancel,
    children: Mutex<Vec<Weak<Inner>>>,
}

impl CancelToken {
    /// Makes a token that is not triggered yet.
    pub fn new() -> Result<Self> {
        Ok(Self(Arc::new(Inner { native: Cancel::new()?, children: Mutex::new(Vec::new()) })))
    }
    /// Makes a child token, which is triggered when `self` is triggered. Triggering the child does not trigger `self`.
    pub fn child(&self) -> Result<Self> {
        let made = Self::new()?;
        {
            let mut children = self.0.children.lock().unwrap_or_else(PoisonError::into_inner);
            children.retain(|child| child.strong_count() > 0);
            children.push(Arc::downgrade(&made.0));
        }
        if self.is_triggered() {
            made.trigger();
        }
        Ok(made)
    }
    /// Cancels all running and later calls that use the token. A triggered token stays triggered. `trigger` does not
    /// wait for the calls to end.
    pub fn trigger(&self) {
        self.0.trigger();
    }
    /// Whether the token was triggered.
    pub fn is_triggered(&self) -> bool {
        self.0.native.is_triggered()
    }
    pub(super) fn native(&self) -> &Cancel {
        &self.0.native
    }
}

impl Inner {
    fn trigger(&self) {
        self.native.trigger();
        // If another thread adds a child after this line, child() triggers the new child, because child() checks the
        // parent after adding.
        let children = std::mem::take(&mut *self.children.lock().unwrap_or_else(PoisonError::into_inner));
        for child in children.iter().filter_map(Weak::upgrade) {
            child.trigger();
        }
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken").field("triggered", &self.is_triggered()).finish()
    }
}
