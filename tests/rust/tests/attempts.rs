//! For each on_request the hooks get exactly one on_response, however the attempt ends.

mod support;

use std::fmt::Write as _;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use billcore::{
    AsyncClient, Attempt, CallOptions, CancelToken, ChargeOptions, Client, ErrorCode, Hooks, OrderQuery, TracingHooks,
};
use support::{API_KEY, Reply, Service, book, order, serve, wait, wrapped};
use tokio::time::timeout;

#[derive(Default)]
struct Counted {
    begun: AtomicUsize,
    ended: AtomicUsize,
    ends: Mutex<Vec<String>>,
}

#[derive(Clone, Default)]
struct Ends(Arc<Counted>);

impl Hooks for Ends {
    fn on_request(&self, attempt: &Attempt<'_>) {
        self.0.begun.fetch_add(1, Ordering::SeqCst);
        assert!(!attempt.sent && !attempt.outcome_unknown && attempt.path.is_none());
    }
    fn on_response(&self, attempt: &Attempt<'_>) {
        let Attempt { status, failure, sent, outcome_unknown, path, .. } = attempt;
        self.0.ends.lock().unwrap().push(format!("{status:?} {failure:?} {sent} {outcome_unknown} {path:?}"));
        self.0.ended.fetch_add(1, Ordering::SeqCst);
    }
}

const GIVEN_UP: &str = r#"None Some(Interrupted) true true Some("/subscription/hang/order")"#;

fn charge(client: &Client, id: &str) {
    let _ = client.subscriptions().charge(id, 1, 1, ChargeOptions::new());
}

/// Charges until a charge was sent before its time-out, which the first may miss on a busy machine.
fn charge_in_vain(client: &Client) {
    let call = client.with_call(CallOptions::new().timeout(Duration::from_millis(200)));
    wait("a charge is sent before its time-out", || {
        let ended = call.subscriptions().charge("hang", 1, 1, ChargeOptions::new());
        ended.is_err_and(|error| error.outcome_unknown())
    });
}

fn until_sent(service: &Service) {
    wait("the request arrives", || !service.sent().is_empty());
}

/// Reads three items of a list and returns the list.
fn left_list(client: &Client) -> billcore::List<billcore::Order> {
    let mut orders = client.subscriptions().orders("s", OrderQuery::new()).unwrap();
    for _ in 0..3 {
        orders.next().unwrap().unwrap();
    }
    orders
}

type Way = fn(&Client, &Service);

const WAYS: [(&str, Way, &str); 6] = [
    ("an answer", |client, _| charge(client, "s"), "Some(200) None true false None"),
    ("unknown", |client, _| charge(client, "down"), "Some(503) None true true None"),
    ("a time-out", |client, _| charge_in_vain(client), "None Some(Timeout) true true None"),
    (
        "a token",
        |client, service| {
            let token = CancelToken::new().unwrap();
            thread::scope(|scope| {
                scope.spawn(|| {
                    until_sent(service);
                    token.trigger();
                });
                charge(&client.with_call(CallOptions::new().cancel(&token)), "hang");
            });
        },
        GIVEN_UP,
    ),
    ("a list that is stopped", |client, _| left_list(client).stop().unwrap(), "None Some(Interrupted)"),
    ("a list that is dropped", |client, _| drop(left_list(client)), "None Some(Interrupted)"),
];

fn service() -> Service {
    let pages = book(60);
    let one = wrapped(&order(1));
    serve(move |request| match request.path.as_str() {
        path if path.ends_with("page=1") => pages(request),
        path if path.contains("page=") => Reply::Hang,
        path if path.contains("/down/") => Reply::Status(503, "{}"),
        _ => one(request),
    })
}

fn client_with(service: &Service, ends: &Ends) -> Client {
    service.options().max_retries(0).hooks(ends.clone()).build().unwrap()
}

#[test]
fn each_attempt_ends_once() {
    for (name, way, expected) in WAYS {
        let (service, ends) = (service(), Ends::default());
        way(&client_with(&service, &ends), &service);
        let lines = ends.0.ends.lock().unwrap();
        assert_eq!(ends.0.begun.load(Ordering::SeqCst), lines.len(), "{name}");
        assert!(!lines.is_empty() && lines.last().unwrap().starts_with(expected), "{name}: {lines:?}");
    }
}

/// If the future of a write is dropped, only the hooks report the end of its attempt.
#[tokio::test]
async fn dropped_futures() {
    let service = service();
    let ends = Ends::default();
    let client = AsyncClient::new(client_with(&service, &ends));
    for (count, limited) in [(1, false), (2, true)] {
        let mut call = Box::pin(client.subscriptions().charge("hang", 1, 1, ChargeOptions::new()));
        while service.sent().len() < count {
            assert!(timeout(Duration::from_millis(2), &mut call).await.is_err());
        }
        if limited {
            assert!(timeout(Duration::from_millis(1), call).await.is_err());
        } else {
            drop(call);
        }
        wait("the end is told", || ends.0.ended.load(Ordering::SeqCst) == count);
    }
    assert_eq!(*ends.0.ends.lock().unwrap(), [GIVEN_UP, GIVEN_UP]);
    assert_eq!(ends.0.begun.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_dropped_futures() {
    let service = service();
    let ends = Ends::default();
    let client = AsyncClient::new(client_with(&service, &ends));
    for round in 0..1000_u64 {
        let call = client.subscriptions().charge("s", 1, 1, ChargeOptions::new());
        let _ = timeout(Duration::from_micros(round * 7919 % 1500), call).await;
    }
    client.orders().get("o").await.unwrap();
    wait("all ends are told", || ends.0.begun.load(Ordering::SeqCst) == ends.0.ended.load(Ordering::SeqCst));
    for line in ends.0.ends.lock().unwrap().iter() {
        let unsent = line == "None Some(Interrupted) false false None";
        assert!(unsent || line == &GIVEN_UP.replace("hang", "s") || line == WAYS[0].2, "{line}");
    }
}

/// Makes other calls from its hook: in a task, with a blocking client, and in vain in the hook itself.
struct Calling {
    client: Mutex<Option<AsyncClient>>,
    tasks: Mutex<Vec<tokio::task::JoinHandle<billcore::Result<billcore::Order>>>>,
    refused: AtomicUsize,
}

struct Caller(Arc<Calling>);

impl Hooks for Caller {
    fn on_response(&self, attempt: &Attempt<'_>) {
        let client = self.0.client.lock().unwrap().clone().unwrap();
        if attempt.method != "POST" {
            return;
        }
        client.client().orders().get("o").unwrap();
        let own = client.clone();
        self.0.tasks.lock().unwrap().push(tokio::spawn(async move { own.orders().get("o").await }));
        match pin!(client.orders().get("o")).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Err(error)) if error.code() == ErrorCode::InvalidArgument => {
                self.0.refused.fetch_add(1, Ordering::SeqCst);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_hook_may_make_calls() {
    let service = service();
    let calling = Arc::new(Calling { client: Mutex::default(), tasks: Mutex::default(), refused: AtomicUsize::new(0) });
    let client = AsyncClient::new(service.options().hooks(Caller(Arc::clone(&calling))).build().unwrap());
    *calling.client.lock().unwrap() = Some(client.clone());
    client.subscriptions().charge("s", 1, 1, ChargeOptions::new()).await.unwrap();
    let mut given_up = Box::pin(client.subscriptions().charge("hang", 1, 1, ChargeOptions::new()));
    while service.sent().iter().all(|line| !line.contains("hang")) {
        assert!(timeout(Duration::from_millis(2), &mut given_up).await.is_err());
    }
    drop(given_up);
    let tasks = std::mem::take(&mut *calling.tasks.lock().unwrap());
    assert_eq!((tasks.len(), calling.refused.load(Ordering::SeqCst)), (2, 2));
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    *calling.client.lock().unwrap() = None; // the client owns the hook
}

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

/// Collects tracing events as text.
#[derive(Default)]
struct Collector(Mutex<String>);

impl tracing::Subscriber for Collector {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut out = self.0.lock().unwrap();
        write!(out, "{} {}", event.metadata().level(), event.metadata().target()).unwrap();
        let mut add =
            |field: &tracing::field::Field, value: &dyn std::fmt::Debug| *out += &format!(" {field}={value:?}");
        event.record(&mut add);
        out.push('\n');
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// The tracing events of the calls that `way` makes.
fn events(service: &Service, way: Way) -> String {
    let client = service.options().max_retries(1).hooks(TracingHooks).build().unwrap();
    let collector = Arc::new(Collector::default());
    let dispatch = tracing::Dispatch::from(collector.clone() as Arc<dyn tracing::Subscriber + Send + Sync>);
    tracing::dispatcher::with_default(&dispatch, || way(&client, service));
    let told = collector.0.lock().unwrap().clone();
    assert!(!told.contains(API_KEY), "{told}");
    told
}

#[test]
fn tracing_events() {
    let told = events(&serve(|_| Reply::Status(503, "{}")), |client, _| {
        support::error(client.orders().get("secret_id"), ErrorCode::Server);
    });
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines.len(), 5, "{told}");
    assert!(
        lines[2].starts_with(r#"WARN billcore message=retry method="GET" route="/order/{id}" attempt=1 status=503"#),
        "{told}"
    );
    assert!(!told.contains("secret_id"));
    let told = events(&service(), WAYS[3].1);
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(lines[1].starts_with("DEBUG billcore message=response") && lines[1].contains(r#"failure="interrupted""#));
    assert!(lines[2].starts_with("WARN billcore message=interrupted after it was sent; it may or may not"), "{told}");
    for field in [r#"route="/subscription/{id}/order""#, "attempt=1", "sent=true", "outcome_unknown=true"] {
        assert!(lines[2].contains(field), "{field}: {told}");
    }
    assert!(lines[2].contains(r#"path="/subscription/hang/order""#), "{told}");
}

/// A charge whose future is dropped is reset in the drop, and is one warning.
#[test]
fn a_dropped_charge_is_one_warning() {
    let told = events(&service(), |client, service| {
        let client = AsyncClient::new(client.clone());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut call = Box::pin(client.subscriptions().charge("hang", 1, 1, ChargeOptions::new()));
        runtime.block_on(async {
            while service.sent().is_empty() {
                assert!(timeout(Duration::from_millis(2), &mut call).await.is_err());
            }
        });
        drop(call); // nothing runs that could drive it
        wait("its connection ends", || service.broken() == 1);
    });
    assert_eq!(told.matches("WARN").count(), 1, "{told}");
    assert!(told.contains(r#"path="/subscription/hang/order""#), "{told}");
}
