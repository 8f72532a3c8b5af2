//! What drives the loop of an `AsyncClient`: the runtimes in which its calls are awaited.
//!
//! In tokio, one task for each runtime. If the tasks that await the calls drove the loop themselves, a task that holds
//! the future of a call but awaits something else would stop the calls of all others. A runtime that nobody polls any
//! more holds up no other runtime, because each has its own task and registration.

use std::sync::Arc;
#[cfg(feature = "tokio")]
use std::sync::Mutex;
#[cfg(feature = "async-io")]
use std::sync::OnceLock;

use super::reactor::Reactor;
use crate::error::{Error, ErrorCode, Result};

#[derive(Default)]
pub(super) struct Drivers {
    #[cfg(feature = "tokio")]
    tasks: Mutex<Vec<in_tokio::Driver>>,
    #[cfg(feature = "async-io")]
    watch: OnceLock<Arc<in_async_io::Watch>>,
}

impl Reactor {
    /// Sees to it that the current runtime drives the loop.
    pub(super) fn attend(self: &Arc<Self>) -> Result<()> {
        #[cfg(feature = "tokio")]
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            return in_tokio::attend(self, &runtime);
        }
        #[cfg(feature = "async-io")]
        return in_async_io::attend(self);
        #[cfg(not(feature = "async-io"))]
        Err(Error::new(
            ErrorCode::Config,
            "await a call of an AsyncClient in a tokio runtime, or build billcore with its feature async-io",
        ))
    }
}

fn not_watched(fault: &std::io::Error) -> Error {
    Error::new(ErrorCode::Interrupted, format!("the async runtime cannot watch the calls: {fault}; nothing was sent"))
}

#[cfg(feature = "tokio")]
mod in_tokio {
    use std::os::fd::OwnedFd;
    use std::sync::{Arc, Weak};

    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;
    use tokio::runtime::{Handle, Id};
    use tokio::task::{AbortHandle, yield_now};

    use super::super::reactor::{Command, Reactor, lock};
    use super::not_watched;
    use crate::error::Result;

    pub(super) struct Driver {
        runtime: Id,
        task: AbortHandle,
    }

    impl Drop for Driver {
        fn drop(&mut self) {
            self.task.abort();
        }
    }

    pub(super) fn attend(reactor: &Arc<Reactor>, runtime: &Handle) -> Result<()> {
        let own = reactor.open()?;
        let is_driven = |drivers: &[Driver]| {
            let mut here = drivers.iter().filter(|driver| driver.runtime == runtime.id());
            here.any(|driver| !driver.task.is_finished())
        };
        if is_driven(&lock(&reactor.drivers.tasks)) {
            return Ok(());
        }
        #[allow(deprecated)] // since tokio 1.53, for types that do not own their descriptor, as OwnedFd does
        let descriptor = own.try_clone().and_then(|own| AsyncFd::with_interest(own, Interest::READABLE));
        let descriptor = descriptor.map_err(|fault| not_watched(&fault))?;
        let task = runtime.spawn(drive(descriptor, Gone(Arc::downgrade(reactor)))).abort_handle();
        let made = Driver { runtime: runtime.id(), task };
        let mut drivers = lock(&reactor.drivers.tasks);
        if !is_driven(&drivers) {
            drivers.retain(|driver| !driver.task.is_finished());
            drivers.push(made);
        }
        Ok(())
    }

    async fn drive(descriptor: AsyncFd<OwnedFd>, of: Gone) {
        while let Ok(mut ready) = descriptor.readable().await {
            // Before the work, so that what becomes ready during it is announced anew.
            ready.clear_ready();
            while of.0.upgrade().is_some_and(|reactor| reactor.process()) {
                yield_now().await;
            }
        }
    }

    /// Wakes the tasks that await a call when the runtime is shut down: they may be awaited in another.
    struct Gone(Weak<Reactor>);

    impl Drop for Gone {
        fn drop(&mut self) {
            if let Some(reactor) = self.0.upgrade() {
                reactor.command(Command::WakeAll);
            }
        }
    }
}

/// async-io has one reactor for the whole program, which calls a waker on the thread that polls it.
#[cfg(feature = "async-io")]
mod in_async_io {
    use std::os::fd::OwnedFd;
    use std::sync::{Arc, Weak};
    use std::task::{Context, Poll, Wake, Waker};

    use async_io::Async;

    use super::super::reactor::Reactor;
    use super::not_watched;
    use crate::error::Result;

    pub(super) struct Watch {
        descriptor: Async<OwnedFd>,
        waker: Waker,
        reactor: Weak<Reactor>,
    }

    struct Readable(Weak<Watch>);

    impl Wake for Readable {
        fn wake(self: Arc<Self>) {
            if let Some(watch) = self.0.upgrade() {
                watch.proceed();
            }
        }
    }

    impl Watch {
        /// Processes, and registers the waker again; async-io calls it as long as the descriptor is readable.
        fn proceed(&self) {
            let mut context = Context::from_waker(&self.waker);
            while let Poll::Ready(Ok(())) = self.descriptor.poll_readable(&mut context) {
                if let Some(reactor) = self.reactor.upgrade() {
                    reactor.process();
                }
            }
        }
    }

    pub(super) fn attend(reactor: &Arc<Reactor>) -> Result<()> {
        if reactor.drivers.watch.get().is_some() {
            return Ok(());
        }
        let descriptor = reactor.open()?.try_clone().and_then(Async::new_nonblocking);
        let descriptor = descriptor.map_err(|fault| not_watched(&fault))?;
        let made = Arc::new_cyclic(|made| {
            let waker = Waker::from(Arc::new(Readable(Weak::clone(made))));
            Watch { descriptor, waker, reactor: Arc::downgrade(reactor) }
        });
        // Two threads may come here at once; the second one's watch is dropped.
        reactor.drivers.watch.get_or_init(|| made).proceed();
        Ok(())
    }
}
