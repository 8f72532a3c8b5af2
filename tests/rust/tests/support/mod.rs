//! A real HTTP server that records the requests.

#![allow(dead_code)] // each test program uses only some of these items

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use billcore::{Client, ClientOptions, ErrorCode};

pub const API_KEY: &str = "key_of_the_tests_0123456789";

/// What the server does with a request.
pub enum Reply {
    Json(String),
    Status(u16, &'static str),
    /// Sends no answer and waits until the client closes the connection.
    Hang,
    /// Closes the connection instead of answering.
    Cut,
}

pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Request {
    pub fn query(&self, name: &str) -> Option<&str> {
        let query = self.path.split_once('?')?.1;
        query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }
}

#[derive(Default)]
struct State {
    sent: Mutex<Vec<String>>,
    broken: AtomicUsize,
    open: AtomicUsize,
    over: AtomicBool,
}

pub struct Service {
    address: SocketAddr,
    state: Arc<State>,
}

type Answer = dyn Fn(&Request) -> Reply + Send + Sync;

/// Serves each connection on its own thread. A request whose path has the segment `hang` gets no answer.
pub fn serve(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Service {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let made = Service { address: listener.local_addr().unwrap(), state: Arc::default() };
    let (state, answer) = (Arc::clone(&made.state), Arc::new(answer) as Arc<Answer>);
    thread::spawn(move || {
        for connection in listener.incoming() {
            if state.over.load(Ordering::SeqCst) {
                break;
            }
            let (state, answer) = (Arc::clone(&state), Arc::clone(&answer));
            state.open.fetch_add(1, Ordering::SeqCst);
            thread::spawn(move || {
                converse(&connection.unwrap(), &state, &*answer);
                state.open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    made
}

/// Answers until the connection ends.
fn converse(connection: &TcpStream, state: &State, answer: &Answer) {
    connection.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    connection.set_nodelay(true).unwrap();
    let mut from = BufReader::new(connection);
    while let Some(request) = read(&mut from, state) {
        state.sent.lock().unwrap().push(format!("{} {} {}", request.method, request.path, request.body));
        let hangs = request.path.split(['/', '?']).any(|part| part == "hang");
        match if hangs { Reply::Hang } else { answer(&request) } {
            Reply::Json(body) => write(connection, 200, &body),
            Reply::Status(status, body) => write(connection, status, body),
            Reply::Cut => return,
            Reply::Hang => {
                if patiently(state, || from.read(&mut [0])).unwrap_or(0) == 0 {
                    state.broken.fetch_add(1, Ordering::SeqCst);
                }
                return;
            }
        }
    }
}

/// Repeats a read after each time-out, until the read succeeds, fails for another reason, or the server stops.
fn patiently<T>(state: &State, mut read: impl FnMut() -> std::io::Result<T>) -> Option<T> {
    while !state.over.load(Ordering::SeqCst) {
        match read() {
            Ok(found) => return Some(found),
            Err(fault) if matches!(fault.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => return None,
        }
    }
    None
}

fn read(from: &mut BufReader<&TcpStream>, state: &State) -> Option<Request> {
    let mut line = || {
        let mut line = String::new();
        patiently(state, || from.read_line(&mut line)).filter(|count| *count > 0)?;
        Some(line)
    };
    let first = line()?;
    let (mut length, mut headers) = (0, Vec::new());
    while let Some((name, value)) = line()?.trim().split_once(':') {
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap();
        }
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    let mut words = first.split(' ').map(str::to_owned);
    Some(Request { method: words.next()?, path: words.next()?, headers, body: String::from_utf8(body).unwrap() })
}

fn write(mut to: &TcpStream, status: u16, body: &str) {
    let head = format!("HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nX-Request-Id: req_9\r\n");
    // Ignores the error of write_all(): the client may have closed the connection.
    let _ = to.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
}

impl Service {
    pub fn options(&self) -> ClientOptions {
        Client::options().base_url(&format!("{}/acct", self.url())).api_key(API_KEY)
    }
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
    pub fn connect(&self) -> Client {
        self.options().build().unwrap()
    }
    pub fn sent(&self) -> Vec<String> {
        self.state.sent.lock().unwrap().clone()
    }
    /// The number of connections that the server has accepted and whose requests it has not all answered.
    pub fn open(&self) -> usize {
        self.state.open.load(Ordering::SeqCst)
    }
    /// The number of unanswered requests whose client closed the connection.
    pub fn broken(&self) -> usize {
        self.state.broken.load(Ordering::SeqCst)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

pub fn order(number: usize) -> String {
    format!(
        r#"{{"id":"ord_{number}","created_at":"2025-04-25T09:30:00+02:00","total":{},"total_with_vat":{},"currency":"DKK","reference_id":null,"state":"paid","delivery":{{"link":"https://x.example/{number}"}},"custom_fields":[],"metadata":{{"n":{number}}}}}"#,
        number * 100,
        number * 125
    )
}

pub fn wrapped(data: &str) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    let body = format!(r#"{{"data":{data}}}"#);
    move |_| Reply::Json(body.clone())
}

/// Answers with a list of `total` orders, 10 on a page.
pub fn book(total: usize) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    move |request| {
        let page: usize = request.query("page").map_or(1, |page| page.parse().unwrap());
        let pages = total.div_ceil(10).max(1);
        let items: Vec<_> = ((page - 1) * 10 + 1..=total.min(page * 10)).map(order).collect();
        Reply::Json(format!(
            r#"{{"data":[{}],"pagination":{{"total":{total},"count":{},"per_page":10,"current_page":{page},"total_pages":{pages},"links":{{}}}}}}"#,
            items.join(","),
            items.len()
        ))
    }
}

/// Waits until `is` returns true; panics after a minute.
pub fn wait(what: &str, is: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is() {
        assert!(Instant::now() < end, "not within a minute: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Returns the error of a call. Checks that the error has this code, and that its text is one line without the key.
pub fn error<T: std::fmt::Debug>(result: billcore::Result<T>, code: ErrorCode) -> billcore::Error {
    let error = result.expect_err("the call fails");
    assert_eq!(error.code(), code, "{error}");
    for text in [error.to_string(), format!("{error:?}")] {
        assert!(!text.is_empty() && !text.contains('\n') && !text.contains(API_KEY), "{text}");
    }
    error
}

/// Resident memory of the process, in bytes.
pub fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}
