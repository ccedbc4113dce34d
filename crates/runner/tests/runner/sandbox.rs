//! The sandbox: a hostile step tries to escape from its workspace, as root's build user and as the runner's own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use launchway_runner::WorkDirectory;
use launchway_runner::executor::{ProcessExecutor, StepCommand, StepEnd, StepOrder};
use launchway_runner::sandbox::trial::Exposure;
use launchway_runner::sandbox::{BuildUser, Landlock, Sandbox, SandboxReport, SandboxSettings, Users};
use launchway_runner::settings::Settings;

use crate::stage::{NOBODY, PROGRAM, directory_of, is_root, open_directory, order, run};

/// The attacks of a step. Each line must fail; a successful one prints a line.
const ATTACKS: &str = r#"
try() { if timeout -k 1 20 bash -c "$1" >/dev/null 2>&1; then echo "REACHED: $1"; fi; }
try "cat $OUTSIDE/secret"
try "ls $OUTSIDE/"
try "cat $OUTSIDE/other-build/source/file"
try "echo x >> $OUTSIDE/secret"
try "echo x > $OUTSIDE/new"
try "rm -f $OUTSIDE/secret && ! test -e $OUTSIDE/secret"
try "mv $OUTSIDE/secret . "
try "ln $OUTSIDE/secret hard && cat hard"
try "ln -s $OUTSIDE/secret soft; cat soft"
try "truncate -s 0 $OUTSIDE/secret"
try "cat /proc/$VICTIM/environ | grep -q SECRET"
try "head -c 1 /proc/$VICTIM/mem"
try "cat /proc/$VICTIM/maps | grep -q ."
try "cat /proc/$VICTIM/root$OUTSIDE/secret"
try "cat /proc/$VICTIM/cwd/secret"
try "readlink /proc/$VICTIM/fd/0"
try "cat /proc/$PPID/environ | grep -q ."
try "head -c 1 /proc/$PPID/mem"
try "kill -0 $VICTIM"
try "kill -TERM $VICTIM"
try "kill -KILL $PPID"
try "python3 -c 'import ctypes,sys; sys.exit(0 if ctypes.CDLL(None).ptrace(16, $VICTIM, 0, 0) == 0 else 1)'"
try "python3 -c 'import ctypes,sys; sys.exit(0 if ctypes.CDLL(None).ptrace(16, $PPID, 0, 0) == 0 else 1)'"
try "touch /usr/x"
try "touch /etc/x"
try "su -c true"
try "sudo -n true"
try "mount -t tmpfs none ."
echo tried
echo mine > file && cat file
echo three > /dev/stdout
test -r /etc/passwd && test -x /usr/bin/env
"#;

/// Starts a process that a step must not reach, in a directory and with a secret in its environment.
fn victim(directory: &Path, user: Option<u32>) -> Child {
    let mut command = Command::new("sleep");
    command.arg("1000").env("SECRET", "hunter2").current_dir(directory);
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    command.spawn().unwrap()
}

/// A directory of the runner: a secret, another build, and the workspace of the step.
struct Machine {
    directory: tempfile::TempDir,
    workspace: PathBuf,
    victim: Child,
}

impl Machine {
    /// `owner` owns the secrets and the victim, `builder` the workspace.
    fn new(owner: Option<u32>, builder: Option<u32>) -> Machine {
        let directory = open_directory();
        let outside = directory_of(directory.path().join("outside"), owner);
        let work = directory_of(directory.path().join("work"), owner);
        fs::set_permissions(&work, fs::Permissions::from_mode(0o711)).unwrap();
        directory_of(outside.join("other-build"), owner);
        directory_of(outside.join("other-build/source"), owner);
        for file in ["secret", "other-build/source/file"] {
            fs::write(outside.join(file), "hunter2").unwrap();
            fs::set_permissions(outside.join(file), fs::Permissions::from_mode(0o600)).unwrap();
            std::os::unix::fs::chown(outside.join(file), owner, owner).unwrap();
        }
        fs::set_permissions(&outside, fs::Permissions::from_mode(0o700)).unwrap();
        let workspace = directory_of(work.join("workspace"), builder);
        let victim = victim(&outside, owner);
        Machine {
            directory,
            workspace,
            victim,
        }
    }

    fn work_dir(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    fn attack(&self, settings: &SandboxSettings, user: Option<u32>) -> StepOrder {
        let mut order = order(ATTACKS, &self.workspace);
        let outside = self.directory.path().join("outside");
        order
            .env
            .insert("OUTSIDE".to_owned(), outside.to_str().unwrap().to_owned());
        order.env.insert("VICTIM".to_owned(), self.victim.id().to_string());
        order.sandbox = settings.sandbox(user.map(|user| (user, user)), &self.work_dir(), &self.workspace);
        order
    }

    /// Everything outside is unchanged, and the step could do its own work.
    fn check(&mut self, printed: &str) {
        assert!(!printed.contains("REACHED"), "{printed}");
        assert!(printed.contains("tried\nmine\nthree\n"), "{printed}");
        assert!(self.victim.try_wait().unwrap().is_none(), "the victim is gone");
        let secret = self.directory.path().join("outside/secret");
        assert_eq!(fs::read_to_string(secret).unwrap(), "hunter2");
        assert_eq!(fs::read_dir(self.directory.path().join("outside")).unwrap().count(), 2);
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

/// Runs an order in a runner process of this user. Returns its output.
pub fn run_as(user: u32, order: &StepOrder, directory: &Path) -> String {
    // The build directory may be closed to others.
    let program = directory.join("program");
    assert!(
        Command::new("cp")
            .arg(PROGRAM)
            .arg(&program)
            .status()
            .unwrap()
            .success()
    );
    let file = directory.join("order");
    fs::write(&file, serde_json::to_vec(order).unwrap()).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let mut command = Command::new(&program);
    command.arg("step").arg(file).uid(user).gid(user).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn without_landlock() -> SandboxSettings {
    SandboxSettings {
        landlock: false,
        ..SandboxSettings::default()
    }
}

/// Whether Landlock is available; prints a note if this machine cannot show it.
fn has_landlock() -> bool {
    let level = SandboxSettings::default().available().landlock;
    if level < Landlock::Full {
        println!("Landlock is {level:?} on this machine: not tested");
    }
    level == Landlock::Full
}

#[tokio::test]
async fn a_build_user_of_its_own_reaches_nothing() {
    if !is_root() {
        println!("only root can change the user: not tested");
        return;
    }
    for settings in [without_landlock(), SandboxSettings::default()] {
        let users = Users::claim(&settings, 1).unwrap();
        let user = users.exclusive(0);
        assert!(user.is_some() && settings.available().user);
        let mut machine = Machine::new(None, user);
        let (printed, end) = run(machine.attack(&settings, user)).await;
        machine.check(&printed);
        assert_eq!(end, StepEnd::Exited(0), "{printed}");
        // It has no supplementary groups, no capabilities, and only the standard open files.
        let mut look = machine.attack(&settings, user);
        let files = "ls /proc/self/fd | wc -l";
        let script = format!("id -u; id -G; grep -E 'CapEff|CapPrm|NoNewPrivs' /proc/self/status; {files}");
        look.command = StepCommand::Shell(script);
        let (printed, _) = run(look).await;
        let given = Command::new("sh").args(["-c", files]).output().unwrap();
        let (id, none) = (user.unwrap(), "0000000000000000");
        let expected = format!(
            "{id}\n{id}\nCapPrm:\t{none}\nCapEff:\t{none}\nNoNewPrivs:\t1\n{}",
            String::from_utf8_lossy(&given.stdout)
        );
        assert_eq!(printed, expected);
    }
}

/// The sandbox of this machine with these settings, as measured by the trial.
async fn sandbox(sandbox: SandboxSettings) -> SandboxReport {
    let mut settings = Settings::new(PathBuf::from("/nowhere"));
    settings.sandbox = SandboxSettings {
        close_ports: false,
        ..sandbox
    };
    let executor = Arc::new(ProcessExecutor::through(PathBuf::from(PROGRAM)));
    WorkDirectory::inspect(settings, executor).await.unwrap()
}

#[tokio::test]
async fn a_sandbox_is_judged_by_what_a_step_reached() {
    let open = sandbox(SandboxSettings {
        user: BuildUser::Own,
        ..without_landlock()
    })
    .await;
    assert!(
        open.reached.contains(&Exposure::Files) && open.reached.contains(&Exposure::Signals),
        "{open:?}"
    );
    assert!(!open.is_enough());
    if is_root() {
        let other_user = sandbox(without_landlock()).await;
        assert!(other_user.is_enough(), "{other_user:?}");
    }
    if has_landlock() {
        let landlock = sandbox(SandboxSettings {
            user: BuildUser::Own,
            ..SandboxSettings::default()
        })
        .await;
        assert!(!landlock.reached.contains(&Exposure::Files), "{landlock:?}");
        assert!(!landlock.reached.contains(&Exposure::Signals), "{landlock:?}");
    }
}

#[tokio::test]
async fn a_service_manager_is_seen_whatever_the_kernel_allows() {
    if !is_root() {
        println!("only root can make a directory in /run: not tested");
        return;
    }
    let session = PathBuf::from("/run/user/0");
    let is_made = !session.exists();
    fs::create_dir_all(&session).unwrap();
    // Steps are isolated, but /run stays visible: they may change this directory.
    let open = sandbox(SandboxSettings {
        user: BuildUser::Own,
        writable: vec![PathBuf::from("/run")],
        ..SandboxSettings::default()
    })
    .await;
    let closed = sandbox(SandboxSettings {
        user: BuildUser::Own,
        ..SandboxSettings::default()
    })
    .await;
    if is_made {
        fs::remove_dir(&session).unwrap();
    }
    assert!(
        open.reached.contains(&Exposure::Run) && open.reached.contains(&Exposure::Session),
        "{open:?}"
    );
    assert!(!open.is_enough());
    let told: Vec<_> = open.openings().iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|line| line.contains("/run/user")), "{told:?}");
    assert!(told.iter().any(|line| line.contains("the sockets in /run")), "{told:?}");
    if closed.apart {
        assert!(
            !closed.reached.contains(&Exposure::Run) && !closed.reached.contains(&Exposure::Session),
            "{closed:?}"
        );
    }
}

#[tokio::test]
async fn without_a_sandbox_the_same_attacks_succeed() {
    // Otherwise the other tests could not fail.
    let machine = Machine::new(None, None);
    let mut open = machine.attack(&SandboxSettings::default(), None);
    open.sandbox = Sandbox::default();
    open.command = StepCommand::Shell(ATTACKS.lines().take(9).collect::<Vec<_>>().join("\n"));
    let (printed, _) = run(open).await;
    let outside = machine.directory.path().join("outside");
    for (command, file) in [
        ("cat", "secret"),
        ("ls", ""),
        ("cat", "other-build/source/file"),
        ("echo x >", "new"),
    ] {
        let reached = format!("REACHED: {command} {}/{file}\n", outside.display());
        assert!(printed.contains(&reached), "{reached}: {printed}");
    }
    let mut open = machine.attack(&SandboxSettings::default(), None);
    open.sandbox = Sandbox::default();
    let script = "cat /proc/$VICTIM/environ | tr '\\0' '\\n' | grep SECRET; kill -0 $VICTIM && echo there";
    open.command = StepCommand::Shell(script.to_owned());
    assert_eq!(run(open).await.0, "SECRET=hunter2\nthere\n");
}

#[tokio::test]
async fn behind_landlock_the_same_user_reaches_nothing() {
    if !has_landlock() {
        return;
    }
    let settings = SandboxSettings {
        user: BuildUser::Own,
        ..SandboxSettings::default()
    };
    let printed;
    let mut machine;
    if is_root() {
        machine = Machine::new(Some(NOBODY), Some(NOBODY));
        printed = run_as(NOBODY, &machine.attack(&settings, None), machine.directory.path());
        assert!(printed.ends_with("\nExited(0)\n"), "{printed}");
    } else {
        machine = Machine::new(None, None);
        printed = run(machine.attack(&settings, None)).await.0;
    }
    // Checks the other files, not what this test created.
    machine.check(&printed);
}

#[tokio::test]
async fn landlock_closes_hidden_places_and_no_toolchain() {
    if !has_landlock() {
        return;
    }
    let machine = Machine::new(None, None);
    let tools = machine.directory.path().join("tools");
    for folder in ["tools", "tools/bin", "tools/server-data"] {
        directory_of(machine.directory.path().join(folder), None);
        fs::set_permissions(machine.directory.path().join(folder), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::write(tools.join("bin/tool"), "tool").unwrap();
    fs::write(tools.join("server-data/key"), "hunter2").unwrap();
    let name = format!("launchway-test-{}", std::process::id());
    let address = {
        use std::os::linux::net::SocketAddrExt;
        std::os::unix::net::SocketAddr::from_abstract_name(name.as_bytes()).unwrap()
    };
    let _listener = UnixListener::bind_addr(&address).unwrap();
    let settings = SandboxSettings {
        user: BuildUser::Own,
        readable: vec![tools.clone(), PathBuf::from(PROGRAM)],
        hidden: vec![tools.join("server-data")],
        ..SandboxSettings::default()
    };
    let script = format!(
        "cat {tools}/bin/tool; echo; cat {tools}/server-data/key 2>&1 || echo closed; touch {tools}/bin/x 2>/dev/null || echo closed
        {PROGRAM} connect {name} 2>/dev/null || echo closed",
        tools = tools.display()
    );
    let mut order = order(&script, &machine.workspace);
    order.sandbox = settings.sandbox(None, &machine.work_dir(), &machine.workspace);
    // Without the sandbox all of them succeed.
    let mut open = order.clone();
    open.sandbox = Sandbox::default();
    let (printed, _) = run(open).await;
    assert!(printed.contains("hunter2") && !printed.contains("closed"), "{printed}");
    fs::remove_file(tools.join("bin/x")).unwrap();
    let (printed, end) = run(order).await;
    assert_eq!(end, StepEnd::Exited(0), "{printed}");
    assert!(
        printed.starts_with("tool\n") && !printed.contains("hunter2"),
        "{printed}"
    );
    assert_eq!(printed.matches("closed").count(), 3, "{printed}");
}

#[tokio::test]
async fn an_order_cannot_load_its_code_outside_the_sandbox() {
    // The supervisor outside the sandbox must not load a library that a plan names: a missing one prints a warning.
    let machine = Machine::new(None, None);
    let mut order = order("echo step", &machine.workspace);
    order
        .env
        .insert("LD_PRELOAD".to_owned(), "/no/such/library.so".to_owned());
    let file = machine.directory.path().join("order");
    fs::write(&file, serde_json::to_vec(&order).unwrap()).unwrap();
    let output = Command::new(PROGRAM).arg("step").arg(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(String::from_utf8_lossy(&output.stdout).contains("step\n\nExited(0)"));
}
