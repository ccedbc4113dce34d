//! The addresses: whether the server can listen on its own, and whether phones can reach the public one.

use std::fs::File;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

use launchway_config::Config;

use super::findings::Finding;

const LISTENER: &str = "listener";
const PUBLIC: &str = "public URL";

/// Listens for a moment, and compares the settings with each other.
pub(super) fn look(config: &Config) -> Vec<Finding> {
    let runs = is_running(config);
    let mut findings = vec![listener("--listen", config.listen, runs)];
    findings.extend(
        config
            .metrics_listen
            .map(|address| listener("--metrics-listen", address, runs)),
    );
    findings.push(public_url(config));
    findings
}

/// Whether a server holds the data directory now. Servers on PostgreSQL do not lock theirs.
fn is_running(config: &Config) -> bool {
    let lock = File::open(config.data_dir.join("server.lock"));
    config.is_embedded() && lock.is_ok_and(|file| file.try_lock().is_err())
}

fn listener(setting: &str, address: SocketAddr, runs: bool) -> Finding {
    match TcpListener::bind(address) {
        Ok(_) => Finding::ok(LISTENER, format!("{setting} {address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse && runs => Finding::ok(
            LISTENER,
            format!("{setting} {address} is in use; a server runs with this data directory"),
        ),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Finding::warning(
            LISTENER,
            format!("{setting} {address} is in use"),
            "unless this server has it now, end the other program or choose another port",
        ),
        Err(error) => {
            let remedy = match error.kind() {
                ErrorKind::PermissionDenied => "choose a port from 1024, or grant CAP_NET_BIND_SERVICE",
                _ => "choose an address of this machine",
            };
            Finding::error(LISTENER, format!("{setting} {address}: {error}"), remedy)
        }
    }
}

fn public_url(config: &Config) -> Finding {
    let is_local = config.listen.ip().is_loopback();
    let behind_proxy = "put a TLS proxy in front and set --public-url to its https address";
    match &config.public_url {
        None if is_local => Finding::ok(
            PUBLIC,
            format!("http://{}, which only this machine reaches", config.listen),
        ),
        None => Finding::warning(
            PUBLIC,
            "--public-url is not set, so phones get links to an address that they may not reach",
            behind_proxy,
        ),
        Some(url) if url.starts_with("http://") && !is_local => Finding::warning(
            PUBLIC,
            format!("{url} is plain http, which others can read and change"),
            behind_proxy,
        ),
        Some(url) if url.starts_with("https://") && config.trusted_proxies.is_empty() => Finding::warning(
            PUBLIC,
            format!("{url} needs a TLS proxy, but no proxy is trusted, so that all clients count as one"),
            "name the proxy in --trusted-proxies",
        ),
        Some(url) => Finding::ok(PUBLIC, url.as_str()),
    }
}
