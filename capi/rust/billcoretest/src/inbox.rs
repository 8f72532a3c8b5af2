//! A webhook receiver for tests.

use std::fmt::Display;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::Account;
use crate::records::{delivered, named};

/// A webhook as it arrived: its body, and the names and values of its headers.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the text above names the fields
pub struct Hook {
    pub body: Vec<u8>,
    pub headers: Vec<(String, String)>,
}

type Accepted<T> = Arc<Mutex<Vec<(Value, Arc<T>)>>>; // names and events

/// A webhook receiver that keeps the events that it accepts: see [`Account::receive`]. Dropping the `Inbox` ends it.
#[derive(Debug)]
pub struct Inbox<T> {
    account: String,
    endpoint: Value,
    address: SocketAddr,
    accepted: Accepted<T>,
    over: Arc<AtomicBool>,
}

impl Account {
    /// Starts a webhook receiver, and registers it for the account's events. `verify` verifies each webhook, for example
    /// with `billcore::webhook::Verifier`, and returns its event. The receiver answers 204 and keeps the event; if
    /// `verify` returns an error, it answers 401, and the sandbox sends the event again. `verify` runs on other threads
    /// than the test.
    #[track_caller]
    pub fn receive<T: Send + Sync + 'static, E: Display>(
        &self,
        verify: impl Fn(Hook) -> Result<T, E> + Send + Sync + 'static,
    ) -> Inbox<T> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let endpoint =
            self.post("endpoints", json!({"url": format!("http://{address}/"), "secret": self.webhook_secret}));
        let (accepted, over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (kept, ended) = (Arc::clone(&accepted), Arc::clone(&over));
        let answer = Arc::new(move |hook: Hook| {
            let name = serde_json::from_slice(&hook.body).map_or(Value::Null, |body: Value| body["name"].clone());
            let event = verify(hook).map_err(|error| error.to_string())?;
            kept.lock().unwrap().push((name, Arc::new(event)));
            Ok(())
        });
        thread::spawn(move || {
            for connection in listener.incoming().flatten().take_while(|_| !ended.load(Ordering::SeqCst)) {
                let answer = Arc::clone(&answer);
                thread::spawn(move || converse(connection, &*answer));
            }
        });
        Inbox { account: self.uuid.clone(), endpoint: endpoint["id"].clone(), address, accepted, over }
    }
}

impl<T> Inbox<T> {
    /// The accepted events with this name (all events if the name is empty), in the order of their arrival, also
    /// duplicates.
    #[track_caller]
    pub fn events(&self, name: &str) -> Vec<Arc<T>> {
        let accepted = self.accepted.lock().unwrap();
        accepted.iter().filter(|(its, _)| name.is_empty() || its == name).map(|(_, event)| Arc::clone(event)).collect()
    }
    /// Waits until the receiver has accepted `count` events with this name (of any name if it is empty), and returns all
    /// of them. Panics at once if the sandbox has given up to send one, and after 30 s if there are too few.
    #[track_caller]
    pub fn wait(&self, name: &str, count: usize) -> Vec<Arc<T>> {
        let mut wanted = named("event", name);
        wanted["endpoint_id"] = self.endpoint.clone();
        delivered(&self.account, wanted, count);
        self.events(name)
    }
}

impl<T> Drop for Inbox<T> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address); // wakes the thread that waits for connections
    }
}

/// Reads one request, answers it, and closes the connection.
fn converse(mut connection: TcpStream, answer: &dyn Fn(Hook) -> Result<(), String>) -> io::Result<()> {
    let mut from = BufReader::new(connection.try_clone()?);
    let (mut line, mut headers, mut length) = (String::new(), Vec::new(), 0);
    from.read_line(&mut line)?;
    while {
        line.clear();
        from.read_line(&mut line)? > 2
    } {
        let (name, value) = line.trim().split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    match answer(Hook { body, headers }) {
        Ok(()) => write!(connection, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"),
        Err(text) => write!(connection, "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n{text}"),
    }
}
