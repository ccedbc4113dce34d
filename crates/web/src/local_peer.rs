//! The owner of the process at the other end of a connection, if it is on this machine. Linux reports it through
//! `sock_diag(7)`, in constant time however many connections there are.

use std::net::SocketAddr;

/// What is known of the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A process of this user on this machine.
    User(u32),
    /// No process on this machine, or one that has closed the socket.
    Nobody,
    /// The system does not report it.
    Unknown,
}

/// The owner of the socket at `peer` that is connected to ours at `local`.
#[cfg(target_os = "linux")]
pub fn holder(peer: SocketAddr, local: SocketAddr) -> Holder {
    linux::holder(peer, local).unwrap_or(Holder::Unknown)
}

/// The owner of the socket at `peer` that is connected to ours at `local`.
#[cfg(not(target_os = "linux"))]
pub fn holder(_: SocketAddr, _: SocketAddr) -> Holder {
    Holder::Unknown
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::net::{IpAddr, SocketAddr};

    use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

    use super::Holder;

    /// `SOCK_DIAG_BY_FAMILY`, in requests and responses.
    const BY_FAMILY: u16 = 20;
    const REQUEST: u16 = 1;
    /// `struct nlmsghdr`.
    const HEADER: usize = 16;
    /// `struct inet_diag_req_v2`.
    const QUESTION: usize = 56;
    const TCP: u8 = 6;
    const NO_COOKIE: [u8; 8] = [0xff; 8];
    /// The offset of the user in the response, `struct inet_diag_msg`.
    const USER: usize = HEADER + 64;
    const INODE: usize = HEADER + 68;

    pub fn holder(peer: SocketAddr, local: SocketAddr) -> io::Result<Holder> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(SOCK_DIAG))?;
        let kernel = SocketAddrNetlink::new(0, 0);
        sendto(&socket, &question(peer, local), SendFlags::empty(), &kernel)?;
        let mut answer = [0; 1024];
        let (count, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
        Ok(read(&answer[..count.min(answer.len())]))
    }

    fn question(peer: SocketAddr, local: SocketAddr) -> Vec<u8> {
        let (family, source) = address(peer.ip());
        let (_, destination) = address(local.ip());
        let mut bytes = Vec::with_capacity(HEADER + QUESTION);
        bytes.extend_from_slice(&((HEADER + QUESTION) as u32).to_ne_bytes());
        bytes.extend_from_slice(&BY_FAMILY.to_ne_bytes());
        bytes.extend_from_slice(&REQUEST.to_ne_bytes());
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(&[family, TCP, 0, 0]);
        // Sockets in any state.
        bytes.extend_from_slice(&u32::MAX.to_ne_bytes());
        bytes.extend_from_slice(&peer.port().to_be_bytes());
        bytes.extend_from_slice(&local.port().to_be_bytes());
        bytes.extend_from_slice(&source);
        bytes.extend_from_slice(&destination);
        // Any interface.
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&NO_COOKIE);
        bytes
    }

    /// The family of an address, and its bytes, zero-padded.
    fn address(ip: IpAddr) -> (u8, [u8; 16]) {
        let mut bytes = [0; 16];
        match ip.to_canonical() {
            IpAddr::V4(v4) => {
                bytes[..4].copy_from_slice(&v4.octets());
                (AddressFamily::INET.as_raw() as u8, bytes)
            }
            IpAddr::V6(v6) => (AddressFamily::INET6.as_raw() as u8, v6.octets()),
        }
    }

    /// An error instead of a response means that the socket does not exist. A socket without an inode no longer belongs
    /// to a process; its user is then reported as root.
    fn read(answer: &[u8]) -> Holder {
        let number = |at: usize| {
            let bytes = answer.get(at..at + 4)?;
            Some(u32::from_ne_bytes(bytes.try_into().ok()?))
        };
        let kind = answer.get(4..6).map(|bytes| u16::from_ne_bytes([bytes[0], bytes[1]]));
        match (kind, number(USER), number(INODE)) {
            (Some(BY_FAMILY), Some(user), Some(inode)) if inode != 0 => Holder::User(user),
            _ => Holder::Nobody,
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_user_of_a_process_on_this_machine_is_told() {
        let own = Holder::User(rustix::process::getuid().as_raw());
        for address in ["127.0.0.1:0", "[::1]:0", "[::]:0"] {
            let Ok(listener) = TcpListener::bind(address) else {
                continue;
            };
            let local = listener.local_addr().expect("an address");
            let to = match address {
                "[::]:0" => SocketAddr::from(([127, 0, 0, 1], local.port())),
                _ => local,
            };
            let client = TcpStream::connect(to).expect("a connection");
            let (server, peer) = listener.accept().expect("the same");
            let local = server.local_addr().expect("an address");
            assert_eq!(holder(peer, local), own, "{address}");
            drop(client);
            assert_eq!(
                holder(peer, local),
                Holder::Nobody,
                "no socket has this address: {address}"
            );
        }
    }

    #[test]
    fn nobody_here_holds_an_end_that_is_elsewhere() {
        let (peer, local) = ("192.0.2.1:1234", "192.0.2.2:80");
        let address = |text: &str| text.parse().expect("an address");
        assert_eq!(holder(address(peer), address(local)), Holder::Nobody);
    }
}
