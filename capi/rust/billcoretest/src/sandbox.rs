use std::env;
use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// Returns the URL of the sandbox's control routes. Starts a sandbox if `BILLCORE_SANDBOX_CONTROL` is not set and this
/// program has not started one.
pub(crate) fn control_url() -> &'static str {
    static SANDBOX: OnceLock<(String, Option<Child>)> = OnceLock::new();
    let start = || {
        if let Some(url) = env::var("BILLCORE_SANDBOX_CONTROL").ok().filter(|url| !url.is_empty()) {
            return (url, None);
        }
        let mut command = Command::new("billcore-sandbox");
        command.arg("--exit-with-stdin").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("install billcore-sandbox, or set BILLCORE_SANDBOX_CONTROL");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).expect("billcore-sandbox did not start: its stderr says why");
        // The `Child` holds the sandbox's stdin open until the program ends; then the sandbox stops.
        (ready["control_url"].as_str().unwrap().to_owned(), Some(child))
    };
    &SANDBOX.get_or_init(start).0
}

/// Calls a control route of the sandbox. If the sandbox refuses the call, the error contains the sandbox's message.
pub(crate) fn call(method: &str, route: &str, fields: &Value) -> Result<Value, Box<dyn Error>> {
    let body = if fields.is_null() { String::new() } else { fields.to_string() };
    let (host, path) =
        control_url().trim_start_matches("http://").split_once('/').ok_or("BILLCORE_SANDBOX_CONTROL is no URL")?;
    let mut connection = TcpStream::connect(host)?;
    write!(
        connection,
        "{method} /{path}/{route} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("the sandbox gave no answer")?;
    let value: Value = serde_json::from_str(body)?;
    if head.starts_with("HTTP/1.1 200") {
        Ok(value)
    } else {
        Err(format!("{method} {route}: {}", value["error"]["message"].as_str().unwrap_or(body)).into())
    }
}
