//! Lists against a real server.

mod support;

use std::thread;
use std::time::Duration;

use billcore::{CallOptions, CancelToken, Cell, ErrorCode, List, Order, OrderQuery, Result};
use support::{Reply, Service, book, error, resident, serve, wait};

fn orders(service: &Service) -> List<Order> {
    service.connect().subscriptions().orders("s", OrderQuery::new()).unwrap()
}

fn ids(orders: impl Iterator<Item = Result<Order>>) -> Vec<String> {
    orders.map(|order| order.unwrap().id().unwrap().into()).collect()
}

#[test]
fn a_list_that_is_left_can_be_gone_on_with() {
    let service = serve(book(50));
    let client = service.options().concurrency(2).build().unwrap();
    let mut list = client.subscriptions().orders("s", OrderQuery::new()).unwrap();
    let first = ids(list.by_ref().take(13));
    list.stop().unwrap();
    let fetched = service.sent().len();
    assert!(fetched <= 5, "the prefetch went on: {fetched}");
    assert_eq!(list.verdict().unwrap().unwrap().reason, Some("stopped"));
    let state = list.state().unwrap();
    let resumed = ids(client.subscriptions().orders("s", OrderQuery::new().resume(&state)).unwrap());
    let rest = thread::spawn(move || ids(list)).join().unwrap(); // a list may move to another thread
    assert_eq!((first.len(), rest.len(), rest[0].as_str()), (13, 37, "ord_14"));
    assert_eq!(resumed, rest);
}

#[test]
fn the_state_is_exact_within_a_loop() {
    let service = serve(book(40));
    let client = service.connect();
    let mut list = orders(&service);
    for seen in 1..=40 {
        list.next().unwrap().unwrap();
        let state = list.state().unwrap();
        if seen % 7 == 0 {
            let query = OrderQuery::new().resume(&state);
            let next = client.subscriptions().orders("s", query).unwrap().first().unwrap().unwrap();
            assert_eq!(next.id().unwrap().as_str(), format!("ord_{}", seen + 1));
        }
    }
}

#[test]
fn pages() {
    let service = serve(book(25));
    let mut list = orders(&service);
    assert_eq!(list.by_ref().take(3).count(), 3);
    let mut sizes = Vec::new();
    for page in list.pages() {
        let page = page.unwrap();
        sizes.push(page.len());
        let numbers = page.pagination().unwrap();
        let current = i64::try_from(sizes.len()).unwrap();
        assert_eq!((numbers.total().unwrap(), numbers.total_pages().unwrap()), (25, 3));
        assert_eq!((numbers.current_page().unwrap(), numbers.per_page().unwrap()), (current, 10));
        assert_eq!((numbers.links_next().unwrap(), numbers.links_previous().unwrap()), (None, None));
        let totals = page.column("total").unwrap();
        for (order, cell) in page.iter().zip(totals) {
            assert_eq!(cell, Cell::Integer(order.unwrap().total().unwrap()));
        }
        assert_eq!(page.column("state").unwrap()[0], Cell::Text("paid"));
        assert_eq!(page.column("reference_id").unwrap()[0], Cell::Null);
        assert_eq!(page.column("newer").unwrap()[0], Cell::Absent);
        assert_eq!(page.column("delivery").unwrap()[0], Cell::Other);
        error(page.at(page.len()), ErrorCode::InvalidArgument);
    }
    assert_eq!(sizes, [7, 10, 5]);
}

#[test]
fn items_outlive_their_list_and_client() {
    let service = serve(book(30));
    let kept: Vec<Order> = orders(&service).collect::<Result<_>>().unwrap();
    drop(service);
    for (number, order) in (1..).zip(&kept) {
        assert_eq!((order.total().unwrap(), order.id().unwrap().as_str()), (number * 100, &*format!("ord_{number}")));
        assert!(order.raw().unwrap().len() > 100);
    }
    let copied = kept[3].copy().unwrap();
    drop(kept);
    assert_eq!(copied.delivery().unwrap().unwrap().link().unwrap(), "https://x.example/4");
}

#[test]
fn after_an_error_a_list_can_be_read_on() {
    let healed = std::sync::atomic::AtomicBool::new(false);
    let good = book(30);
    let service = serve(move |request| match request.query("page") {
        Some("2") if !healed.swap(true, std::sync::atomic::Ordering::SeqCst) => Reply::Status(500, "{}"),
        _ => good(request),
    });
    let client = service.options().max_retries(0).concurrency(1).build().unwrap();
    let mut list = client.subscriptions().orders("s", OrderQuery::new()).unwrap();
    let (good, mut failed): (Vec<_>, Vec<_>) = list.by_ref().partition(Result::is_ok);
    assert_eq!((good.len(), failed.len()), (10, 1));
    let failed = error(failed.remove(0), ErrorCode::Server);
    assert!(failed.message().contains("page=2") && !failed.outcome_unknown(), "{failed}");
    assert_eq!(ids(list).len(), 20);
}

#[test]
fn cancelling_ends_a_list() {
    let good = book(50);
    let service = serve(move |request| match request.query("page") {
        Some("3") => Reply::Hang,
        _ => good(request),
    });
    let token = CancelToken::new().unwrap();
    let client = service.options().concurrency(1).build().unwrap().with_call(CallOptions::new().cancel(&token));
    let mut list = client.subscriptions().orders("s", OrderQuery::new()).unwrap();
    assert_eq!(list.by_ref().take(20).filter(Result::is_ok).count(), 20);
    let failed = thread::scope(|scope| {
        scope.spawn(|| {
            wait("the third page is asked for", || service.sent().len() == 3);
            token.trigger();
        });
        error(list.next().unwrap(), ErrorCode::Interrupted)
    });
    assert!(failed.is_cancelled() && list.next().is_none() && !list.state().unwrap().is_empty());
    drop(list);
    wait("the server sees the connection end", || service.broken() == 1);
}

#[test]
fn dropping_a_list_ends_what_is_in_flight() {
    let good = book(50);
    let service = serve(move |request| match request.query("page") {
        Some("1") | None => good(request),
        _ => Reply::Hang,
    });
    let mut list = orders(&service);
    for item in list.by_ref().take(10) {
        item.unwrap();
        thread::sleep(Duration::from_millis(5)); // gives the list time to prefetch pages
    }
    wait("pages are fetched ahead", || service.sent().len() > 1);
    drop(list);
    wait("all connections end", || service.broken() == service.sent().len() - 1);
}

#[test]
fn a_long_list_keeps_little() {
    let service = serve(book(30_000));
    let before = resident();
    let mut sum = 0;
    for order in orders(&service) {
        sum += order.unwrap().total().unwrap();
    }
    assert_eq!(sum, 30_000 * 30_001 / 2 * 100);
    assert!(resident() < before + (100 << 20), "{} MB more", (resident() - before) >> 20);
}
