//! The calls of an `AsyncClient`: one loop of the C library, which the program's threads take in turns.
//!
//! A thread that wants something of the loop leaves a command, and takes a turn if no other thread has one. The thread
//! that has the turn runs the commands of all, so no thread waits for another. Hooks run within a turn and may leave
//! commands; wakers are woken after it. So code of the program runs under no lock but the turn's, for which no command
//! waits.

use std::collections::{HashMap, VecDeque};
use std::mem::take;
use std::os::fd::OwnedFd;
use std::ptr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::task::{Poll, Waker};

use super::drive::Drivers;
use crate::client::Client;
use crate::error::{Error, ErrorCode, Result};
use crate::ffi::{NativeList, NativeLoop, NativeMany, NativePage, Performed, Step, Ticket};

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a call gives.
pub(super) enum Outcome {
    Performed(Performed),
    /// The unread items of a list; `None` at its end.
    Page(Option<NativePage>),
}

impl Outcome {
    pub(super) fn performed(self) -> Result<Performed> {
        if let Self::Performed(performed) = self { Ok(performed) } else { Err(wrong_kind()) }
    }
    pub(super) fn page(self) -> Result<Option<NativePage>> {
        if let Self::Page(page) = self { Ok(page) } else { Err(wrong_kind()) }
    }
}

fn wrong_kind() -> Error {
    Error::new(ErrorCode::Internal, "a call of an AsyncClient has another kind than its future")
}

/// A call, shared by its future and the loop.
#[derive(Default)]
pub(super) struct Call(Mutex<Slot>);

#[derive(Default)]
struct Slot {
    ticket: Option<Ticket>,
    waker: Option<Waker>,
    end: Option<Result<Outcome>>,
    /// Whether the future has taken the end, or was dropped.
    over: bool,
}

impl Call {
    /// Takes the end of the call, or sets the waker that the end wakes.
    pub(super) fn poll(&self, mut waker: Option<Waker>) -> Poll<Result<Outcome>> {
        let mut slot = lock(&self.0);
        if let Some(end) = slot.end.take() {
            slot.over = true;
            return Poll::Ready(end);
        }
        std::mem::swap(&mut slot.waker, &mut waker);
        drop(slot); // before `waker`, whose drop is code of the program
        Poll::Pending
    }
    /// Says that nobody will take the end. Returns whether the end was not taken before.
    pub(super) fn leave(&self) -> bool {
        let mut slot = lock(&self.0);
        let (waker, end) = (slot.waker.take(), slot.end.take());
        let was_over = std::mem::replace(&mut slot.over, true);
        drop(slot);
        drop((waker, end));
        !was_over
    }
    fn end(&self, end: Result<Outcome>) -> Option<Waker> {
        let mut slot = lock(&self.0);
        if slot.over {
            return None;
        }
        slot.end = Some(end);
        slot.waker.take()
    }
}

/// Names a list, or the reads of a `get_many`, which share the loop's thread rule.
pub(super) type PartId = u64;
pub(super) enum Part {
    List(NativeList),
    Many(NativeMany),
}
pub(super) type Begin = Box<dyn FnOnce(&Engine) -> Result<Ticket> + Send>;

pub(super) enum Command {
    /// Starts a call, which fetches a page of the list if there is one.
    Start(Arc<Call>, Option<PartId>, Begin),
    /// Cancels a call. It takes effect at once, even if no task drives the loop afterwards.
    Cancel(Arc<Call>),
    Add(PartId, Part),
    Free(PartId),
    /// Advances all calls, for a driver that found the turn taken.
    Process,
    /// Wakes all tasks, because the runtime that drove the loop for some of them is gone.
    #[cfg(feature = "tokio")]
    WakeAll,
}

/// What only the thread that has the turn may use.
pub(super) struct Engine {
    parts: HashMap<PartId, Part>,
    calls: HashMap<Ticket, (Arc<Call>, Option<PartId>)>,
    pub(super) native: NativeLoop,
}

impl Engine {
    fn run(&mut self, command: Command, wakers: &mut Vec<Waker>) {
        match command {
            Command::Start(call, list, begin) => {
                if lock(&call.0).over {
                    return;
                }
                match begin(self) {
                    Ok(ticket) => {
                        lock(&call.0).ticket = Some(ticket);
                        self.calls.insert(ticket, (call, list));
                    }
                    Err(error) => wakers.extend(call.end(Err(error))),
                }
            }
            Command::Cancel(call) => {
                let ticket = lock(&call.0).ticket;
                if let Some(ticket) = ticket {
                    self.native.cancel(ticket);
                    self.process(wakers);
                }
            }
            Command::Process => {
                if self.process(wakers) {
                    self.native.cancel(0); // names no call, but tells the drivers that there is more to do
                }
            }
            Command::Add(id, part) => drop(self.parts.insert(id, part)),
            Command::Free(id) => drop(self.parts.remove(&id)),
            #[cfg(feature = "tokio")]
            Command::WakeAll => wakers.extend(self.calls.values().filter_map(|(call, _)| lock(&call.0).waker.take())),
        }
    }

    /// Advances all calls without waiting. Returns whether there is more to do at once.
    fn process(&mut self, wakers: &mut Vec<Waker>) -> bool {
        // After an error the loop remains usable. Only a lack of memory leaves work that nothing else announces.
        let more = self.native.process().unwrap_or_else(|error| error.code() == ErrorCode::OutOfMemory);
        while let Some((ticket, end)) = self.native.next() {
            if let Some((call, list)) = self.calls.remove(&ticket) {
                let end = end.and_then(|performed| match list {
                    Some(id) => self.list(id).and_then(unread).map(Outcome::Page),
                    None => Ok(Outcome::Performed(performed)),
                });
                wakers.extend(call.end(end));
            }
        }
        more
    }

    pub(super) fn list(&self, id: PartId) -> Result<&NativeList> {
        if let Some(Part::List(list)) = self.parts.get(&id) { Ok(list) } else { Err(wrong_kind()) }
    }
    pub(super) fn many(&self, id: PartId) -> Result<&NativeMany> {
        if let Some(Part::Many(many)) = self.parts.get(&id) { Ok(many) } else { Err(wrong_kind()) }
    }
}

/// The unread items of a list whose next page is here. They stay unread, so that the state of a list whose reader stops
/// in the middle of a page is exact.
fn unread(list: &NativeList) -> Result<Option<NativePage>> {
    loop {
        let Step::Item(page) = list.peek_page()? else { return Ok(None) };
        if page.count()? > 0 {
            return Ok(Some(page));
        }
        if let Step::Done = list.next_page()? {
            return Ok(None);
        }
    }
}

pub(super) struct Reactor {
    client: Client,
    engine: Mutex<Option<Engine>>,
    commands: Mutex<VecDeque<Command>>,
    /// Identifies the thread that has the turn; 0: none.
    holder: AtomicUsize,
    descriptor: OnceLock<OwnedFd>,
    parts: AtomicU64,
    pub(super) drivers: Drivers,
}

/// A number that identifies the thread.
fn here() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| ptr::from_ref(here).addr())
}

struct Turn<'a> {
    reactor: &'a Reactor,
    engine: MutexGuard<'a, Option<Engine>>,
    wakers: Vec<Waker>,
}

impl<'a> Turn<'a> {
    fn new(reactor: &'a Reactor, engine: MutexGuard<'a, Option<Engine>>) -> Self {
        reactor.holder.store(here(), Ordering::Relaxed);
        Self { reactor, engine, wakers: Vec::new() }
    }
    fn run_commands(&mut self) {
        let Some(engine) = self.engine.as_mut() else { return };
        loop {
            let Some(command) = lock(&self.reactor.commands).pop_front() else { return };
            engine.run(command, &mut self.wakers);
        }
    }
    fn leave(mut self) {
        let wakers = take(&mut self.wakers);
        drop(self);
        for waker in wakers {
            waker.wake();
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.reactor.holder.store(0, Ordering::Relaxed);
    }
}

impl Reactor {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            engine: Mutex::new(None),
            commands: Mutex::default(),
            holder: AtomicUsize::new(0),
            descriptor: OnceLock::new(),
            parts: AtomicU64::new(0),
            drivers: Drivers::default(),
        }
    }

    /// Makes the loop unless there is one, and returns its descriptor.
    pub(super) fn open(&self) -> Result<&OwnedFd> {
        if let Some(descriptor) = self.descriptor.get() {
            return Ok(descriptor);
        }
        let mut engine = lock(&self.engine);
        if engine.is_none() {
            let native = NativeLoop::new(self.client.parts().0)?;
            *engine = Some(Engine { parts: HashMap::new(), calls: HashMap::new(), native });
        }
        let descriptor = engine.as_ref().map(|engine| engine.native.descriptor()).transpose()?;
        Ok(self.descriptor.get_or_init(|| descriptor.expect("the loop was made above")))
    }

    /// Whether the caller is code of the program that runs within a turn: a hook.
    pub(super) fn is_in_hook(&self) -> bool {
        self.holder.load(Ordering::Relaxed) == here()
    }

    /// Leaves a command, which this thread runs unless another has the turn.
    pub(super) fn command(&self, command: Command) {
        lock(&self.commands).push_back(command);
        self.turn(false);
    }

    /// Advances all calls without waiting, or leaves it to the thread that has the turn. Returns whether there is more to
    /// do at once.
    pub(super) fn process(&self) -> bool {
        self.turn(true)
    }

    fn turn(&self, mut process: bool) -> bool {
        let mut more = false;
        loop {
            let mut turn = match self.engine.try_lock() {
                Ok(engine) => Turn::new(self, engine),
                Err(TryLockError::Poisoned(engine)) => Turn::new(self, engine.into_inner()),
                Err(TryLockError::WouldBlock) if take(&mut process) => {
                    lock(&self.commands).push_back(Command::Process);
                    continue; // the turn may have ended before
                }
                Err(TryLockError::WouldBlock) => return false,
            };
            let Turn { engine, wakers, .. } = &mut turn;
            if let Some(engine) = engine.as_mut().filter(|_| take(&mut process)) {
                more = engine.process(wakers);
            }
            turn.run_commands();
            let is_open = turn.engine.is_some();
            turn.leave();
            // A thread that found the turn taken may have left a command after the last look.
            if !is_open || lock(&self.commands).is_empty() {
                return more;
            }
        }
    }

    /// Waits for the turn, and uses the loop.
    fn with<T>(&self, read: impl FnOnce(&mut Engine) -> Result<T>) -> Result<T> {
        if self.is_in_hook() {
            return Err(in_hook());
        }
        self.open()?;
        let mut turn = Turn::new(self, lock(&self.engine));
        turn.run_commands();
        let read = turn.engine.as_mut().map(read);
        turn.leave();
        self.turn(false);
        read.unwrap_or_else(|| Err(in_hook()))
    }

    pub(super) fn add_list(self: &Arc<Self>, list: NativeList) -> Result<OnReactor> {
        self.open()?;
        let part = OnReactor { reactor: Arc::clone(self), id: self.parts.fetch_add(1, Ordering::Relaxed) };
        lock(&self.commands).push_back(Command::Add(part.id, Part::List(list)));
        Ok(part)
    }
    pub(super) fn add_many(
        self: &Arc<Self>,
        make: impl FnOnce(&NativeLoop) -> Result<NativeMany>,
    ) -> Result<OnReactor> {
        let part = OnReactor { reactor: Arc::clone(self), id: self.parts.fetch_add(1, Ordering::Relaxed) };
        self.with(|engine| {
            let many = make(&engine.native)?;
            engine.parts.insert(part.id, Part::Many(many));
            Ok(())
        })?;
        Ok(part)
    }
}

/// A list, or the reads of a `get_many`, which the reactor owns.
pub(super) struct OnReactor {
    pub(super) reactor: Arc<Reactor>,
    pub(super) id: PartId,
}

impl OnReactor {
    /// Waits for the turn.
    pub(super) fn list<T>(&self, read: impl FnOnce(&NativeList) -> Result<T>) -> Result<T> {
        self.reactor.with(|engine| read(engine.list(self.id)?))
    }
    /// Waits for the turn.
    pub(super) fn many<T>(&self, read: impl FnOnce(&NativeMany) -> Result<T>) -> Result<T> {
        self.reactor.with(|engine| read(engine.many(self.id)?))
    }
}

impl Drop for OnReactor {
    fn drop(&mut self) {
        self.reactor.command(Command::Free(self.id));
    }
}

pub(super) fn in_hook() -> Error {
    let text = "a hook cannot wait for the AsyncClient that runs it: spawn a task, or use another client";
    Error::new(ErrorCode::InvalidArgument, text)
}
