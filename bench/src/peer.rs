//! Other servers beside ours: nginx, which returns one fixed text, and servers that run on this machine already.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use anyhow::{Context, ensure};

use crate::cores::Cores;
use crate::questions::Question;
use crate::server::Server;
use crate::twin;

/// Where systems keep nginx.
const NGINX: [&str; 4] = [
    "/usr/sbin/nginx",
    "/usr/bin/nginx",
    "/usr/local/sbin/nginx",
    "/opt/homebrew/bin/nginx",
];

/// A server that runs already: `NAME=PID,URL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// How the table calls it.
    pub name: String,
    process: u32,
    address: SocketAddr,
    path: String,
}

impl FromStr for Peer {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Peer> {
        let (name, rest) = text.split_once('=').context("a peer is NAME=PID,URL")?;
        let (process, url) = rest.split_once(',').context("a peer is NAME=PID,URL")?;
        let rest = url
            .strip_prefix("http://")
            .context("the URL of a peer begins with http://")?;
        let end = rest.find('/').unwrap_or(rest.len());
        let (address, path) = rest.split_at(end);
        let address: SocketAddr = address.parse().context("a peer has an IP address and a port")?;
        ensure!(address.ip().is_loopback(), "a peer runs on this machine: {address}");
        Ok(Peer {
            name: name.to_owned(),
            process: process.parse().context("the number of a peer's process")?,
            address,
            path: if path.is_empty() { "/" } else { path }.to_owned(),
        })
    }
}

impl Peer {
    /// The server, on the core of servers.
    ///
    /// # Errors
    /// When its process does not run.
    pub fn server(&self, cores: Cores) -> anyhow::Result<Server> {
        let server = Server::running(self.process, self.address)?;
        cores.move_to_server_core(server.id())?;
        Ok(server)
    }

    /// The one question that it is asked: its answer is JSON.
    pub fn questions(&self) -> Vec<Question> {
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: ExampleApp/41 (Mobile)\r\nAccept: application/json\r\n\r\n",
            self.path, self.address
        );
        vec![Question {
            request: request.into_bytes(),
            expected: b"{",
        }]
    }
}

/// The program nginx, if this machine has it.
pub fn find_nginx() -> Option<PathBuf> {
    NGINX.map(PathBuf::from).into_iter().find(|program| program.is_file())
}

/// Starts nginx with a body of this many bytes for every request, without a log. `folder` is for its files.
///
/// # Errors
/// When it does not start.
pub fn start_nginx(program: &Path, folder: &Path, body_bytes: u64) -> anyhow::Result<Server> {
    // It does not tell which port the system chose.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let mut body = String::from_utf8_lossy(twin::BEGINNING).into_owned();
    body.extend(std::iter::repeat_n(
        ' ',
        (body_bytes as usize).saturating_sub(body.len()),
    ));
    let settings = format!(
        "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log stderr crit;\nevents {{ worker_connections 1024; }}\n\
         http {{\naccess_log off;\nkeepalive_requests 1000000000;\nserver {{\nlisten {address};\n\
         default_type application/json;\nadd_header cache-control 'no-cache, no-store, must-revalidate';\n\
         add_header access-control-allow-origin *;\nlocation / {{ return 200 '{body}'; }}\n}}\n}}\n"
    );
    let file = folder.join("nginx.conf");
    fs::write(&file, settings)?;
    let mut command = Command::new(program);
    command.env_clear().arg("-p").arg(folder).arg("-c").arg(&file);
    command.args(["-e", "stderr"]);
    Server::start_silent(command, address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_has_a_name_a_process_and_a_url_on_this_machine() {
        let peer: Peer = "server=12,http://127.0.0.1:3000/a?b=c".parse().unwrap();
        assert_eq!(
            (peer.name.as_str(), peer.process, peer.path.as_str()),
            ("server", 12, "/a?b=c")
        );
        assert_eq!("a=1,http://127.0.0.1:80".parse::<Peer>().unwrap().path, "/");
        for text in [
            "server",
            "a=1",
            "a=x,http://127.0.0.1:1/",
            "a=1,https://127.0.0.1:1/",
            "a=1,http://192.0.2.1:80/",
        ] {
            assert!(text.parse::<Peer>().is_err(), "{text}");
        }
    }
}
