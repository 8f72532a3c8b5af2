//! The async client against a real server.

mod support;

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use billcore::{
    AsyncClient, AsyncList, CallOptions, CancelToken, ChargeOptions, ChargeSearch, ErrorCode, Order, OrderQuery,
    ProductChanges, ProductQuery, RequestOptions, SubscriptionQuery,
};
use support::{Reply, Service, book, error, order, serve, wait, wrapped};
use tokio::time::timeout;

fn connect(service: &Service) -> AsyncClient {
    AsyncClient::new(service.connect())
}

fn orders(service: &Service) -> AsyncList<Order> {
    connect(service).subscriptions().orders("s", OrderQuery::new()).unwrap()
}

#[tokio::test]
async fn every_operation() {
    let good = book(3);
    let service = serve(move |request| match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/acct/subscription/lost/order") => Reply::Cut,
        ("GET", path) if path.contains("orders") || path.ends_with("s?page=1") => good(request),
        _ => Reply::Json(format!(r#"{{"data":{}}}"#, order(1))),
    });
    let client = connect(&service);
    client.orders().get("o").await.unwrap();
    client.subscriptions().get(String::from("s")).await.unwrap();
    client.subscriptions().cancel("s").await.unwrap();
    client.subscriptions().change_product("s", 1).await.unwrap();
    assert_eq!(client.subscriptions().charge("s", 1, 2, ChargeOptions::new()).await.unwrap().total().unwrap(), 100);
    client.products().get(1).await.unwrap();
    client.products().update(1, ProductChanges::new().price(1)).await.unwrap();
    client.products().delete(1).await.unwrap();
    client.webhook_endpoints().create("https://x.example").await.unwrap();
    client.request("GET", "/x", RequestOptions::new()).await.unwrap();
    assert!(client.products().list(ProductQuery::new()).unwrap().next().await.unwrap().is_ok());
    assert!(client.subscriptions().list(SubscriptionQuery::new()).unwrap().next().await.unwrap().is_ok());
    let lost = client.subscriptions().charge("lost", 1, 2, ChargeOptions::new()).await;
    let lost = Arc::new(error(lost, ErrorCode::OutcomeUnknown));
    assert!(client.subscriptions().find_charges(Arc::clone(&lost), ChargeSearch::new()).await.unwrap().is_empty());
    let since = billcore::Timestamp::from_unix_micros(0);
    assert_eq!(client.subscriptions().find_charges_since("s", since, ChargeSearch::new()).await.unwrap().len(), 3);
}

#[tokio::test]
async fn dropping_a_future_ends_the_transfer() {
    let service = serve(wrapped(&order(1)));
    let client = connect(&service);
    for write in [false, true] {
        let sent = service.sent().len();
        let call = async {
            if write {
                client.subscriptions().charge("hang", 1, 1, ChargeOptions::new()).await.map(drop)
            } else {
                client.orders().get("hang").await.map(drop)
            }
        };
        let mut call = Box::pin(call);
        while service.sent().len() == sent {
            assert!(timeout(Duration::from_millis(2), &mut call).await.is_err());
        }
        drop(call);
    }
    wait("the server sees both connections end", || service.broken() == 2);
}

#[tokio::test]
async fn a_future_that_is_dropped_early_sends_nothing() {
    let service = serve(wrapped(&order(1)));
    let client = AsyncClient::with_limit(service.connect(), 1);
    drop(client.orders().get("o")); // never polled
    let mut running = Box::pin(client.orders().get("hang"));
    while service.sent().is_empty() {
        assert!(timeout(Duration::from_millis(2), &mut running).await.is_err());
    }
    // The limit is one call, so the next call waits.
    assert!(timeout(Duration::from_millis(20), client.orders().get("o")).await.is_err());
    assert_eq!(service.sent().len(), 1);
    drop(running);
    client.orders().get("o").await.unwrap();
    assert_eq!(service.sent().len(), 2);
}

/// A dropped call counts toward the limit, like a pending one, until its transfer has ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_futures_do_not_pile_up() {
    let service = serve(wrapped(&order(1)));
    let client = AsyncClient::with_limit(service.connect(), 4);
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let mut most = 0;
    for round in 0..300 {
        let id = if round % 3 == 0 { "o" } else { "hang" };
        let _ = timeout(Duration::from_millis(round % 7), client.orders().get(id)).await;
        most = most.max(threads());
    }
    for _ in 0..20 {
        client.orders().get("o").await.unwrap();
    }
    // `most` counts the threads of the client, and of the runtimes and servers of all tests in this program. The URL
    // has an IP address, so libcurl does not start resolver threads.
    assert!(most < 300, "{most} threads");
    wait("every transfer ends", || {
        let hung = service.sent().iter().filter(|line| line.contains("hang")).count();
        service.broken() == hung
    });
}

#[tokio::test]
async fn a_token_ends_a_call_too() {
    let service = serve(wrapped(&order(1)));
    let token = CancelToken::new().unwrap();
    let client = connect(&service).with_call(CallOptions::new().cancel(&token));
    let call = tokio::spawn(async move { client.orders().get("hang").await });
    while service.sent().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    token.trigger();
    error(call.await.unwrap(), ErrorCode::Interrupted);
}

#[tokio::test]
async fn an_async_list_can_be_resumed() {
    let service = serve(book(35));
    let mut list = orders(&service);
    let mut seen = 0;
    while let Some(order) = list.next().await {
        seen += 1;
        assert_eq!(order.unwrap().id().unwrap().as_str(), format!("ord_{seen}"));
        assert!(seen == 35 || list.verdict().unwrap().is_none(), "{seen}");
        if seen == 13 {
            let query = OrderQuery::new().resume(&list.state().unwrap());
            let mut other = connect(&service).subscriptions().orders("s", query).unwrap();
            assert_eq!(other.next().await.unwrap().unwrap().id().unwrap().as_str(), "ord_14");
        }
    }
    assert_eq!((seen, list.total().unwrap(), list.fetched_pages().unwrap()), (35, Some(35), 4));
    let read = &list;
    assert!(read.verdict().unwrap().unwrap().complete);
    assert!(orders(&serve(book(0))).next().await.is_none());
    let mut stream = orders(&service);
    let polled = std::future::poll_fn(|cx| futures_core::Stream::poll_next(Pin::new(&mut stream), cx)).await;
    polled.unwrap().unwrap();
}

#[tokio::test]
async fn after_an_error_a_list_can_be_read_on() {
    let (healed, good) = (AtomicBool::new(false), book(20));
    let service = serve(move |request| match request.query("page") {
        Some("2") if !healed.swap(true, Ordering::SeqCst) => Reply::Status(500, "{}"),
        _ => good(request),
    });
    let client = AsyncClient::new(service.options().max_retries(0).concurrency(1).build().unwrap());
    let mut list = client.subscriptions().orders("s", OrderQuery::new()).unwrap();
    let mut seen = 0;
    let failed = loop {
        match list.next().await.unwrap() {
            Ok(_) => seen += 1,
            failed => break failed,
        }
    };
    error(failed, ErrorCode::Server);
    assert!(seen == 10 && list.next().await.is_none());
    while let Some(order) = list.next().await {
        order.unwrap();
        seen += 1;
    }
    assert_eq!(seen, 20);
}

#[tokio::test]
async fn dropping_next_loses_nothing_and_dropping_the_list_ends_it() {
    let (held, good) = (Arc::new(AtomicBool::new(true)), book(20));
    let seen = Arc::clone(&held);
    let service = serve(move |request| {
        while request.query("page") != Some("2") && seen.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        if request.query("page") == Some("2") { Reply::Hang } else { good(request) }
    });
    let mut list = orders(&service);
    assert!(timeout(Duration::from_millis(10), list.next()).await.is_err());
    error(list.state(), ErrorCode::InvalidArgument);
    held.store(false, Ordering::SeqCst);
    for number in 1..=10 {
        assert_eq!(list.next().await.unwrap().unwrap().total().unwrap(), number * 100);
    }
    assert!(timeout(Duration::from_millis(10), list.next()).await.is_err());
    wait("the second page is asked for", || service.sent().len() == 2);
    drop(list);
    wait("its transfer ends", || service.broken() == 1);
}

#[test]
fn a_runtime_that_is_gone() {
    let service = serve(wrapped(&order(1)));
    let client = connect(&service);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut call = Box::pin(client.orders().get("hang"));
    runtime.block_on(async {
        while service.sent().is_empty() {
            assert!(timeout(Duration::from_millis(2), &mut call).await.is_err());
        }
    });
    runtime.shutdown_background();
    drop(call); // dropping the call still cancels its transfer, through the call's cancel token
    wait("the transfer ends", || service.broken() == 1);
}

#[test]
fn futures_may_move_between_threads() {
    fn sent<T: Send>(value: T) -> T {
        value
    }
    let service = serve(book(1));
    let client = connect(&service);
    let mut never = pin!(sent(client.subscriptions().charge("s", 1, 1, ChargeOptions::new())));
    let mut list = sent(orders(&service));
    drop(sent(list.next()));
    // Outside of a runtime, tokio panics before the client sends a request.
    let polled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        matches!(never.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending)
    }));
    assert!(polled.is_err() && service.sent().is_empty());
}

#[test]
fn a_list_ends_with_its_runtime() {
    let service = serve(book(30));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut list = orders(&service);
    runtime.block_on(list.next()).unwrap().unwrap();
    let handle = runtime.handle().clone();
    drop(runtime);
    let _entered = handle.enter(); // tasks spawned on the stopped runtime end at once
    let mut next = || match pin!(list.next()).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(found) => found,
        Poll::Pending => panic!("nothing is awaited"),
    };
    for _ in 0..9 {
        next().unwrap().unwrap(); // an item of a page that the client has already received
    }
    for _ in 0..3 {
        error(next().unwrap(), ErrorCode::Interrupted);
        assert!(next().is_none());
    }
    error(list.state(), ErrorCode::Interrupted);
    assert_eq!(service.sent().len(), 1);
}
