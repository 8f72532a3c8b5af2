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
    children: Mutex<Children>,
}

#[derive(Default)]
struct Children {
    all: Vec<Weak<dyn Triggered>>,
    /// How many there were after the last look for those that are gone.
    kept: usize,
}

/// Something that a token triggers when the token is triggered.
pub(crate) trait Triggered: Send + Sync {
    fn trigger(&self);
}

impl CancelToken {
    /// Makes a token that is not triggered yet.
    pub fn new() -> Result<Self> {
        Ok(Self(Arc::new(Inner { native: Cancel::new()?, children: Mutex::default() })))
    }
    /// Makes a child token, which is triggered when `self` is triggered. Triggering the child does not trigger `self`.
    pub fn child(&self) -> Result<Self> {
        let made = Self::new()?;
        self.add(Arc::downgrade(&made.0) as Weak<dyn Triggered>);
        if self.is_triggered() {
            made.trigger();
        }
        Ok(made)
    }
    /// Adds something that `trigger` will trigger as long as it exists. The caller looks afterwards whether the token
    /// was triggered before.
    pub(crate) fn add(&self, child: Weak<dyn Triggered>) {
        let mut children = self.0.children.lock().unwrap_or_else(PoisonError::into_inner);
        if children.all.len() > 2 * children.kept {
            children.all.retain(|child| child.strong_count() > 0);
            children.kept = children.all.len();
        }
        children.all.push(child);
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

impl Triggered for Inner {
    fn trigger(&self) {
        self.native.trigger();
        // A child that another thread adds after this line learns of it by looking after add().
        let children = std::mem::take(&mut *self.children.lock().unwrap_or_else(PoisonError::into_inner));
        for child in children.all.iter().filter_map(Weak::upgrade) {
            child.trigger();
        }
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken").field("triggered", &self.is_triggered()).finish()
    }
}
