//! The client against a real server.

mod support;

use std::error::Error as _;
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use billcore::{
    Attempt, CallOptions, CancelToken, ChargeOptions, ChargeSearch, ClientChanges, ErrorCode, Hooks, ProductChanges,
    RequestOptions, SubscriptionQuery, Timestamp,
};
use support::{API_KEY, Reply, book, error, order, serve, wait, wrapped};

#[test]
fn a_resource() {
    let service = serve(wrapped(&order(7)));
    let order = service.connect().orders().get("ord_7").unwrap();
    assert!(order.id().unwrap() == "ord_7" && !order.id().unwrap().is_integer());
    assert!(order.contains("reference_id").unwrap() && !order.contains("remote_id").unwrap());
    assert_eq!(serde_json::to_string(&order).unwrap(), order.raw().unwrap());
    assert!(order.copy().unwrap().equal(&order).unwrap());
    let info = order.response_info().unwrap().unwrap();
    assert_eq!((info.status().unwrap(), info.attempts().unwrap(), info.request_id().unwrap()), (200, 1, Some("req_9")));
    assert_eq!(info.header("CONTENT-TYPE").unwrap().unwrap(), "application/json");
}

#[test]
fn nothing_secret_is_shown() {
    let portal = r#"{"id":"s","status":"active","update_card_url":"https://portal.example/secret"}"#;
    let service = serve(wrapped(portal));
    let options = service.options();
    let client = service.options().api_key(secrecy::SecretString::from(API_KEY)).build().unwrap();
    let subscription = client.subscriptions().get("s").unwrap();
    assert_eq!(format!("{subscription:?}"), r#"Subscription { id: "s", status: "active", .. }"#);
    assert_eq!(subscription.update_card_url().unwrap(), "https://portal.example/secret");
    let answer = client.request("GET", "/x", RequestOptions::new()).unwrap();
    let list = client.subscriptions().list(SubscriptionQuery::new()).unwrap();
    let shown = format!(
        "{options:?} {client:?} {subscription:?} {answer:?} {list:?} {:?} {:?} {:?}",
        answer.json().unwrap(),
        subscription.to_value().unwrap(),
        client.subscriptions(),
    );
    assert!(!shown.contains("portal.example") && !shown.contains(API_KEY), "{shown}");
}

#[test]
fn cancelling_ends_the_transfer() {
    let service = serve(wrapped(&order(1)));
    let client = service.connect();
    for write in [false, true] {
        let (before, sent) = (service.broken(), service.sent().len());
        let token = CancelToken::new().unwrap();
        let client = client.with_call(CallOptions::new().cancel(&token));
        let client = client.with_call(CallOptions::new().timeout(Duration::from_secs(60))); // keeps the token
        let failed = thread::scope(|scope| {
            let call = scope.spawn(|| match write {
                true => client.subscriptions().charge("hang", 1, 1, ChargeOptions::new()),
                false => client.orders().get("hang"),
            });
            wait("the request arrives", || service.sent().len() > sent);
            token.trigger();
            error(call.join().unwrap(), ErrorCode::Interrupted)
        });
        assert!(failed.is_cancelled() && failed.outcome_unknown() == write, "{failed}");
        assert_eq!(failed.is(ErrorCode::OutcomeUnknown), write);
        wait("the server sees the connection end", || service.broken() > before);
        // A call with a triggered token sends nothing.
        let sent = service.sent().len();
        let late = error(client.subscriptions().charge("s", 1, 1, ChargeOptions::new()), ErrorCode::Interrupted);
        assert!(!late.outcome_unknown());
        assert_eq!(service.sent().len(), sent);
    }
}

#[test]
fn tokens_have_children() {
    let parent = CancelToken::new().unwrap();
    let (one, other) = (parent.child().unwrap(), parent.clone().child().unwrap());
    one.trigger();
    assert!(one.is_triggered() && !parent.is_triggered() && !other.is_triggered());
    parent.trigger();
    assert!(other.is_triggered() && parent.child().unwrap().is_triggered());
}

#[test]
fn deadlines_and_timeouts() {
    let service = serve(wrapped(&order(1)));
    let client = service.options().no_timeout().build().unwrap();
    let soon = Duration::from_millis(50);
    let end = Instant::now() + Duration::from_secs(60);
    for call in [CallOptions::new().timeout(soon), CallOptions::new().no_timeout().deadline(Instant::now() + soon)] {
        let failed = error(client.with_call(call).orders().get("hang"), ErrorCode::Timeout);
        assert!(failed.is_timeout() && failed.is(ErrorCode::Transport) && !failed.outcome_unknown());
    }
    let (deadline, call, failed) = loop {
        let deadline = Instant::now() + soon;
        let call = CallOptions::new().deadline(deadline).timeout(Duration::from_secs(60));
        let failed =
            client.with_call(call.clone()).subscriptions().charge("hang", 1, 1, ChargeOptions::new()).unwrap_err();
        if failed.code() == ErrorCode::OutcomeUnknown {
            break (deadline, call, failed);
        }
        // On a busy machine the deadline may come before the request is sent.
        assert!(failed.code() == ErrorCode::Timeout && !failed.outcome_unknown() && Instant::now() < end, "{failed}");
    };
    assert!(failed.is_timeout() && failed.outcome_unknown() && failed.cause() == Some(ErrorCode::Timeout));
    let kept = failed.clone();
    let source = failed.source().and_then(|source| source.downcast_ref::<billcore::Error>()).unwrap();
    assert_eq!((source.code(), Some(source.message())), (ErrorCode::Timeout, kept.cause_message()));
    drop(failed);
    assert!(kept.outcome_unknown() && kept.path() == Some("/subscription/hang/order"));
    wait("the charge arrives", || service.sent().iter().any(|line| line.starts_with("POST")));
    let sent = service.sent().len();
    wait("the deadline", || Instant::now() >= deadline); // the last call may have ended just before the deadline
    let again = client.with_call(call).with_call(CallOptions::new().timeout(Duration::from_secs(60))); // keeps the deadline
    error(again.orders().get("o"), ErrorCode::Timeout);
    assert_eq!(service.sent().len(), sent, "nothing is sent after the deadline");
    let short = client.with_options(ClientChanges::new().timeout(soon)).unwrap();
    error(short.orders().get("hang"), ErrorCode::Timeout);
}

#[test]
fn a_write_that_is_cut_off() {
    let service = serve(|request| match (request.method.as_str(), request.path.contains("sub_1")) {
        ("POST", true) => Reply::Cut,
        ("POST", _) => Reply::Status(502, "<html>"),
        _ => {
            let now = Timestamp::now().to_string();
            let Reply::Json(body) = book(1)(request) else { unreachable!() };
            Reply::Json(body.replace("2025-04-25T09:30:00+02:00", &now))
        }
    });
    let client = service.connect();
    for (id, code) in [("sub_1", ErrorCode::OutcomeUnknown), ("sub_2", ErrorCode::Server)] {
        let before = Timestamp::now();
        let charge = client.subscriptions().charge(id, 102, 1500, ChargeOptions::new().description("one"));
        let failed = error(charge, code);
        assert!(failed.is(ErrorCode::OutcomeUnknown) && failed.attempted_at().unwrap() >= before, "{failed}");
        assert_eq!(failed.source().is_some(), code == ErrorCode::OutcomeUnknown);
        let found = client.subscriptions().find_charges(&failed, ChargeSearch::new()).unwrap();
        assert_eq!((found.len(), found[0].id().unwrap().as_str()), (1, "ord_1"));
    }
    let refused = client.products().update(1, ProductChanges::new()).unwrap_err();
    error(client.subscriptions().find_charges(&refused, ChargeSearch::new()), ErrorCode::InvalidArgument);
}

#[test]
fn a_search_says_what_may_be_missing() {
    let service = serve(|request| {
        let Reply::Json(body) = book(1)(request) else { unreachable!() };
        Reply::Json(body.replace("\"total\":1,\"count\"", "\"total\":2,\"count\""))
    });
    let client = service.connect();
    let search = || ChargeSearch::new().product_id(102);
    let since = Timestamp::from_unix_micros(0);
    let missed = error(client.subscriptions().find_charges_since("s", since, search()), ErrorCode::PossiblyMissed);
    assert_eq!(missed.cause(), Some(ErrorCode::Pagination));
    assert_eq!(missed.found_charges().unwrap()[0].id().unwrap().as_str(), "ord_1");
    assert!(service.sent()[0].contains("page=1&per_page=200&filter%5Bproduct_id%5D=102"), "{:?}", service.sent());
    let skewed = search().skew(Duration::from_secs(1));
    let refused = error(client.subscriptions().find_charges_since("s", since, skewed), ErrorCode::InvalidArgument);
    assert!(refused.found_charges().unwrap().is_empty());
}

#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn tell(&self, moment: &str, attempt: &Attempt<'_>) {
        let Attempt { method, route, number, status, request_id, .. } = attempt;
        self.0.lock().unwrap().push(format!("{moment} {method} {route} {number} {status:?} {request_id:?}"));
    }
}

impl Hooks for Told {
    fn on_request(&self, attempt: &Attempt<'_>) {
        self.tell("request", attempt);
    }
    fn on_response(&self, attempt: &Attempt<'_>) {
        self.tell("response", attempt);
        assert!(attempt.duration > Duration::ZERO);
    }
    fn on_retry(&self, attempt: &Attempt<'_>) {
        self.tell("retry", attempt);
    }
}

#[test]
fn hooks_are_told() {
    let calls = AtomicUsize::new(0);
    let good = wrapped(&order(1));
    let service = serve(move |request| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::Status(503, "{}"),
        _ => good(request),
    });
    let told = Told::default();
    service.options().hooks(told.clone()).build().unwrap().orders().get("secret_id").unwrap();
    let lines = told.0.lock().unwrap().join("\n");
    let expected = [
        "request GET /order/{id} 1 None None",
        r#"response GET /order/{id} 1 Some(503) Some("req_9")"#,
        r#"retry GET /order/{id} 1 Some(503) Some("req_9")"#,
        "request GET /order/{id} 2 None None",
        r#"response GET /order/{id} 2 Some(200) Some("req_9")"#,
    ];
    assert_eq!(lines, expected.join("\n"));
    // The hooks of a call replace those of the client. A client made by with_options keeps the hooks of the
    // original client alive.
    let (of_client, of_call) = (Told::default(), Told::default());
    let client = service.options().hooks(of_client.clone()).build().unwrap();
    client.with_call(CallOptions::new().hooks(of_call.clone())).orders().get("o").unwrap();
    let other = client.with_options(ClientChanges::new().max_retries(0)).unwrap();
    drop(client);
    assert_eq!((of_client.0.lock().unwrap().len(), of_call.0.lock().unwrap().len()), (0, 2));
    other.orders().get("o").unwrap();
    assert_eq!(of_client.0.lock().unwrap().len(), 2);
}

struct Panics;

impl Hooks for Panics {
    fn on_response(&self, _: &Attempt<'_>) {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("while it is dropped");
            }
        }
        panic::panic_any(Bomb);
    }
}

#[test]
fn a_hook_that_panics_changes_nothing() {
    let service = serve(book(25));
    let client = service.options().hooks(Panics).build().unwrap();
    let orders = client.subscriptions().orders("s", billcore::OrderQuery::new()).unwrap();
    drop(client); // the list keeps the client's hooks alive
    assert_eq!(orders.collect::<Result<Vec<_>, _>>().unwrap().len(), 25);
}

#[test]
fn arguments_are_checked() {
    let service = serve(wrapped(&order(1)));
    for options in [service.options().timeout(Duration::ZERO), service.options().header("X", "a\0b")] {
        let failed = options.build().unwrap_err();
        assert!(matches!(failed.code(), ErrorCode::Config | ErrorCode::InvalidArgument), "{failed}");
    }
    let client = service.connect();
    error(client.products().update(1, ProductChanges::new().json("x", "{")), ErrorCode::InvalidArgument);
    error(client.products().update(1, ProductChanges::new().vat_rate("many")), ErrorCode::InvalidArgument);
    client.close().unwrap();
    client.close().unwrap();
    error(client.clone().orders().get("o"), ErrorCode::Config);
    error(client.with_options(ClientChanges::new()), ErrorCode::Config);
    assert!(service.sent().is_empty());
}

#[test]
fn writes() {
    let service = serve(wrapped(r#"{"id":102,"name":"x"}"#));
    let client = service.connect();
    let changes = ProductChanges::new().price(1900).null("description").vat_rate("12.50");
    client.products().update(102, changes.field("newer", &serde_json::json!({"a": 1}))).unwrap();
    let own = RequestOptions::new().query("a b", "c&d").body(&[1]);
    let answer = client.request("PUT", "/x/y", own).unwrap();
    assert_eq!(answer.header("content-type").unwrap().unwrap(), "application/json");
    let decoded: serde_json::Value = answer.deserialize().unwrap();
    assert_eq!(decoded["data"]["id"], 102);
    let sent = [
        r#"POST /acct/product/102 {"price":1900,"description":null,"vat_rate":12.50,"newer":{"a":1}}"#,
        "PUT /acct/x/y?a%20b=c%26d [1]",
    ];
    assert_eq!(service.sent(), sent);
}
