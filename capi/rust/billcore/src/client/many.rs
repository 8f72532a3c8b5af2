use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use super::{Client, Item};
use crate::error::{Error, ErrorCode, Result};
use crate::ffi::{NativeMany, Operation, Performed, Step};

/// How `get_many` reads: see [`Many`].
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ManyOptions {
    pub(crate) concurrency: i32,
    pub(crate) ordered: bool,
}

impl ManyOptions {
    /// Up to 16 calls at once, and the results in the order of the ids.
    pub fn new() -> Self {
        Self { concurrency: 16, ordered: true }
    }
    /// How many calls may be in flight at once, from 1.
    pub fn concurrency(mut self, calls: u32) -> Self {
        self.concurrency = i32::try_from(calls).unwrap_or(i32::MAX);
        self
    }
    /// True: the results come in the order of the ids. False: in the order in which the answers arrive.
    pub fn ordered(mut self, ordered: bool) -> Self {
        self.ordered = ordered;
        self
    }
}

impl Default for ManyOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// What `get_many` gives for an id.
#[derive(Debug)]
pub struct Got<I, T> {
    /// The id, as it was given.
    pub id: I,
    /// The record, or the error of its call.
    pub value: Result<T>,
}

/// Makes the read of an id.
pub(crate) type Read<I> = fn(&I) -> Result<Operation>;

/// What `next` gives.
pub(crate) type Taken<I, T> = Result<Option<Got<I, T>>>;

/// The ids of a `get_many`.
pub(crate) struct Ids<I: Iterator> {
    rest: Option<I>,
    read: Read<I::Item>,
    ordered: bool,
    in_flight: HashMap<u64, I::Item>,
    added: u64,
    given: u64,
    /// An id whose call could not begin, for a reason that is not its own.
    back: Option<I::Item>,
    /// The number of an id of which there is no read, and why.
    refused: Option<(u64, I::Item, Error)>,
}

impl<I: Iterator> Ids<I> {
    pub(crate) fn new(ids: I, ordered: bool, read: Read<I::Item>) -> Self {
        let (in_flight, back, refused) = (HashMap::new(), None, None);
        Self { rest: Some(ids), read, ordered, in_flight, added: 0, given: 0, back, refused }
    }
    /// Adds reads as long as they are wanted. Runs the iterator of the ids, which is code of the program.
    pub(crate) fn fill(
        &mut self,
        wants: impl Fn() -> Result<bool>,
        add: impl Fn(&Operation, u64) -> Result<()>,
    ) -> Result<()> {
        while self.refused.is_none() && wants()? {
            let Some(id) = self.back.take().or_else(|| self.rest.as_mut()?.next()) else {
                self.rest = None; // an iterator may begin again after its end
                return Ok(());
            };
            match (self.read)(&id).and_then(|read| add(&read, self.added)) {
                Ok(()) => drop(self.in_flight.insert(self.added, id)),
                Err(error) if error.code() == ErrorCode::InvalidArgument => {
                    self.refused = Some((self.added, id, error));
                }
                Err(error) => {
                    self.back = Some(id);
                    return Err(error);
                }
            }
            self.added += 1;
        }
        Ok(())
    }
    /// Takes the id of which there is no read, if it is its turn.
    pub(crate) fn refused<T>(&mut self) -> Option<Got<I::Item, T>> {
        let (_, id, error) = self.refused.take_if(|(number, ..)| !self.ordered || *number == self.given)?;
        self.given += 1;
        Some(Got { id, value: Err(error) })
    }
    pub(crate) fn got<T: Item>(&mut self, number: u64, result: Result<Performed>) -> Option<Got<I::Item, T>> {
        self.given += 1;
        let value = result.and_then(Performed::resource).map(T::own);
        self.in_flight.remove(&number).map(|id| Got { id, value })
    }
}

/// An iterator over many records, which it reads by their ids, several at once, on the calling thread. Each item is a
/// [`Got`]: an id with its record or its error. An error of the iterator itself, such as
/// [`ErrorCode::Timeout`] after [`CallOptions::total_timeout`](crate::CallOptions::total_timeout), comes instead of a
/// `Got`, and then `None` once; the calls in flight stay so, and a further `next` goes on.
///
/// `Many` takes an id only when it is about to request its record, so its memory does not grow with the number of ids.
/// Requests progress while `next` waits; the caller's pauses do not count towards the time-out of a call. After an
/// answer with status 429 fewer calls are in flight. Dropping it cancels the calls in flight.
///
/// ```no_run
/// # fn main() -> billcore::Result<()> {
/// # let (client, ids) = (billcore::Client::from_env()?, ["ord_1", "ord_2"]);
/// for got in client.orders().get_many(ids, billcore::ManyOptions::new())? {
///     let got = got?;
///     match got.value {
///         Ok(order) => println!("{} {}", got.id, order.total()?),
///         Err(error) => eprintln!("{}: {error}", got.id),
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct Many<T, I: Iterator> {
    native: NativeMany,
    ids: Ids<I>,
    failed: bool,
    kind: PhantomData<fn() -> T>,
}

impl<T: Item, I: Iterator> Many<T, I> {
    pub(super) fn make(client: &Client, ids: I, options: ManyOptions, read: Read<I::Item>) -> Result<Self> {
        let ManyOptions { concurrency, ordered } = options;
        let native = client.run(|client, call| NativeMany::new(client, concurrency, ordered, call))?;
        Ok(Self { native, ids: Ids::new(ids, ordered, read), failed: false, kind: PhantomData })
    }
    fn step(&mut self) -> Taken<I::Item, T> {
        self.ids.fill(|| Ok(self.native.wants()), |read, number| self.native.add(read, number))?;
        if let Some(refused) = self.ids.refused() {
            return Ok(Some(refused));
        }
        match self.native.next()? {
            Step::Item(Some((number, result))) => Ok(self.ids.got(number, result)),
            Step::Item(None) | Step::Done => Ok(None),
        }
    }
}

impl<T: Item, I: Iterator> Iterator for Many<T, I> {
    type Item = Result<Got<I::Item, T>>;
    fn next(&mut self) -> Option<Self::Item> {
        if std::mem::take(&mut self.failed) {
            return None;
        }
        let step = self.step();
        self.failed = step.is_err();
        step.transpose()
    }
}

impl<T, I: Iterator> fmt::Debug for Many<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Many").field("in_flight", &self.ids.in_flight.len()).finish_non_exhaustive()
    }
}
