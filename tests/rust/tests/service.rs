//! A service that is killed while it makes 2,000 charges at once can tell the outcome of each.

mod support;

use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex};

use support::{API_KEY, Reply, Request, Service, serve, wait};

const COUNT: usize = 2000;
/// How many connections an `AsyncClient` has.
const AT_ONCE: usize = 100;

/// The numbers of the charges with a line that begins with one of these words.
fn lines(journal: &Path, words: &[&str]) -> Vec<usize> {
    let text = std::fs::read_to_string(journal).unwrap_or_default();
    let lines = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    lines.filter(|line| words.contains(&line[0])).map(|line| line[1].parse().unwrap()).collect()
}

fn start(service: &Service, journal: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_service"))
        .arg(journal)
        .args(["s", "7", &COUNT.to_string()])
        .env("BILLCORE_BASE_URL", format!("{}/acct", service.url()))
        .env("BILLCORE_API_KEY", API_KEY)
        .spawn()
        .unwrap()
}

fn order(total: &usize) -> String {
    support::order(*total).replace("2025-04-25", "2100-01-01").replace(&format!("{}", total * 100), &total.to_string())
}

/// The billing service: books each charge that arrives, and lists what it has booked.
fn book(booked: &Mutex<Vec<usize>>, request: &Request) -> Reply {
    let mut booked = booked.lock().unwrap();
    if request.method == "POST" {
        let amount = request.body.split(r#""amount":"#).nth(1).unwrap();
        booked.push(amount.split([',', '}']).next().unwrap().trim().parse().unwrap());
        return Reply::Json(format!(r#"{{"data":{}}}"#, order(booked.last().unwrap())));
    }
    let latest: Vec<_> = booked.iter().rev().map(order).collect();
    let page: usize = request.query("page").unwrap().parse().unwrap();
    let pages: Vec<_> = latest.chunks(200).collect();
    let items = pages.get(page - 1).map_or(String::new(), |items| items.join(","));
    let (total, count) = (latest.len(), pages.get(page - 1).map_or(0, |items| items.len()));
    Reply::Json(format!(
        r#"{{"data":[{items}],"pagination":{{"total":{total},"count":{count},"per_page":200,"current_page":{page},"total_pages":{},"links":{{}}}}}}"#,
        pages.len().max(1)
    ))
}

#[test]
fn every_outcome_is_told() {
    let booked: Arc<Mutex<Vec<usize>>> = Arc::default();
    let arrived: Arc<(Mutex<usize>, Condvar)> = Arc::default();
    let (own, count) = (Arc::clone(&booked), Arc::clone(&arrived));
    let service = serve(move |request| {
        // The first charges wait until there is one on each connection.
        let mut arrived = count.0.lock().unwrap();
        *arrived += 1;
        count.1.notify_all();
        drop(count.1.wait_while(arrived, |arrived| *arrived < AT_ONCE).unwrap());
        book(&own, request)
    });
    let journal = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("journal-{}", std::process::id()));
    let mut charging = start(&service, &journal);
    wait("some charges are made", || lines(&journal, &["made"]).len() >= COUNT / 10);
    charging.kill().unwrap();
    charging.wait().unwrap();
    wait("what had arrived is booked", || service.open() == 0);
    let (begun, told) = (lines(&journal, &["begin"]).len(), lines(&journal, &["made", "refused"]).len());
    assert!(begun == COUNT && told < COUNT, "{begun} begun, {told} told");
    assert!(booked.lock().unwrap().len() > told, "some charges were booked, and their answers lost");

    assert!(start(&service, &journal).wait().unwrap().success());
    let mut told = lines(&journal, &["made", "refused"]);
    told.sort_unstable();
    assert_eq!(told, (0..COUNT).collect::<Vec<_>>(), "each outcome is told once");
    let (mut said, mut made) = (lines(&journal, &["made"]), booked.lock().unwrap().clone());
    said.sort_unstable();
    made.sort_unstable();
    assert_eq!(said, made.iter().map(|amount| amount - 1000).collect::<Vec<_>>(), "what is told was done, once");
    std::fs::remove_file(journal).unwrap();
}
