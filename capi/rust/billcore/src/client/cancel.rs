use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::error::Result;
use crate::ffi::Cancel;

/// Ends calls from another thread: set it in [`CallOptions`](crate::CallOptions). Once it is triggered, a call that waits
/// returns at once with [`ErrorCode::Interrupted`](crate::ErrorCode::Interrupted), and a call that is made later sends
/// nothing. A list ends with the page it waits for, or with the next one it would fetch. A call whose answer came
/// first, or at the same moment, returns as usual.
///
/// Of a write the error says what is known: [`Error::outcome_unknown`](crate::Error::outcome_unknown) whether it may have
/// happened. Where that is false, nothing was sent.
///
/// Clones are the same token, and any number of threads may share it.
#[derive(Clone)]
pub struct CancelToken(Arc<Inner>);

struct Inner {
    native: Cancel,
    children: Mutex<Vec<Weak<Inner>>>,
}

impl CancelToken {
    /// A token that is not triggered yet.
    pub fn new() -> Result<Self> {
        Ok(Self(Arc::new(Inner { native: Cancel::new()?, children: Mutex::new(Vec::new()) })))
    }
    /// A token that is triggered with this one, and also on its own.
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
    /// Ends the calls of the token, those that are running and those to come. It cannot be taken back; triggering again does
    /// nothing. It waits for nothing.
    pub fn trigger(&self) {
        self.0.trigger();
    }
    /// Whether it was triggered.
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
        // A child that is added from here on sees that this one is triggered.
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
