//! `get_many`, blocking and awaited: what is of Rust alone. The rules of the core are rows of conformance.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use billcore::{AsyncClient, CallOptions, CancelToken, ErrorCode, Got, ManyOptions, Order, Result};
use support::{Reply, Service, error, order, serve, wait};
use tokio::time::timeout;

/// Answers with the order of each id `ord_N`; 404 for `none`.
fn shop() -> Service {
    serve(|request| match request.path.rsplit('/').next().unwrap() {
        "none" => Reply::Status(404, "{}"),
        id => Reply::Json(format!(r#"{{"data":{}}}"#, order(id.trim_start_matches("ord_").parse().unwrap_or(0)))),
    })
}

fn told<I: ToString>(got: Result<Got<I, Order>>) -> String {
    let Got { id, value } = got.unwrap();
    match value {
        Ok(order) => format!("{} {}", id.to_string(), order.id().unwrap().as_str()),
        Err(error) => format!("{} {:?}", id.to_string(), error.code()),
    }
}

const IDS: [&str; 5] = ["ord_1", "none", "", "ord_2", "ord_3"];
const TOLD: [&str; 5] = ["ord_1 ord_1", "none NotFound", " InvalidArgument", "ord_2 ord_2", "ord_3 ord_3"];

#[tokio::test]
async fn each_id_has_its_record_or_its_error() {
    let service = shop();
    let client = service.connect();
    let blocking: Vec<_> = client.orders().get_many(IDS, ManyOptions::new()).unwrap().map(told).collect();
    assert_eq!(blocking, TOLD);
    let awaited = AsyncClient::new(client);
    for ordered in [true, false] {
        let mut many = awaited.orders().get_many(IDS, ManyOptions::new().ordered(ordered)).unwrap();
        let mut found = Vec::new();
        while let Some(got) = many.next().await {
            found.push(told(got));
        }
        if !ordered {
            found.sort_by_key(|line| TOLD.iter().position(|told| told == line));
        }
        assert_eq!(found, TOLD);
        assert!(many.next().await.is_none());
    }
    error(awaited.orders().get_many(IDS, ManyOptions::new().concurrency(0)), ErrorCode::InvalidArgument);
}

/// An iterator without end: ids are taken only as far as needed.
#[tokio::test]
async fn ids_are_taken_as_needed() {
    let service = shop();
    let taken = Arc::new(AtomicUsize::new(0));
    let ids = |taken: &Arc<AtomicUsize>| {
        taken.store(0, Ordering::SeqCst);
        let taken = Arc::clone(taken);
        std::iter::repeat_with(move || format!("ord_{}", taken.fetch_add(1, Ordering::SeqCst)))
    };
    let options = ManyOptions::new().concurrency(3);
    let blocking = service.connect();
    assert_eq!(blocking.orders().get_many(ids(&taken), options).unwrap().take(20).map(told).count(), 20);
    assert!(taken.load(Ordering::SeqCst) <= 20 + 6, "{taken:?}");
    let client = AsyncClient::new(blocking);
    let mut many = client.orders().get_many(ids(&taken), options).unwrap();
    for number in 0..20 {
        assert_eq!(told(many.next().await.unwrap()), format!("ord_{number} ord_{number}"));
    }
    assert!(taken.load(Ordering::SeqCst) <= 20 + 6, "{taken:?}");
}

#[tokio::test]
async fn what_ends_a_wait() {
    let service = shop();
    let client = AsyncClient::new(service.connect());
    let ids = ["hang", "ord_1"];

    // A future of next() that is dropped loses nothing; a stream that is dropped gives its calls up.
    let mut many = client.orders().get_many(ids, ManyOptions::new().ordered(false)).unwrap();
    assert_eq!(told(many.next().await.unwrap()), "ord_1 ord_1");
    assert!(timeout(Duration::from_millis(5), many.next()).await.is_err());
    drop(many);
    wait("the call of the first id ends", || service.broken() == 1);

    let soon = client.with_call(CallOptions::new().total_timeout(Duration::from_millis(100)));
    let mut many = soon.orders().get_many(ids, ManyOptions::new()).unwrap();
    let late = error(many.next().await.unwrap(), ErrorCode::Timeout);
    assert!(late.message().contains("total_timeout has passed"), "{late}");
    assert!(many.next().await.is_none());
    drop(many);

    let token = CancelToken::new().unwrap();
    let cancelled = client.with_call(CallOptions::new().cancel(&token));
    let mut many = cancelled.orders().get_many(["hang"], ManyOptions::new()).unwrap();
    assert!(timeout(Duration::from_millis(5), many.next()).await.is_err());
    token.trigger();
    error(many.next().await.unwrap(), ErrorCode::Interrupted);
}
