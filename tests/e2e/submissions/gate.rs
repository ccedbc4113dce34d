//! A proxy between the server and the stores that can hold one request: before it arrives, or before its response does.
//! So a server is killed exactly at that request.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Where a request is held. Requests are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// The stores do not receive it.
    Before(usize),
    /// The stores have processed it, and nobody receives the response.
    After(usize),
}

#[derive(Default)]
struct Seen {
    requests: usize,
    hold: Option<Hold>,
    holds: bool,
}

pub struct Gate {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    accepting: JoinHandle<()>,
}

impl Gate {
    /// Forwards to the stores that listen at `to`.
    pub async fn start(to: &str) -> Gate {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::default();
        let accepting = tokio::spawn(accept(listener, to.to_owned(), Arc::clone(&seen)));
        Gate {
            address,
            seen,
            accepting,
        }
    }

    /// `http://127.0.0.1:PORT`.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Counts from 0 again, and holds one request, or none.
    pub fn hold(&self, hold: Option<Hold>) {
        *self.seen.lock().unwrap() = Seen {
            hold,
            ..Seen::default()
        };
    }

    /// Whether the request is held.
    pub fn holds(&self) -> bool {
        self.seen.lock().unwrap().holds
    }

    /// The number of requests.
    pub fn requests(&self) -> usize {
        self.seen.lock().unwrap().requests
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, to: String, seen: Arc<Mutex<Seen>>) {
    loop {
        if let Ok((client, _)) = listener.accept().await {
            let (to, seen) = (to.clone(), Arc::clone(&seen));
            tokio::spawn(async move {
                // Either side may close the connection at any time.
                let _ = pass(client, &to, &seen).await;
            });
        }
    }
}

/// Forwards bytes in both directions. In HTTP/1.1 requests and responses alternate, so a request begins when the client
/// sends after the stores did.
async fn pass(mut client: TcpStream, to: &str, seen: &Mutex<Seen>) -> std::io::Result<()> {
    let mut stores = TcpStream::connect(to).await?;
    let (mut asked, mut answered) = (vec![0; 8192], vec![0; 8192]);
    let (mut number, mut stores_spoke) = (0, true);
    loop {
        tokio::select! {
            got = client.read(&mut asked) => {
                let got = got?;
                if got == 0 {
                    return Ok(());
                }
                if std::mem::take(&mut stores_spoke) {
                    number = next(seen);
                    if is_held(seen, Hold::Before(number)) {
                        return until_gone(&mut client).await;
                    }
                }
                stores.write_all(&asked[..got]).await?;
            }
            got = stores.read(&mut answered) => {
                let got = got?;
                if got == 0 {
                    return Ok(());
                }
                stores_spoke = true;
                if is_held(seen, Hold::After(number)) {
                    return until_gone(&mut client).await;
                }
                client.write_all(&answered[..got]).await?;
            }
        }
    }
}

/// The number of a request that begins.
fn next(seen: &Mutex<Seen>) -> usize {
    let mut seen = seen.lock().unwrap();
    seen.requests += 1;
    seen.requests - 1
}

fn is_held(seen: &Mutex<Seen>, here: Hold) -> bool {
    let mut seen = seen.lock().unwrap();
    let is_held = seen.hold == Some(here);
    seen.holds |= is_held;
    is_held
}

/// The client receives nothing more until the hold ends.
async fn until_gone(client: &mut TcpStream) -> std::io::Result<()> {
    tokio::io::copy(client, &mut tokio::io::sink()).await?;
    Ok(())
}
