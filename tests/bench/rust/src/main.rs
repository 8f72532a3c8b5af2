//! Runs the Rust contenders of the areas ffi and rest. Usage: turns-rust webhook billcore|crypto, turns-rust pages
//! rust_billcore, or turns-rust rest rust_billcore|rust_reqwest, with commands of the protocol of turns.py on stdin. In
//! place of a URL a command of webhook has OPERATION:FOLDER; FOLDER contains the files of a delivery.

mod ours;
mod peers;
mod rest;

use std::collections::HashMap;
use std::error::Error;
use std::io::BufRead;
use std::path::Path;
use std::time::Instant;

pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// One webhook as the receiver gets it.
pub struct Delivery {
    pub body: Vec<u8>,
    pub signature: String,
    pub secret: Vec<u8>,
}

impl Delivery {
    fn read(folder: &str) -> Outcome<Self> {
        let read = |name: &str| std::fs::read(Path::new(folder).join(name));
        Ok(Self { body: read("body")?, signature: String::from_utf8(read("signature")?)?, secret: read("secret")? })
    }
}

/// Performs the given number of operations and returns the total length of the values that they read.
pub type Row = Box<dyn FnMut(usize) -> Outcome<usize>>;

/// Returns a contender that performs an operation as often as requested.
pub fn repeated(mut once: impl FnMut() -> Outcome<usize> + 'static) -> Row {
    Box::new(move |count| {
        let mut sum = 0;
        for _ in 0..count {
            sum += once()?;
        }
        Ok(sum)
    })
}

fn row(area: &str, name: &str, url: &str, at_once: usize) -> Outcome<Row> {
    if area == "rest" {
        return rest::row(name, url, at_once);
    }
    if url.starts_with("http") {
        return ours::list(url, at_once);
    }
    let (operation, folder) = url.split_once(':').ok_or("a URL is OPERATION:FOLDER")?;
    let given = Delivery::read(folder)?;
    match name {
        "billcore" => ours::row(operation, given),
        "crypto" => peers::row(operation, given),
        _ => Err(format!("there is no contender {name}").into()),
    }
}

/// Returns the nanoseconds of processor time that this process has used.
fn cpu_time() -> i64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills the struct, which is valid when it is all zero.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let nanoseconds = |time: libc::timeval| time.tv_sec * 1_000_000_000 + time.tv_usec * 1000;
    nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
}

/// Executes the command on each line of stdin until stdin ends. Makes each contender on first use and then reuses it.
fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(area), Some(name)) = (arguments.next(), arguments.next()) else {
        return Err("usage: turns-rust AREA ROW".into());
    };
    let mut rows: HashMap<(String, usize), Row> = HashMap::new();
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let [verb, url, at_once, counts @ ..] = words.as_slice() else { return Err("a command is too short".into()) };
        let key = ((*url).to_owned(), at_once.parse()?);
        if !rows.contains_key(&key) {
            rows.insert(key.clone(), row(&area, &name, url, key.1)?);
        }
        let row = rows.get_mut(&key).ok_or("it was inserted")?;
        if *verb == "show" {
            let read = row(1)?;
            if area == "rest" {
                println!("{}", rest::shown(&name, url)?)
            } else {
                println!("{read}")
            }
            continue;
        }
        let [count, warm] = counts else { return Err("run has two counts".into()) };
        row(warm.parse()?)?;
        let (start, cpu) = (Instant::now(), cpu_time());
        let total = row(count.parse()?)?;
        println!("{} {} {total}", start.elapsed().as_nanos(), cpu_time() - cpu);
    }
    Ok(())
}
