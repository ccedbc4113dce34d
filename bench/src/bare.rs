//! What the system alone costs: one thread that waits for connections with bytes, reads, and writes one fixed response.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use crate::args::TwinArgs;
use crate::server::READY;
use crate::twin::BEGINNING;

/// The number of the listener among the watched descriptors.
const LISTENER: u64 = 0;
/// Events taken at once.
const EVENTS: usize = 256;

/// Serves until the process is killed.
///
/// # Errors
/// When the system refuses a call that a server needs.
pub fn run(args: &TwinArgs) -> anyhow::Result<()> {
    let response = response(args.body_bytes as usize);
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let waiting = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&waiting, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
    writeln!(std::io::stdout(), "{READY}{}", listener.local_addr()?)?;
    let mut streams: HashMap<u64, TcpStream> = HashMap::new();
    let (mut last, mut events) = (LISTENER, Vec::with_capacity(EVENTS));
    loop {
        events.clear();
        epoll::wait(&waiting, spare_capacity(&mut events), None)?;
        for event in &events {
            let number = event.data.u64();
            if number == LISTENER {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                last += 1;
                epoll::add(&waiting, &stream, EventData::new_u64(last), EventFlags::IN)?;
                streams.insert(last, stream);
            } else if let Some(stream) = streams.get_mut(&number)
                && !answer(stream, &response)?
            {
                streams.remove(&number);
            }
        }
    }
}

/// Answers one request; returns whether the connection goes on. The load never sends two at once or one in pieces.
fn answer(stream: &mut TcpStream, response: &[u8]) -> std::io::Result<bool> {
    let mut request = [0; 4096];
    match stream.read(&mut request) {
        Ok(0) => Ok(false),
        Ok(_) => stream.write_all(response).map(|()| true),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(true),
        Err(_) => Ok(false),
    }
}

fn response(body_bytes: usize) -> Vec<u8> {
    let mut response = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncache-control: no-cache, no-store, must-revalidate\r\n\
         access-control-allow-origin: *\r\nx-request-id: 0123456789abcdef0123456789abcdef\r\ncontent-length: {body_bytes}\r\n\
         date: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n"
    )
    .into_bytes();
    let end = response.len() + body_bytes;
    response.extend_from_slice(BEGINNING);
    response.resize(end, b' ');
    response
}
