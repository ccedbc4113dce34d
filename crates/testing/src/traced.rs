//! Collects the texts of what the code under test traces, such as the statements of the store.

use std::fmt::Debug;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use tracing::dispatcher::DefaultGuard;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Metadata, Subscriber};

/// The texts of events that this thread traced. Others of a test's threads are not heard.
pub struct Traced {
    texts: Arc<Mutex<Vec<String>>>,
    /// While only one subscriber exists, an event that another test's thread traces first is never traced again.
    _second: Dispatch,
    _guard: DefaultGuard,
}

impl Traced {
    /// Collects the events with this target from now on, until it is dropped on the same thread.
    pub fn of(target: &'static str) -> Traced {
        let (first, second) = (Listener::of(target), Listener::of(target));
        Traced {
            texts: first.texts.clone(),
            _second: Dispatch::new(second),
            _guard: tracing::subscriber::set_default(first),
        }
    }

    /// The texts since the last call.
    pub fn take(&self) -> Vec<String> {
        mem::take(&mut *self.texts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Listener {
    target: &'static str,
    texts: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    fn of(target: &'static str) -> Listener {
        Listener {
            target,
            texts: Arc::default(),
        }
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == self.target
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Texts(
            &mut self.texts.lock().unwrap_or_else(PoisonError::into_inner),
        ));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Adds the text of each field.
struct Texts<'a>(&'a mut Vec<String>);

impl Visit for Texts<'_> {
    fn record_str(&mut self, _: &Field, value: &str) {
        self.0.push(value.to_owned());
    }

    fn record_debug(&mut self, _: &Field, value: &dyn Debug) {
        self.0.push(format!("{value:?}"));
    }
}
