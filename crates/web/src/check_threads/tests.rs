//! Threads for checks, with clients over real sockets.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use bytes::Bytes;
use launchway_ota::Place;

use super::*;
use crate::check_connection::{Output, PlainRequest};

/// No test waits so long, unless it fails.
pub const LONG: Limits = Limits {
    silence: Duration::from_secs(60),
    write: Duration::from_secs(60),
};
/// More than the buffers of a connection hold.
const LARGE: usize = 1 << 20;
const ANSWER: &[u8] = b"answer.";

thread_local! {
    /// How many bundles were fetched each time.
    pub static FETCHED: RefCell<Vec<usize>> = RefCell::default();
}

/// Answers requests by their path.
pub struct Paths {
    taken_over: Sender<(TcpStream, Vec<u8>)>,
}

impl Client for Paths {
    fn prefetch_place(&self, bundle: &str) -> Option<Place> {
        if bundle == "panic" {
            panic_silently();
        }
        (bundle == "far").then(Place::default)
    }

    fn prefetch_bundles(&self, places: &[Place]) {
        FETCHED.with_borrow_mut(|fetched| fetched.push(places.len()));
        panic_silently();
    }

    fn answer(&self, request: &PlainRequest<'_>, output: &mut Output) -> bool {
        match request.path {
            "/check" | "/api/update/check/panic" | "/api/update/check/far" => output.bytes.extend_from_slice(ANSWER),
            "/large" => output.push_body(&Bytes::from_static(&[b'l'; LARGE])),
            "/panic" => panic_silently(),
            _ => return false,
        }
        true
    }

    fn take_over(self, stream: TcpStream, read: Vec<u8>) {
        // A test that is over looks at none.
        let _ = self.taken_over.send((stream, read));
    }
}

fn panic_silently() -> ! {
    std::panic::resume_unwind(Box::new(()))
}

/// Threads, and what leaves them.
struct Served {
    threads: CheckThreads<Paths>,
    taken_over: Receiver<(TcpStream, Vec<u8>)>,
    sender: Sender<(TcpStream, Vec<u8>)>,
}

impl Served {
    fn start(limits: Limits) -> Served {
        let (sender, taken_over) = mpsc::channel();
        let threads = CheckThreads::start(limits).unwrap();
        Served {
            threads,
            taken_over,
            sender,
        }
    }

    /// The client of a new connection, which has sent this before the connection reaches its thread.
    fn connect(&mut self, sent: &[u8]) -> TcpStream {
        let (client, (stream, paths)) = connection(sent, self.sender.clone());
        self.threads.hand_over(stream, paths);
        client
    }
}

/// A client that has sent this, and its connection.
pub fn connection(sent: &[u8], taken_over: Sender<(TcpStream, Vec<u8>)>) -> (TcpStream, Arrival<Paths>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    client.set_read_timeout(Some(LONG.silence)).unwrap();
    client.write_all(sent).unwrap();
    let (stream, _) = listener.accept().unwrap();
    stream.set_nonblocking(true).unwrap();
    (client, (stream, Paths { taken_over }))
}

/// A request for a path, of this length in all.
pub fn request_of(path: &str, length: usize) -> Vec<u8> {
    let head = format!("GET {path} HTTP/1.1\r\nHost: a\r\nX-Filling: ");
    let filling = "f".repeat(length - head.len() - 4);
    format!("{head}{filling}\r\n\r\n").into_bytes()
}

pub fn request(path: &str) -> Vec<u8> {
    request_of(path, 128)
}

/// Reads so many answers to `/check`.
pub fn read_answers(client: &mut TcpStream, count: usize) {
    let mut answers = vec![0; count * ANSWER.len()];
    client.read_exact(&mut answers).unwrap();
    assert_eq!(answers, ANSWER.repeat(count));
}

/// Reads to the end of a connection.
pub fn read_to_end(client: &mut TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).unwrap();
    rest
}

#[test]
fn checks_are_answered_one_after_the_other() {
    let mut served = Served::start(LONG);
    let mut clients: Vec<_> = (0..40).map(|_| served.connect(&request("/check"))).collect();
    for _ in 0..3 {
        for client in &mut clients {
            read_answers(client, 1);
            client.write_all(&request("/check")).unwrap();
        }
    }
}

#[test]
fn another_request_is_handed_over_with_all_that_was_read() {
    let mut served = Served::start(LONG);
    let other = [request("/other"), request("/check")].concat();
    let mut client = served.connect(&[request("/check"), other.clone()].concat());
    read_answers(&mut client, 1);
    let (mut stream, read) = served.taken_over.recv().unwrap();
    assert_eq!(read, other);
    client.write_all(b"rest").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    stream.set_nonblocking(false).unwrap();
    assert_eq!(read_to_end(&mut stream), b"rest");
}

/// The system reports an arrival once: what does not fit into the buffer is read without another report.
#[test]
fn checks_that_fill_the_buffer_more_than_once_are_all_answered() {
    let mut served = Served::start(LONG);
    let mut client = served.connect(&request_of("/check", 1 << 10).repeat(9));
    read_answers(&mut client, 9);
    client.write_all(&request("/check")).unwrap();
    read_answers(&mut client, 1);
}

#[test]
fn every_answer_is_read_before_a_connection_is_handed_over() {
    let mut served = Served::start(LONG);
    let mut client = served.connect(&[request("/large").repeat(12), request("/other")].concat());
    client.write_all(b"rest").unwrap();
    let mut answers = vec![0; 12 * LARGE];
    client.read_exact(&mut answers).unwrap();
    assert!(answers.iter().all(|byte| *byte == b'l'));
    let (_, read) = served.taken_over.recv().unwrap();
    assert!(read.starts_with(&request("/other")));
}

#[test]
fn a_client_that_does_not_read_is_not_read_either() {
    let mut served = Served::start(LONG);
    let mut client = served.connect(&request("/large").repeat(16));
    client.write_all(&request("/large").repeat(16)).unwrap();
    client.write_all(&request("/check")).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let all = read_to_end(&mut client);
    assert_eq!(all.len(), 32 * LARGE + ANSWER.len());
    assert!(all.ends_with(ANSWER));
}

#[test]
fn a_check_that_comes_with_the_end_is_answered() {
    let mut served = Served::start(LONG);
    let mut client = served.connect(b"");
    client.write_all(&request("/check")).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_to_end(&mut client), ANSWER);
}

#[test]
fn a_silent_client_is_disconnected() {
    let limits = Limits {
        silence: Duration::from_millis(20),
        ..LONG
    };
    let mut served = Served::start(limits);
    let mut clients = [served.connect(b""), served.connect(&request("/check"))];
    assert_eq!(read_to_end(&mut clients[0]), b"");
    assert_eq!(read_to_end(&mut clients[1]), ANSWER);
}

#[test]
fn a_client_that_reads_nothing_is_disconnected() {
    let limits = Limits {
        write: Duration::from_millis(20),
        ..LONG
    };
    let mut served = Served::start(limits);
    let mut client = served.connect(&request("/large").repeat(16));
    let mut first = [0];
    client.read_exact(&mut first).unwrap();
    // This is the only way to see it from outside: the other end of a closed connection refuses what is sent to it.
    while client.write_all(&request("/check")).is_ok() {}
}

#[test]
fn a_panic_ends_only_its_own_connection() {
    let mut served = Served::start(LONG);
    let count = 2 * served.threads.threads.len();
    let mut others: Vec<_> = (0..count).map(|_| served.connect(&request("/check"))).collect();
    for _ in 0..count {
        let mut client = served.connect(&[request("/check"), request("/panic")].concat());
        assert_eq!(read_to_end(&mut client), b"");
    }
    for client in &mut others {
        read_answers(client, 1);
        client.write_all(&request("/check")).unwrap();
        read_answers(client, 1);
    }
}

#[test]
fn a_panic_while_memory_is_fetched_changes_nothing() {
    let mut served = Served::start(LONG);
    let mut client = served.connect(&request("/api/update/check/panic"));
    read_answers(&mut client, 1);
}

/// A thread may find a new connection, its request and the end of the server at once.
#[test]
fn what_came_before_the_stop_is_answered() {
    let mut served = Served::start(LONG);
    let mut waiting = served.connect(&request("/check"));
    read_answers(&mut waiting, 1);
    let mut late = served.connect(&request("/check"));
    let mut many = served.connect(&request_of("/check", 1 << 10).repeat(9));
    let mut slow = served.connect(&request("/large").repeat(16));
    let mut other = served.connect(&request("/other"));
    served.threads.stop();
    assert_eq!(read_to_end(&mut waiting), b"");
    assert_eq!(read_to_end(&mut late), ANSWER);
    assert_eq!(read_to_end(&mut many), ANSWER.repeat(9));
    assert_eq!(read_to_end(&mut slow).len(), 16 * LARGE);
    let (stream, read) = served.taken_over.recv().unwrap();
    assert_eq!(read, request("/other"));
    drop(stream);
    assert_eq!(read_to_end(&mut other), b"");
}

#[test]
fn connections_end_with_their_threads() {
    let mut served = Served::start(LONG);
    let mut client = served.connect(&request("/large").repeat(16));
    let mut first = [0];
    client.read_exact(&mut first).unwrap();
    drop(served);
    // The rest of the answers is lost.
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest);
    assert!(rest.len() < 16 * LARGE - 1);
}

#[test]
fn a_connection_that_finds_its_thread_gone_is_handed_over() {
    let mut served = Served::start(LONG);
    let waker = EventLoop::<Paths>::new(mpsc::channel().1, Arc::default(), LONG)
        .unwrap()
        .1;
    let arrivals = mpsc::channel().0;
    served.threads.threads = vec![Thread { arrivals, waker }];
    let _client = served.connect(b"");
    assert_eq!(served.taken_over.recv().unwrap().1, b"");
}
