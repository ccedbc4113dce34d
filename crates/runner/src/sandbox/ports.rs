//! The TCP ports of this machine that steps must not reach: those of the server, and all with a listener when a step
//! starts. A step's own servers, such as the daemon of a build tool, start later and are open to it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use serde::{Deserialize, Serialize};

/// The port of the metadata services of clouds.
pub const HTTP: u16 = 80;
/// Never closed: no build works without it.
const HTTPS: u16 = 443;
/// Ports that builds use to reach registries and repositories. They stay open even if this machine listens on them.
const OUTWARD: [u16; 4] = [22, 53, HTTP, HTTPS];
/// The state of a listening socket in `/proc/net/tcp`.
const LISTENING: &str = "0A";

/// The TCP ports that a step may connect to: all except the closed ones and those with a listener on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ports {
    /// Always closed.
    pub closed: Vec<u16>,
    /// Open even if a server of this machine listens there.
    pub open: Vec<u16>,
}

impl Ports {
    /// The ports that are closed to a step that starts now.
    ///
    /// # Errors
    /// The listeners cannot be determined.
    pub fn closed_now(&self) -> io::Result<BTreeSet<u16>> {
        let mut closed = BTreeSet::new();
        for table in ["/proc/self/net/tcp", "/proc/self/net/tcp6"] {
            match File::open(table) {
                Ok(file) => closed.extend(listening(BufReader::new(file))?),
                // A kernel without IPv6.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        closed.retain(|port| !OUTWARD.contains(port));
        closed.extend(&self.closed);
        closed.retain(|port| *port != HTTPS && !self.open.contains(port));
        Ok(closed)
    }
}

/// The ports of listening sockets. A line is `sl local_address rem_address st …`, such as `0: 0100007F:2253
/// 00000000:0000 0A …`.
fn listening(table: impl BufRead) -> io::Result<Vec<u16>> {
    let mut ports = Vec::new();
    for line in table.lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().take(4).collect();
        if let [_, local, _, LISTENING] = words.as_slice() {
            let port = local
                .rsplit(':')
                .next()
                .and_then(|port| u16::from_str_radix(port, 16).ok());
            ports.push(port.ok_or(io::ErrorKind::InvalidData)?);
        }
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn listening_sockets_are_told_from_others() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue\n   \
             0: 0100007F:2253 00000000:0000 0A 00000000:00000000 00:00000000\n   \
             1: 0100007F:D431 0100007F:2253 01 00000000:00000000 00:00000000\n   \
             2: 00000000000000000000000001000000:1538 00000000000000000000000000000000:0000 0A 0\n";
        assert_eq!(listening(table.as_bytes()).unwrap(), [8787, 5432]);
        assert!(listening("0: nothing:XX 0:0 0A".as_bytes()).is_err());
    }

    #[test]
    fn what_listens_here_is_closed_unless_it_is_opened() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut ports = Ports {
            closed: vec![443, 8787],
            open: vec![9999],
        };
        let closed = ports.closed_now().unwrap();
        assert!(closed.contains(&port) && closed.contains(&8787));
        assert!(!closed.contains(&443) && !closed.contains(&22) && !closed.contains(&9999));
        ports.open.push(port);
        assert!(!ports.closed_now().unwrap().contains(&port));
    }
}
