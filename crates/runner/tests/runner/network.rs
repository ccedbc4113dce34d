//! What a step can reach besides the file system: servers of this machine, sockets in the file system, other processes,
//! cloud metadata.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use launchway_domain::build::BuildResult;
use launchway_runner::executor::{StepEnd, StepOrder};
use launchway_runner::plan::RequestOnly;
use launchway_runner::sandbox::{BuildUser, HTTP, Sandbox, SandboxSettings, metadata};
use launchway_runner::settings::Settings;

use crate::fake_server::{FakeServer, lease};
use crate::sandbox::run_as;
use crate::stage::{NOBODY, directory_of, is_root, open_directory, order, run};
use crate::work::Working;

/// Ways to reach a port of this machine. Each must fail; a successful one prints a line.
const WAYS: &str = r#"
import os, socket, subprocess, sys
port = int(os.environ["PORT"])
def way(name, go):
    try:
        go()
        print("REACHED", name)
    except OSError:
        pass
def fast(host):
    socket.socket().sendto(b"x", 0x20000000, (host, port))
def message():
    socket.socket().sendmsg([b"x"], [], 0x20000000, ("127.0.0.1", port))
def multipath(family, host):
    socket.socket(family, socket.SOCK_STREAM, 262).connect((host, port))
def smc(*kind):
    socket.socket(*kind).connect(("127.0.0.1", port))
for host in ("127.0.0.1", "127.1.2.3", "0.0.0.0", "localhost"):
    way(host, lambda: socket.create_connection((host, port), 5))
    way("first packet to " + host, lambda: fast(host))
way("mapped", lambda: socket.create_connection(("::ffff:127.0.0.1", port), 5))
way("message", message)
way("multipath", lambda: multipath(socket.AF_INET, "127.0.0.1"))
way("multipath mapped", lambda: multipath(socket.AF_INET6, "::ffff:127.0.0.1"))
way("SMC", lambda: smc(43, socket.SOCK_STREAM, 0))
way("SMC by protocol", lambda: smc(socket.AF_INET, socket.SOCK_STREAM, 256))
if len(sys.argv) == 1:
    print(subprocess.run([sys.executable, sys.argv[0], "child"], capture_output=True, text=True).stdout, end="")
own = socket.create_server(("127.0.0.1", 0))
socket.create_connection(own.getsockname(), 5)
print("tried")
"#;

struct Place {
    directory: tempfile::TempDir,
    workspace: PathBuf,
}

impl Place {
    fn of(user: Option<u32>) -> Place {
        let directory = open_directory();
        let work = directory_of(directory.path().join("work"), None);
        fs::set_permissions(&work, fs::Permissions::from_mode(0o711)).unwrap();
        let workspace = directory_of(work.join("workspace"), user);
        fs::write(workspace.join("ways.py"), WAYS).unwrap();
        Place { directory, workspace }
    }

    fn order(&self, script: &str, settings: &SandboxSettings, user: Option<u32>) -> StepOrder {
        let mut order = order(script, &self.workspace);
        let work = self.directory.path().join("work");
        order.sandbox = settings.sandbox(user.map(|user| (user, user)), &work, &self.workspace);
        order
    }
}

fn own_user() -> SandboxSettings {
    SandboxSettings {
        user: BuildUser::Own,
        ..SandboxSettings::default()
    }
}

/// Whether ports can be closed; prints a note if this machine cannot show it.
fn closes_ports() -> bool {
    let ports = own_user().available().ports;
    if !ports {
        println!("no ports can be closed on this machine: not tested");
    }
    ports
}

#[tokio::test]
async fn servers_of_this_machine_are_closed_and_a_steps_own_are_not() {
    if !closes_ports() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let place = Place::of(None);
    let mut closed = place.order("python3 ways.py", &own_user(), None);
    closed.env.insert("PORT".to_owned(), port.to_string());
    // Without the sandbox all of them succeed.
    let mut open = closed.clone();
    open.sandbox = Sandbox::default();
    let (printed, _) = run(open).await;
    assert!(
        printed.contains("REACHED 127.0.0.1\n") && printed.contains("REACHED mapped\n"),
        "{printed}"
    );
    let (printed, end) = run(closed.clone()).await;
    assert_eq!((printed.as_str(), end), ("tried\ntried\n", StepEnd::Exited(0)));
    if is_root() {
        let place = Place::of(Some(NOBODY));
        let mut as_other = place.order("python3 ways.py", &SandboxSettings::default(), Some(NOBODY));
        as_other.env.clone_from(&closed.env);
        assert_eq!(run(as_other).await.0, "tried\ntried\n");
    }
    // A port that the owner of the machine opens is open, and a port without a listener can be closed.
    let opened = SandboxSettings {
        open_ports: vec![port],
        ..own_user()
    };
    let script = "python3 ways.py | head -n 1";
    let mut order = place.order(script, &opened, None);
    order.env.clone_from(&closed.env);
    assert_eq!(run(order).await.0, "REACHED 127.0.0.1\n");
    drop(listener);
    let named = SandboxSettings {
        closed_ports: vec![port],
        ..own_user()
    };
    let script = format!("python3 -c 'import socket; print(socket.socket().connect_ex((\"127.0.0.1\", {port})))'");
    assert_eq!(run(place.order(&script, &named, None)).await.0, "13\n");
    assert_eq!(run(place.order(&script, &own_user(), None)).await.0, "111\n");
}

#[tokio::test]
async fn clouds_tell_a_step_nothing() {
    if !closes_ports() {
        return;
    }
    // Refused is not the same as absent: so the test also works in a cloud.
    let script = "python3 -c 'import socket
for address in (\"169.254.169.254\", \"169.254.170.2\"):
    print(socket.socket().connect_ex((address, 80)))'";
    let place = Place::of(None);
    let mut without_root = place.order(script, &own_user(), None);
    without_root.sandbox.ports.as_mut().unwrap().closed.push(HTTP);
    assert_eq!(run(without_root).await.0, "13\n13\n");
    let user = 59_780;
    if !is_root() || !metadata::close(user) {
        println!("routing cannot be changed on this machine: not tested");
        return;
    }
    let place = Place::of(Some(user));
    let by_route = place.order(script, &SandboxSettings::default(), Some(user));
    assert_eq!(run(by_route).await.0, "13\n13\n");
}

/// What an isolated step must not find: a socket of the machine, and a process with a secret in its command line.
const LOOK: &str = r#"
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$SOCKET" 2>/dev/null && echo "REACHED the socket"
ls "$SOCKET" 2>/dev/null && echo "REACHED its name"
tr '\0' ' ' 2>/dev/null < /proc/$VICTIM/cmdline | grep hunter2 && echo "REACHED the command line"
ls -d /proc/$VICTIM 2>/dev/null && echo "REACHED the process"
cat /proc/self/status > /dev/null && test -d /proc/$$ && ls /proc/self/fd > /dev/null && echo looked
"#;

#[tokio::test]
async fn an_isolated_step_finds_neither_sockets_nor_processes() {
    if !is_root() || !closes_ports() {
        println!("only root can make a socket in /run: not tested");
        return;
    }
    let socket = PathBuf::from(format!("/run/launchway-test-{}", std::process::id()));
    let _listener = UnixListener::bind(&socket).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o777)).unwrap();
    let mut victim = std::process::Command::new("sh")
        .args(["-c", "read line", "--password=hunter2"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let prepared = |place: &Place, settings: &SandboxSettings, user, apart| {
        let mut order = place.order(LOOK, settings, user);
        order.env.insert("SOCKET".to_owned(), socket.display().to_string());
        order.env.insert("VICTIM".to_owned(), victim.id().to_string());
        order.sandbox.apart = apart;
        order
    };
    let place = Place::of(Some(NOBODY));
    // Landlock and another user alone hide neither.
    let (open, _) = run(prepared(&place, &SandboxSettings::default(), Some(NOBODY), false)).await;
    let (closed, end) = run(prepared(&place, &SandboxSettings::default(), Some(NOBODY), true)).await;
    // An unprivileged user cannot change /proc.
    let as_nobody = run_as(
        NOBODY,
        &prepared(&place, &own_user(), None, true),
        place.directory.path(),
    );
    let _ = fs::remove_file(&socket);
    victim.kill().unwrap();
    victim.wait().unwrap();
    for reached in ["the socket", "the command line", "the process"] {
        assert!(open.contains(&format!("REACHED {reached}\n")), "{reached}: {open}");
    }
    assert_eq!((closed.as_str(), end), ("looked\n", StepEnd::Exited(0)));
    assert!(!as_nobody.contains("REACHED the socket"), "{as_nobody}");
    assert!(as_nobody.contains("looked\n"), "{as_nobody}");
}

#[tokio::test]
async fn the_programs_of_nixos_stay_where_they_are() {
    let place_of_system = Path::new("/run/current-system");
    if !is_root() || !closes_ports() || place_of_system.exists() {
        println!("only root can make a system in /run: not tested");
        return;
    }
    let system = open_directory();
    fs::write(system.path().join("program"), "found\n").unwrap();
    fs::set_permissions(system.path(), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(system.path(), place_of_system).unwrap();
    let place = Place::of(Some(NOBODY));
    let script = "cat /run/current-system/program";
    let mut order = place.order(script, &SandboxSettings::default(), Some(NOBODY));
    order.sandbox.apart = true;
    let (printed, end) = run(order).await;
    fs::remove_file(place_of_system).unwrap();
    assert_eq!((printed.as_str(), end), ("found\n", StepEnd::Exited(0)));
}

#[tokio::test]
async fn a_step_that_fails_is_told_what_was_closed_to_it() {
    if !closes_ports() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = FakeServer::start().await;
    let change = |settings: &mut Settings| settings.sandbox.close_ports = true;
    let working = Working::with(&server, change, Arc::new(RequestOnly));
    let connect = format!("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))'");
    let closed = "note: steps on this runner cannot connect to these TCP ports at any address: ";
    let ended = "closes TCP ports to steps, so 32-bit programs do not run";
    for (number, (script, is_ended)) in [
        (connect.as_str(), false),
        ("kill -SYS $$", true),
        ("sh -c 'kill -SYS $$'; exit $?", true),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("build_{number}");
        server.queue(lease(&server, &id, &[("Step", script)]));
        assert_eq!(server.finished(&id).await.status, BuildResult::Failed);
        let log = server.log(&id);
        let line = log
            .lines()
            .find_map(|line| line.strip_prefix("==> ")?.strip_prefix(closed));
        let ports = line.and_then(|line| line.split(". ").next()).unwrap_or_default();
        let is_named = ports.split(", ").any(|named| named == port.to_string()) || ports.ends_with(" more");
        assert!(is_named && log.contains("--open-port PORT"), "{log}");
        assert_eq!(log.contains(ended), is_ended, "{log}");
    }
    server.queue(lease(&server, "build_good", &[("Step", "true")]));
    assert_eq!(server.finished("build_good").await.status, BuildResult::Success);
    assert!(!server.log("build_good").contains("note:"));
    working.end().await.unwrap();
}
