//! A bad network between a server and its clients: connections break, bytes are delayed.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use launchway_testing::wait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::dice::Dice;

/// One in this many chunks breaks the connection in the middle.
const CUT_ONE_IN: u64 = 50;
/// The maximum delay of a chunk.
const LATE: Duration = Duration::from_millis(40);

/// A proxy to a server that simulates a bad network on demand.
pub struct Proxy {
    address: SocketAddr,
    way: Arc<Way>,
    accepting: JoinHandle<()>,
}

/// The state shared by all connections.
struct Way {
    to: OnceLock<String>,
    is_bad: AtomicBool,
    is_away: AtomicBool,
    dice: Mutex<Dice>,
    cut: AtomicU64,
}

impl Proxy {
    /// A good network without a target yet.
    pub async fn start() -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let way = Arc::new(Way {
            to: OnceLock::new(),
            is_bad: AtomicBool::new(false),
            is_away: AtomicBool::new(false),
            dice: Mutex::new(Dice::roll()),
            cut: AtomicU64::new(0),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&way)));
        Proxy {
            address,
            way,
            accepting,
        }
    }

    /// Sets the target to this origin.
    pub fn lead_to(&self, origin: &str) {
        let address = origin.trim_start_matches("http://").to_owned();
        self.way.to.set(address).expect("a proxy leads to one server");
    }

    /// `http://127.0.0.1:PORT`.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Makes the network bad, or good again.
    pub fn is_bad(&self, is_bad: bool) {
        self.way.is_bad.store(is_bad, Ordering::Relaxed);
    }

    /// Takes the whole network away, or gives it back: no connection is accepted, and none carries anything.
    pub fn is_away(&self, is_away: bool) {
        self.way.is_away.store(is_away, Ordering::Relaxed);
    }

    /// How many connections were cut.
    pub fn cut(&self) -> u64 {
        self.way.cut.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Way {
    fn number(&self) -> u64 {
        self.dice.lock().unwrap_or_else(PoisonError::into_inner).number()
    }
}

async fn accept(listener: TcpListener, way: Arc<Way>) {
    loop {
        if let Ok((client, _)) = listener.accept().await {
            tokio::spawn(pass(client, Arc::clone(&way)));
        }
    }
}

/// Forwards bytes in both directions until either end closes the connection, or it is cut.
async fn pass(mut client: TcpStream, way: Arc<Way>) {
    let Some(to) = way.to.get() else { return };
    if way.is_away.load(Ordering::Relaxed) {
        return;
    }
    // No target: the client sees a closed connection.
    let Ok(mut server) = TcpStream::connect(to).await else {
        return;
    };
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let asked = carry(&mut from_client, &mut to_server, &way);
    let answered = carry(&mut from_server, &mut to_client, &way);
    // When one side closes, both are closed: HTTP needs no half-open connections.
    let _ = tokio::select! {
        end = asked => end,
        end = answered => end,
    };
}

async fn carry(
    from: &mut (impl AsyncReadExt + Unpin),
    to: &mut (impl AsyncWriteExt + Unpin),
    way: &Way,
) -> io::Result<()> {
    let mut buffer = vec![0; 8192];
    loop {
        let got = from.read(&mut buffer).await?;
        if got == 0 {
            return to.shutdown().await;
        }
        if way.is_away.load(Ordering::Relaxed) {
            way.cut.fetch_add(1, Ordering::Relaxed);
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if way.is_bad.load(Ordering::Relaxed) {
            wait::pass(Duration::from_nanos(way.number() % LATE.as_nanos() as u64)).await;
            if way.number().is_multiple_of(CUT_ONE_IN) {
                way.cut.fetch_add(1, Ordering::Relaxed);
                return to.write_all(&buffer[..got / 2]).await;
            }
        }
        to.write_all(&buffer[..got]).await?;
    }
}
