//! A server process under measurement: its address, its processor time, its memory.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::ops::RangeInclusive;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

/// The beginning of the line that says that a server is ready; the address follows.
pub const READY: &str = "Listening on http://";
/// The timeout for a server to become ready.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A running server process. One that this program started is killed on drop.
#[derive(Debug)]
pub struct Server {
    id: u32,
    /// `None` for one that ran before.
    child: Option<Child>,
    /// Its address.
    pub address: SocketAddr,
    /// The time from its start until it reported that it listens.
    pub started_in: Duration,
}

impl Server {
    /// Starts a program and waits until it prints its address.
    ///
    /// # Errors
    /// When it cannot be started, ends, or is not ready in two minutes.
    pub fn start(command: Command) -> anyhow::Result<Server> {
        Server::start_saying(command, READY)
    }

    /// Starts a program and waits until it prints its address after this beginning of a line.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_saying(mut command: Command, ready: &'static str) -> anyhow::Result<Server> {
        let started = Instant::now();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} cannot be started", command.get_program().display()))?;
        let output = child.stdout.take().context("no standard output")?;
        let mut server = Server::of(child.id(), Some(child), SocketAddr::from(([127, 0, 0, 1], 0)));
        let (sender, address) = mpsc::channel();
        // Continues reading to the end, so that the process never blocks on a full pipe.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(rest) = line.strip_prefix(ready) {
                    let address = rest.split(',').next().unwrap_or_default();
                    // Nobody receives the lines after the first.
                    let _ = sender.send((address.to_owned(), started.elapsed()));
                }
            }
        });
        let Ok((address, started_in)) = address.recv_timeout(TIMEOUT) else {
            bail!("{} did not become ready", command.get_program().display());
        };
        server.address = address.parse().context("the server's address")?;
        server.started_in = started_in;
        Ok(server)
    }

    /// Starts a program that prints nothing, and waits until it accepts connections at this address.
    ///
    /// # Errors
    /// When it cannot be started, or accepts none in two minutes.
    pub fn start_silent(mut command: Command, address: SocketAddr) -> anyhow::Result<Server> {
        let started = Instant::now();
        let child = command
            .stdin(Stdio::null())
            .spawn()
            .with_context(|| format!("{} cannot be started", command.get_program().display()))?;
        let mut server = Server::of(child.id(), Some(child), address);
        while TcpStream::connect(address).is_err() {
            ensure!(
                started.elapsed() < TIMEOUT,
                "{} did not become ready",
                command.get_program().display()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        server.started_in = started.elapsed();
        Ok(server)
    }

    /// A server that runs already, as this process.
    ///
    /// # Errors
    /// When there is no such process.
    pub fn running(id: u32, address: SocketAddr) -> anyhow::Result<Server> {
        let server = Server::of(id, None, address);
        server.cpu().with_context(|| format!("no process {id}"))?;
        Ok(server)
    }

    fn of(id: u32, child: Option<Child>, address: SocketAddr) -> Server {
        Server {
            id,
            child,
            address,
            started_in: Duration::ZERO,
        }
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The processor time of all its threads, in kernel and user mode.
    ///
    /// # Errors
    /// When the process has ended.
    pub fn cpu(&self) -> anyhow::Result<Duration> {
        cpu_of(&self.proc("stat")?, 14..=15)
    }

    /// Like [`Self::cpu`], with that of the processes that it started and that have ended.
    ///
    /// # Errors
    /// When the process has ended.
    pub fn cpu_of_all(&self) -> anyhow::Result<Duration> {
        cpu_of(&self.proc("stat")?, 14..=17)
    }

    /// Its resident memory in bytes.
    ///
    /// # Errors
    /// When the process has ended.
    pub fn memory(&self) -> anyhow::Result<u64> {
        self.status("VmRSS:")
    }

    /// The most resident memory that it has had, in bytes.
    ///
    /// # Errors
    /// When the process has ended.
    pub fn peak_memory(&self) -> anyhow::Result<u64> {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> anyhow::Result<u64> {
        let status = self.proc("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kibibytes = line
            .and_then(|rest| rest.split_whitespace().next())
            .context("a changed /proc")?;
        Ok(kibibytes.parse::<u64>()? * 1024)
    }

    fn proc(&self, file: &str) -> anyhow::Result<String> {
        let path = format!("/proc/{}/{file}", self.id);
        fs::read_to_string(&path).with_context(|| path)
    }
}

/// The sum of some fields of `/proc/PID/stat` that are processor time: 14 and 15 are user and system time of a process, 16
/// and 17 those of its children that have ended.
///
/// # Errors
/// When the text has another form.
pub fn cpu_of(stat: &str, fields: RangeInclusive<usize>) -> anyhow::Result<Duration> {
    // After the name in parentheses, which may contain anything, the state is field 3.
    let (_, rest) = stat.rsplit_once(')').context("a changed /proc")?;
    let first = fields.start() - 3;
    let times = rest.split_whitespace().skip(first).take(fields.count());
    let ticks: u64 = times.map(str::parse::<u64>).sum::<Result<_, _>>()?;
    let per_second = rustix::param::clock_ticks_per_second();
    Ok(Duration::from_secs_f64(ticks as f64 / per_second as f64))
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
