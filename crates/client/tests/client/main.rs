//! The client against a server with prepared answers, over real connections.

mod builds;
mod calls;
mod fake_server;
mod retries;
mod submissions;
mod trust;
mod uploads;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use launchway_client::{Client, Environment, Options, Paging, Pause, Reason, Timeouts};
use launchway_domain::api_key::ApiKey;

use crate::fake_server::FakeServer;

const KEY: &str = "lw_77777777777777777777777777777777777777774E8RLv";
const PAGE: Paging = Paging { limit: 5, offset: 10 };

/// Waits without delay but records the durations, and returns the numbers 1, 2, 3… as randomness.
#[derive(Default)]
struct FakeEnvironment {
    pauses: Mutex<Vec<(Duration, Reason)>>,
    drawn: Mutex<u8>,
}

impl Environment for FakeEnvironment {
    fn pause(&self, delay: Duration, reason: Reason) -> Pause<'_> {
        self.pauses
            .lock()
            .expect("no other holder panicked")
            .push((delay, reason));
        Box::pin(std::future::ready(()))
    }

    fn random(&self) -> [u8; 16] {
        let mut drawn = self.drawn.lock().expect("no other holder panicked");
        *drawn += 1;
        [*drawn; 16]
    }
}

impl FakeEnvironment {
    fn pauses(&self) -> Vec<(Duration, Reason)> {
        self.pauses.lock().expect("no other holder panicked").clone()
    }
}

/// A client of `server`, and its environment for inspection.
fn client_of(server: &FakeServer) -> (Client, Arc<FakeEnvironment>) {
    client_with(&server.url(), None, Timeouts::default())
}

fn client_with(url: &str, org: Option<&str>, timeouts: Timeouts) -> (Client, Arc<FakeEnvironment>) {
    let environment = Arc::new(FakeEnvironment::default());
    let options = Options {
        base: url.parse().expect("an address"),
        key: ApiKey::parse(KEY),
        org: org.map(str::to_owned),
        timeouts,
        environment: Arc::clone(&environment) as Arc<dyn Environment>,
    };
    (Client::new(options).expect("a client"), environment)
}
