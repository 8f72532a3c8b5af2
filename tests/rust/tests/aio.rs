//! The async client against a real server.

mod support;

use std::future::poll_fn;
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
    let client = AsyncClient::new(service.options().max_connections(1).build().unwrap());
    drop(client.orders().get("o")); // never polled
    let mut running = Box::pin(client.orders().get("hang"));
    while service.sent().is_empty() {
        assert!(timeout(Duration::from_millis(2), &mut running).await.is_err());
    }
    // The connection is in use, so the next call waits. A write that waits in vain was not sent.
    assert!(timeout(Duration::from_millis(20), client.orders().get("o")).await.is_err());
    let soon = client.with_call(CallOptions::new().timeout(Duration::from_millis(20)));
    let late = error(soon.subscriptions().charge("s", 1, 1, ChargeOptions::new()).await, ErrorCode::Timeout);
    assert!(!late.outcome_unknown() && late.message().contains("nothing was sent"), "{late}");
    assert_eq!(service.sent().len(), 1);
    drop(running);
    client.orders().get("o").await.unwrap();
    assert_eq!(service.sent().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_futures_leave_nothing() {
    let service = serve(wrapped(&order(1)));
    let client = AsyncClient::new(service.options().max_connections(4).build().unwrap());
    for round in 0..300 {
        let id = if round % 3 == 0 { "o" } else { "hang" };
        let _ = timeout(Duration::from_millis(round % 7), client.orders().get(id)).await;
    }
    client.orders().get("o").await.unwrap();
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
    let polled = poll_fn(|cx| futures_core::Stream::poll_next(Pin::new(&mut stream), cx)).await;
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
    drop(call); // ends its transfer although nothing drives the calls any more
    wait("the transfer ends", || service.broken() == 1);
}

/// Polls once, where nothing wakes the task.
fn polled<T>(future: impl Future<Output = T>) -> Poll<T> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Waits for what may hang.
async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(60), future).await.expect("it ends within a minute")
}

fn on_one_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Each runtime drives the calls that are awaited in it, also while another does not run.
#[test]
fn runtimes_do_not_wait_for_each_other() {
    let open = Arc::new(AtomicBool::new(false));
    let (is_open, good) = (Arc::clone(&open), wrapped(&order(1)));
    let service = serve(move |request| {
        while request.path.ends_with("/held") && !is_open.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        good(request)
    });
    let client = connect(&service);
    let mut moved = Box::pin(client.orders().get("held"));
    let (first, second) = (on_one_thread(), on_one_thread());
    first.block_on(async {
        while service.sent().is_empty() {
            assert!(timeout(Duration::from_millis(2), &mut moved).await.is_err());
        }
    });
    // Nobody runs the first runtime any more.
    second.block_on(within(client.orders().get("o"))).unwrap();
    open.store(true, Ordering::SeqCst);
    second.block_on(within(&mut moved)).unwrap();
    drop(second);
    first.block_on(within(client.orders().get("o"))).unwrap();
    async_io::block_on(client.orders().get("o")).unwrap();
}

/// A task that does not poll a call that it has begun holds up no other task.
#[tokio::test]
async fn a_call_that_is_not_polled_holds_up_no_other() {
    let service = serve(wrapped(&order(1)));
    let client = connect(&service);
    let (begun, wait_begun) = tokio::sync::oneshot::channel();
    let (end, wait_end) = tokio::sync::oneshot::channel::<()>();
    let own = client.clone();
    let holder = tokio::spawn(async move {
        let mut first = Box::pin(own.orders().get("o"));
        assert!(polled(&mut first).is_pending());
        begun.send(()).unwrap();
        wait_end.await.unwrap();
        first.await
    });
    wait_begun.await.unwrap();
    within(client.orders().get("o")).await.unwrap();
    end.send(()).unwrap();
    holder.await.unwrap().unwrap();
}

/// Without tokio, the reactor of async-io drives the calls.
#[test]
fn outside_of_tokio() {
    let service = serve(book(30));
    let client = connect(&service);
    let mut list = orders(&service);
    async_io::block_on(async {
        let mut seen = 0;
        while let Some(order) = list.next().await {
            seen += usize::from(order.is_ok());
        }
        assert_eq!(seen, 30);
    });
    let mut call = Box::pin(client.subscriptions().charge("hang", 1, 1, ChargeOptions::new()));
    assert!(polled(&mut call).is_pending());
    wait("async-io's own thread sends it", || service.sent().iter().any(|line| line.contains("hang")));
    drop(call);
    wait("its transfer ends", || service.broken() == 1);
}

#[test]
fn a_list_is_read_on_in_another_runtime() {
    let service = serve(book(30));
    let runtime = on_one_thread();
    let mut list = orders(&service);
    runtime.block_on(list.next()).unwrap().unwrap();
    let handle = runtime.handle().clone();
    drop(runtime);
    {
        let _entered = handle.enter();
        for _ in 0..9 {
            let Poll::Ready(Some(Ok(_))) = polled(list.next()) else { panic!("the page is here") };
        }
        let Poll::Ready(Some(failed)) = polled(list.next()) else { panic!("nothing can fetch a page") };
        assert!(error(failed, ErrorCode::Interrupted).message().contains("nothing was sent"));
        assert!(matches!(polled(list.next()), Poll::Ready(None)));
    }
    assert_eq!((service.sent().len(), list.fetched_pages().unwrap()), (1, 1));
    assert_eq!(on_one_thread().block_on(list.next()).unwrap().unwrap().id().unwrap().as_str(), "ord_11");
}

#[tokio::test]
async fn pages_are_a_stream() {
    let service = serve(book(25));
    let mut list = orders(&service);
    list.next().await.unwrap().unwrap();
    let mut pages = list.pages();
    let mut counts = Vec::new();
    while let Some(page) = poll_fn(|cx| futures_core::Stream::poll_next(Pin::new(&mut pages), cx)).await {
        counts.push(page.unwrap().len());
        if counts.len() == 1 {
            assert!(matches!(polled(pages.next()), Poll::Pending)); // which loses no page
        }
    }
    assert_eq!(counts, [9, 10, 5]);
    assert!(list.verdict().unwrap().unwrap().complete);
}

#[test]
fn futures_may_move_between_threads() {
    fn sent<T: Send>(value: T) -> T {
        value
    }
    let service = serve(book(1));
    let client = sent(connect(&service));
    drop(sent(client.subscriptions().charge("s", 1, 1, ChargeOptions::new())));
    let mut list = sent(orders(&service));
    drop(sent(list.next()));
    sent(list.pages());
    assert!(service.sent().is_empty());
}
