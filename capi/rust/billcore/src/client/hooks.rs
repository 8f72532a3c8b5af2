use std::time::Duration;

use crate::ErrorCode;

/// One attempt of a call. It holds neither header values nor bodies, and an id only in `path`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Attempt<'a> {
    /// From 1.
    pub number: u32,
    /// Such as GET.
    pub method: &'a str,
    /// Such as `/subscription/{id}`; "(other)" for a path that is not part of the interface.
    pub route: &'a str,
    /// Of the answer; `None` before it, and without a complete one.
    pub status: Option<u16>,
    /// Why there is no complete answer; [`ErrorCode::Interrupted`]: the attempt was given up.
    pub failure: Option<ErrorCode>,
    /// Of the answer.
    pub request_id: Option<&'a str>,
    /// Of the attempt, after it.
    pub duration: Duration,
    /// Before the next attempt, in [`Hooks::on_retry`].
    pub wait: Duration,
    /// After the attempt: whether at least a part of the request was sent.
    pub sent: bool,
    /// After the attempt: whether it is a write that may or may not have happened.
    pub outcome_unknown: bool,
    /// Only of a write that was sent and given up (a token, a dropped future): its path with the id. It may have happened, and
    /// no error reaches the caller of a dropped future.
    pub path: Option<&'a str>,
}

/// Told of every attempt of every call: for logs, measures and traces. The methods run on the thread of the call, several at
/// once where threads share a client, and the call waits for them. Pages that are given up are told on the thread that stops
/// or drops their list.
///
/// Each `on_request` is followed by exactly one `on_response`, however the attempt ends. A hook may make other calls, but must
/// not use the list whose page it is told of.
///
/// A panic in one ends that method, not the call: what became of a write must reach the caller. The process's panic hook has
/// told of it by then.
pub trait Hooks: Send + Sync {
    /// Before an attempt.
    fn on_request(&self, attempt: &Attempt<'_>) {
        let _ = attempt;
    }
    /// After it, with an answer or without, or given up.
    fn on_response(&self, attempt: &Attempt<'_>) {
        let _ = attempt;
    }
    /// Before the wait for another one.
    fn on_retry(&self, attempt: &Attempt<'_>) {
        let _ = attempt;
    }
}
