//! The client against a server that answers as told, over real connections.

mod builds;
mod calls;
mod fake_server;
mod retries;
mod submissions;
mod uploads;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use launchway_client::{Client, Options, Paging, Pause, Reason, Timeouts, World};
use launchway_domain::api_key::ApiKey;

use crate::fake_server::FakeServer;

const KEY: &str = "lw_77777777777777777777777777777777777777774E8RLv";
const PAGE: Paging = Paging { limit: 5, offset: 10 };

/// Waits in no time but remembers for how long, and gives the numbers 1, 2, 3… as randomness.
#[derive(Default)]
struct StillWorld {
    pauses: Mutex<Vec<(Duration, Reason)>>,
    drawn: Mutex<u8>,
}

impl World for StillWorld {
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

impl StillWorld {
    fn pauses(&self) -> Vec<(Duration, Reason)> {
        self.pauses.lock().expect("no other holder panicked").clone()
    }
}

/// A client of `server`, and its world to look into.
fn client_of(server: &FakeServer) -> (Client, Arc<StillWorld>) {
    client_with(&server.url(), None, Timeouts::default())
}

fn client_with(url: &str, org: Option<&str>, timeouts: Timeouts) -> (Client, Arc<StillWorld>) {
    let world = Arc::new(StillWorld::default());
    let options = Options {
        base: url.parse().expect("an address"),
        key: ApiKey::parse(KEY),
        org: org.map(str::to_owned),
        timeouts,
        world: Arc::clone(&world) as Arc<dyn World>,
    };
    (Client::new(options).expect("a client"), world)
}
