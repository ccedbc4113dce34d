//! A malicious build: it tries to reach the server, other builds and other organizations, knows where everything is,
//! and gets nothing (`docs/reference/builds.md#isolation-from-the-server`).

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use launchway_testing::says::Fields;
use launchway_testing::server_process::ServerBuilder;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::calls::{artifact, create, finished, log, request, succeeded};
use super::runner_process::RunnerProcess;
use crate::api::Api;
use crate::cli::program;
use crate::deployment::{Deployment, Ground, Team, Turn};

/// An unprivileged user that exists on every system.
const NOBODY: u32 = 65_534;
const MARK: &str = "hunter2";

/// Each line must fail; a successful one prints a line. `needle` is a file with a secret of the server, which is in no
/// command line.
const ATTACKS: &str = r#"
try() { if timeout -k 1 20 bash -c "$1" >/dev/null 2>&1; then echo "REACHED: $1"; fi; }
ask() { exec 3<>/dev/tcp/127.0.0.1/$PORT; printf "$1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}" >&3; head -n 1 <&3; }
export -f ask
export SUPERVISOR=$PPID
printf '%s%s' "$FIRST_HALF" "$SECOND_HALF" > needle
try 'cat "$DATA/master.key"'
try 'head -c 1 "$DATA/launchway.db"'
try 'head -c 1 "$DATA/launchway.db-wal"'
try 'ls "$DATA"'
try 'find "$DATA" -type f | grep -q .'
try 'cat "$SETTINGS"'
try 'touch "$DATA/new"'
try 'echo x >> "$DATA/launchway.db"'
try 'ln "$DATA/launchway.db" hard && cat hard'
try 'ln -s "$DATA" soft; ls soft/'
try 'ls "$RUNNER_DIR"'
try 'ls "$RUNNER_DIR/builds"'
try 'ls "$RUNNER_DIR/caches"'
try 'cat "$RUNNER_DIR"/journal/*'
try 'cat "$RUNNER_DIR/token"'
try 'cat "$RUNNER_DIR/runner.json"'
try 'find "$RUNNER_DIR" -type f -not -path "$LAUNCHWAY_WORKSPACE/*" -readable 2>/dev/null | grep -v "/$LAUNCHWAY_BUILD_ID" | grep -q .'
try 'cat /proc/$SERVER/environ | grep -q .'
try 'cat /proc/$SERVER/maps | grep -q .'
try 'head -c 1 /proc/$SERVER/mem'
try 'ls /proc/$SERVER/fd/ | grep -q .'
try 'cat /proc/$SERVER/root/$DATA/master.key'
try 'ls /proc/$SERVER/cwd/'
try 'cat /proc/$SUPERVISOR/environ | grep -q .'
try 'head -c 1 /proc/$SUPERVISOR/mem'
try 'kill -KILL $SUPERVISOR'
try 'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\0" "\n" | grep -qF -f needle'
try 'kill -0 $SERVER'
try 'kill -STOP $SERVER'
try 'kill -KILL $SERVER'
try 'python3 -c "import ctypes,sys; sys.exit(0 if ctypes.CDLL(None).ptrace(16, $SERVER, 0, 0) == 0 else 1)"'
try '"$PROGRAM" admin create-org --name taken --data-dir "$DATA"'
try '"$PROGRAM" admin create-key --org "$VICTIM_ORG" --name taken --admin --data-dir "$DATA"'
try '"$PROGRAM" admin backup stolen --data-dir "$DATA"'
try 'ask "GET /api/build" | grep -q " 200"'
try 'ask "GET /api/env?orgId=$VICTIM_ORG" | grep -q " 200"'
try 'ask "POST /api/runner/lease" | grep -q " 200"'
try 'ask "POST /api/runner/enrol" | grep -q " 20"'
try 'ask "GET /metrics" | grep -q " 200"'
try 'test -e cached/secret'
try 'ls -l /proc/self/fd | grep -E "launchway|/data/|socket:"'
try 'env | grep -E "^(AWS_|LAUNCHWAY_(API_KEY|DATA_DIR|DATABASE_URL|STORAGE_URL|LISTEN|RUNNER_TOKEN|MASTER))"'
try 'ask "GET /healthz" | grep -q " 200"'
try 'python3 -c "import socket, os; socket.create_connection((\"::1\", int(os.environ[\"PORT\"])), 5)"'
try 'python3 -c "import socket, os; socket.create_connection((\"0.0.0.0\", int(os.environ[\"PORT\"])), 5)"'
try 'python3 -c "import socket, os; socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect((\"127.0.0.1\", int(os.environ[\"PORT\"])))"'
try 'python3 -c "import socket, os; socket.socket().sendto(b\"GET / HTTP/1.1\", 0x20000000, (\"127.0.0.1\", int(os.environ[\"PORT\"])))"'
try 'test "$(id -u)" != "$SERVER_UID" && tr "\0" " " < /proc/$SERVER/cmdline | grep -q .'
try 'ls /run | grep -vE "^(systemd|resolvconf|nscd)$" | grep -q .'
try 'ls /run/systemd | grep -v "^resolve$" | grep -q .'
python3 - <<'OWN' && echo "its own server is there"
import socket
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname(), 5)
OWN
mkdir -p out
ln -s "$DATA/master.key" out/stolen.txt
rm -rf kept && ln -s "$DATA" kept
echo tried
"#;

/// A server with an organization that has secrets, and a malicious one.
struct Scene {
    deployment: Deployment,
    victim: Team,
    attacker: Team,
    place: TempDir,
    /// Where the runner keeps builds, caches, journal and its own token.
    runner_dir: String,
    runners: Vec<RunnerProcess>,
}

/// The runner, and its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// The server, as the test's user.
    Embedded,
    /// The server, as an unprivileged user.
    EmbeddedOfNobody,
    /// Separate runners beside the server, as the test's user.
    Separate,
}

impl Scene {
    async fn set(by: By) -> Scene {
        let as_nobody = by == By::EmbeddedOfNobody;
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
        fs::write(place.path().join("settings.toml"), "quotas = \"free:updates=20\"\n").unwrap();
        for folder in ["runner", "own"] {
            fs::create_dir(place.path().join(folder)).unwrap();
            if as_nobody {
                chown(place.path().join(folder), Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
        let more = |builder: ServerBuilder| {
            let builder = builder
                .env("LAUNCHWAY_NO_RUNNER", (by == By::Separate).to_string())
                .env("LAUNCHWAY_SERVER_CONFIG", path("settings.toml"))
                .env("LAUNCHWAY_RUNNER_DIR", path("runner"))
                .env("LAUNCHWAY_DATA_DIR", path("own/data"))
                .env("TMPDIR", path("own"));
            if as_nobody {
                builder.binary(without_rights(place.path()))
            } else {
                builder
            }
        };
        let deployment = Deployment::with(Ground::SqliteDirectory, Turn::beside_others().await, more);
        let (victim, attacker) = (deployment.team(), deployment.team());
        let mut scene = Scene {
            deployment,
            victim,
            attacker,
            runner_dir: path("runner"),
            place,
            runners: Vec::new(),
        };
        if by == By::Separate {
            scene.start_runner();
        }
        scene
    }

    /// Starts a runner that builds for every organization.
    fn start_runner(&mut self) {
        let server = self.deployment.node();
        let made = server.admin(&["create-runner-token", "--shared"]);
        let runner = RunnerProcess::enroll(&made, &server.base_url(), "shared", &[]);
        self.runner_dir = runner.work_dir().to_str().unwrap().to_owned();
        self.runners.push(runner);
    }

    fn path(&self, name: &str) -> String {
        self.place.path().join(name).to_str().unwrap().to_owned()
    }

    fn api(&self, team: &Team) -> Api {
        Api::new(self.deployment.node(), &team.key)
    }

    /// The attacker's plan. It knows everything except the secrets.
    fn plan(&self, run: &str) -> Value {
        let (first, second) = self.victim.key.split_at(20);
        let server = self.deployment.node();
        let env = json!({
            "DATA": self.path("own/data"), "SETTINGS": self.path("settings.toml"), "RUNNER_DIR": self.runner_dir,
            "SERVER": server.id().unwrap().to_string(), "PROGRAM": program("launchway-server"),
            "SERVER_UID": server_user(server.id().unwrap()).to_string(),
            "PORT": server.origin().rsplit(':').next().unwrap(), "VICTIM_ORG": self.victim.id,
            "FIRST_HALF": first, "SECOND_HALF": second
        });
        json!({
            "env": env,
            "steps": [{"name": "attack", "run": run}],
            "artifacts": [{"path": "out/*.txt", "kind": "txt"}],
            "cache": [{"key": "shared", "paths": ["cached"]}, {"key": "kept", "paths": ["kept"]}]
        })
    }
}

/// The user of a process.
fn server_user(pid: u32) -> u32 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap();
    ids.split_whitespace().next().unwrap().parse().unwrap()
}

/// The server's program, started as a process that drops its privileges first.
fn without_rights(place: &Path) -> PathBuf {
    let server = place.join("launchway-server");
    fs::copy(program("launchway-server"), &server).unwrap();
    let script = place.join("without-rights");
    let text = format!(
        "#!/bin/sh\nexec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups '{}' \"$@\"\n",
        server.display()
    );
    // A shell writes it: a file that this process had open for writing could still be busy.
    let made = Command::new("sh")
        .args([
            "-c",
            "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\" \"$3\"",
            "sh",
            &text,
        ])
        .args([&script, &server])
        .status();
    assert!(made.unwrap().success());
    script
}

/// Whether the kernel's Landlock also restricts signals: version 6 and newer.
fn has_whole_landlock() -> bool {
    let ask = "import ctypes, sys; sys.exit(0 if ctypes.CDLL(None).syscall(444, None, 0, 1) >= 6 else 1)";
    Command::new("python3").args(["-c", ask]).status().unwrap().success()
}

async fn gets_nothing(scene: &Scene) {
    let (victim, attacker) = (scene.api(&scene.victim), scene.api(&scene.attacker));
    // The victim leaves a secret in a variable, a credential, a cache and an artifact.
    victim
        .post("/env", json!({"name": "SECRET", "value": MARK}))
        .await
        .created();
    super::sample::give_keystore(&victim).await;
    let mut body = request(&victim, &[]).await;
    body["plan"] = json!({
        "steps": [{"name": "leave", "run": format!("mkdir cached && echo {MARK} > cached/secret && cp cached/secret out.txt")}],
        "artifacts": [{"path": "out.txt", "kind": "txt"}], "cache": [{"key": "shared", "paths": ["cached"]}]
    });
    let left = create(&victim, body).await;
    let left = succeeded(&victim, &left).await;

    let mut body = request(&attacker, &[]).await;
    body["bundleId"] = "com.example.attack".into();
    body["plan"] = scene.plan(ATTACKS);
    let attack = create(&attacker, body).await;
    let ended = finished(&attacker, &attack).await;
    let printed = log(&attacker, &attack).await;
    assert!(!printed.contains("REACHED"), "{printed}");
    for expected in ["its own server is there\n", "tried\n"] {
        assert!(printed.contains(expected), "{printed}");
    }
    // The link to the master key does not become an artifact.
    assert_eq!(
        json!([ended["status"], ended["error"]["code"], ended["artifacts"]]),
        json!(["failed", "ARTIFACT_MISSING", []]),
        "{ended}"
    );

    // Nor is it reachable through a cache that was a link, in a build that prints what it finds.
    let mut body = request(&attacker, &[]).await;
    body["bundleId"] = "com.example.attack".into();
    let look = "ls -la; ls kept/ || true; cat kept/master.key cached/secret || true; rm -rf kept; mkdir kept out; echo mine > out/a.txt";
    body["plan"] = scene.plan(look);
    let second = create(&attacker, body).await;
    let ended = succeeded(&attacker, &second).await;
    let printed = log(&attacker, &second).await;
    let key = fs::read(scene.path("own/data/master.key")).unwrap();
    let key = String::from_utf8_lossy(&key);
    assert!(!printed.contains(key.trim()) && !printed.contains(MARK), "{printed}");
    assert!(!printed.contains("launchway.db"), "{printed}");
    assert_eq!(artifact(&attacker, &ended).await, b"mine\n");

    // A build of another organization looks like one that does not exist.
    let of_victim = left.id();
    for path in ["/build", "/build/log", "/build/plan", "/build/log/stream"] {
        attacker.get(&format!("{path}?id={of_victim}")).await.refusal(404);
    }
    // The server is still alive, and none of its files has changed.
    assert_eq!(
        artifact(&victim, &super::calls::read(&victim, of_victim).await).await,
        format!("{MARK}\n").as_bytes()
    );
    assert!(!Path::new(&scene.path("own/data/new")).exists());
    let audit = scene.deployment.node().admin(&["verify-audit"]);
    assert!(audit.is_object(), "{audit}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attacking_build_gets_nothing() {
    gets_nothing(&Scene::set(By::Embedded).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn from_a_runner_beside_the_server_it_gets_nothing() {
    gets_nothing(&Scene::set(By::Separate).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_landlock_alone_it_gets_nothing_either() {
    if !rustix::process::geteuid().is_root() {
        println!("only root can become another user: not tested");
        return;
    }
    if !has_whole_landlock() {
        println!("Landlock is not whole on this machine: not tested");
        return;
    }
    gets_nothing(&Scene::set(By::EmbeddedOfNobody).await).await;
}
