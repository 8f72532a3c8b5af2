//! A thousand calls in flight. This program has one test, because it counts the threads of the process.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use billcore::{AsyncClient, ChargeOptions};
use support::{order, serve, wait, wrapped};
use tokio::task::JoinSet;

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn a_thousand_calls_on_two_threads() {
    let open = Arc::new(AtomicBool::new(false));
    let (is_open, good) = (Arc::clone(&open), wrapped(&order(1)));
    let service = serve(move |request| {
        while !is_open.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        good(request)
    });
    let before = threads();
    let client = AsyncClient::new(service.options().max_connections(4).build().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let mut calls = JoinSet::new();
        for number in 0..1000 {
            let client = client.clone();
            calls.spawn(async move {
                if number % 2 == 0 {
                    client.orders().get("o").await.map(drop)
                } else {
                    client.subscriptions().charge("s", 1, 1, ChargeOptions::new()).await.map(drop)
                }
            });
        }
        wait("four requests are in flight", || service.sent().len() == 4);
        // The workers of the runtime, and the server's threads for its connections.
        assert!(threads() <= before + 2 + 4, "{before}, now {}", threads());
        open.store(true, Ordering::SeqCst);
        while let Some(ended) = calls.join_next().await {
            ended.unwrap().unwrap();
        }
        // Now tasks that are aborted while others are in flight.
        open.store(false, Ordering::SeqCst);
        for number in 0..1000 {
            let client = client.clone();
            let task = calls.spawn(async move { client.orders().get("o").await.map(drop) });
            if number % 3 == 0 {
                task.abort();
            }
        }
        tokio::task::yield_now().await;
        open.store(true, Ordering::SeqCst);
        let mut answered = 0;
        while let Some(ended) = calls.join_next().await {
            match ended {
                Ok(ended) => answered += usize::from(ended.is_ok()),
                Err(aborted) => assert!(aborted.is_cancelled()),
            }
        }
        assert!(answered >= 666, "{answered}");
    });
}
