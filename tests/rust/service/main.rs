//! A service that makes charges, all at once, and tells the outcome of each, also after it was killed:
//! service JOURNAL SUBSCRIPTION PRODUCT COUNT. Charge N has the amount 1000 + N, by which the service finds it again.
//!
//! The journal has a line `begin N TIME` before charge N can be sent, and a line `made N` or `refused N` when its outcome
//! is known. A charge with only the first line was in flight when the service was killed: a search says whether it was
//! made.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Arc;

use billcore::{AsyncClient, ChargeOptions, ChargeSearch, Timestamp};
use tokio::task::JoinSet;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

struct Journal {
    file: File,
    begun: BTreeMap<i64, i64>, // with the times, in microseconds since 1970
    told: BTreeSet<i64>,
}

impl Journal {
    fn open(path: &str) -> Outcome<Self> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        let (mut begun, mut told) = (BTreeMap::new(), BTreeSet::new());
        for line in std::fs::read_to_string(path)?.lines() {
            match line.split(' ').collect::<Vec<_>>().as_slice() {
                ["begin", number, time] => drop(begun.insert(number.parse()?, time.parse()?)),
                [_, number] => drop(told.insert(number.parse()?)),
                _ => return Err(format!("{path} has a line that is none of a journal: {line}").into()),
            }
        }
        Ok(Self { file, begun, told })
    }
    /// One write, which is whole even if the service is killed. (A service whose machine may fail also syncs the file.)
    fn tell(&self, line: &str) -> Outcome<()> {
        Ok((&self.file).write_all(format!("{line}\n").as_bytes())?)
    }
}

const FIRST: i64 = 1000;

async fn charge(client: AsyncClient, journal: Arc<Journal>, to: Arc<str>, product: i64, number: i64) -> Outcome<()> {
    journal.tell(&format!("begin {number} {}", Timestamp::now().unix_micros()))?;
    match client.subscriptions().charge(to, product, FIRST + number, ChargeOptions::new()).await {
        Ok(_) => journal.tell(&format!("made {number}")),
        Err(error) if error.outcome_unknown() => Err(error.into()), // the next start looks for it
        Err(_) => journal.tell(&format!("refused {number}")),
    }
}

/// Finds out about the charges that were in flight when the service was killed. (A service whose charges may still be
/// processed after it was killed waits, and looks again before it says that a charge was not made.)
async fn look(client: &AsyncClient, journal: &Journal, to: &str) -> Outcome<()> {
    let Some(first) = journal.begun.values().min() else { return Ok(()) };
    let since = Timestamp::from_unix_micros(first - 300_000_000); // the clocks may differ by five minutes
    let orders = client.subscriptions().find_charges_since(to, since, ChargeSearch::new()).await?;
    let made: BTreeSet<i64> = orders.iter().map(|order| order.total()).collect::<Result<_, _>>()?;
    for number in journal.begun.keys().filter(|number| !journal.told.contains(number)) {
        let word = if made.contains(&(FIRST + number)) { "made" } else { "refused" };
        journal.tell(&format!("{word} {number}"))?;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, to, product, count] = arguments.as_slice() else { return Err("four arguments".into()) };
    let (product, count): (i64, i64) = (product.parse()?, count.parse()?);
    let client = AsyncClient::from_env()?;
    let journal = Arc::new(Journal::open(path)?);
    look(&client, &journal, to).await?;
    let mut charges = JoinSet::new();
    for number in (0..count).filter(|number| !journal.begun.contains_key(number)) {
        charges.spawn(charge(client.clone(), Arc::clone(&journal), to.as_str().into(), product, number));
    }
    while let Some(ended) = charges.join_next().await {
        ended??;
    }
    Ok(())
}
