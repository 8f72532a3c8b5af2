//! Tests a cancel token that is triggered while the answer to a write arrives.

mod support;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use billcore::{CallOptions, CancelToken, ChargeOptions};
use support::{Reply, order, serve};

/// If a call made a charge but returns an error, the error must say that the outcome is unknown.
#[test]
fn a_token_triggered_with_the_answer_hides_no_charge() {
    let next: Arc<Mutex<Option<CancelToken>>> = Arc::default();
    let (token, count) = (Arc::clone(&next), AtomicU64::new(0));
    let service = serve(move |_| {
        let wait = Duration::from_micros(count.fetch_add(1, Ordering::Relaxed) % 40);
        token.lock().unwrap().take().expect("each call has a token").trigger();
        let triggered = Instant::now();
        while triggered.elapsed() < wait {
            std::hint::spin_loop(); // not a sleep, because even a short sleep is longer than `wait`
        }
        Reply::Json(format!(r#"{{"data":{}}}"#, order(1)))
    });
    let client = service.connect();
    let (mut given, mut unknown) = (0, 0);
    for _ in 0..3000 {
        let token = CancelToken::new().unwrap();
        *next.lock().unwrap() = Some(token.clone());
        let call = client.with_call(CallOptions::new().cancel(&token));
        match call.subscriptions().charge("s", 1, 100, ChargeOptions::new()) {
            Ok(order) => given += usize::from(order.total().unwrap() == 100),
            Err(error) => {
                assert!(error.is_cancelled() && error.outcome_unknown(), "{error}");
                unknown += 1;
            }
        }
    }
    assert_eq!((given + unknown, service.sent().len()), (3000, 3000));
}
