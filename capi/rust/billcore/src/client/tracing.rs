use super::{Attempt, Hooks};

/// Hooks that emit `tracing` events, with the target `billcore`, for the request and the response of every attempt and
/// for every retry. Retries are warnings; the other events have the level debug. If a write is cancelled after it was
/// sent, the hooks emit one more warning, whose field `path` contains the record's id.
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingHooks;

macro_rules! told {
    ($level:ident, $attempt:ident, $message:literal) => {
        tracing::event!(
            target: "billcore",
            tracing::Level::$level,
            method = $attempt.method,
            route = $attempt.route,
            attempt = $attempt.number,
            status = $attempt.status,
            failure = $attempt.failure.map(|code| code.name()),
            request_id = $attempt.request_id,
            duration_us = u64::try_from($attempt.duration.as_micros()).ok().filter(|micros| *micros > 0),
            wait_ms = u64::try_from($attempt.wait.as_millis()).ok().filter(|millis| *millis > 0),
            sent = Some($attempt.sent).filter(|sent| *sent),
            outcome_unknown = Some($attempt.outcome_unknown).filter(|unknown| *unknown),
            path = $attempt.path,
            $message
        )
    };
}

impl Hooks for TracingHooks {
    fn on_request(&self, attempt: &Attempt<'_>) {
        told!(DEBUG, attempt, "request");
    }
    fn on_response(&self, attempt: &Attempt<'_>) {
        told!(DEBUG, attempt, "response");
        if attempt.path.is_some() {
            told!(
                WARN,
                attempt,
                "interrupted after it was sent; it may or may not have happened: look before you send it again"
            );
        }
    }
    fn on_retry(&self, attempt: &Attempt<'_>) {
        told!(WARN, attempt, "retry");
    }
}
