//! `launchway-server store-simulator` as a process: it prints its address, is controlled over HTTP, and ends on
//! request.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use launchway_testing::kill_guard::KillGuard;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::cli::program;

/// A simulator of both stores, on a free port.
pub struct StoreSimulator {
    process: Child,
    _kill_guard: KillGuard,
    /// Its address, such as `http://127.0.0.1:4711`.
    pub address: String,
}

impl StoreSimulator {
    /// Starts one, with additional arguments.
    pub fn start(arguments: &[&str]) -> StoreSimulator {
        Self::listening("127.0.0.1:0", arguments)
    }

    /// Starts one at an address that may have another public name (`--public-url`).
    pub fn start_at(listen: &str, arguments: &[&str]) -> StoreSimulator {
        let mut simulator = Self::listening(listen, arguments);
        simulator.address = format!("http://{listen}");
        simulator
    }

    fn listening(listen: &str, arguments: &[&str]) -> StoreSimulator {
        let mut process = Command::new(program("launchway-server"))
            .args(["store-simulator", "--listen", listen])
            .args(arguments)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let kill_guard = KillGuard::on(&process);
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let address = line.split([' ', ',']).find(|word| word.starts_with("http://"));
        StoreSimulator {
            process,
            _kill_guard: kill_guard,
            address: address.unwrap().to_owned(),
        }
    }

    /// `POST /simulator/…`.
    pub async fn order(&self, what: &str, body: &Value) -> Value {
        let url = format!("{}/simulator/{what}", self.address);
        let answer = client().post(url).body(body.to_string()).send().await.unwrap();
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
    }

    /// Downloads an app to submit into a folder.
    pub async fn sample(&self, name: &str, folder: &Path) -> PathBuf {
        let url = format!("{}/simulator/samples/{name}", self.address);
        let answer = client().get(url).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 200, "{name}");
        let path = folder.join(name);
        std::fs::write(&path, answer.bytes().await.unwrap()).unwrap();
        path
    }

    /// The history of the stores.
    pub async fn ledger(&self) -> Value {
        let answer = client()
            .get(format!("{}/simulator/ledger", self.address))
            .send()
            .await
            .unwrap();
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
    }
}

impl Drop for StoreSimulator {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn client() -> reqwest::Client {
    // Another test may have done it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

#[tokio::test]
async fn it_says_where_it_is_and_is_steered_and_ends() {
    let mut simulator = StoreSimulator::start(&["--app", "com.example.app", "--speed", "1000"]);
    assert_eq!(simulator.ledger().await, json!({"entries": []}));
    let fault = json!({"kind": "status", "status": 503, "times": 1});
    assert_eq!(simulator.order("faults", &fault).await["clock"]["speed"], 1000);
    let mut answered = Vec::new();
    for _ in 0..2 {
        let answer = client()
            .get(format!("{}/v1/apps", simulator.address))
            .send()
            .await
            .unwrap();
        answered.push(answer.status().as_u16());
    }
    assert_eq!(answered, [503, 401]);
    let id = Pid::from_raw(i32::try_from(simulator.process.id()).unwrap()).unwrap();
    kill_process(id, Signal::TERM).unwrap();
    assert_eq!(simulator.process.wait().unwrap().code(), Some(0));
}

#[test]
fn it_has_a_command_line_of_its_own() {
    let run = |arguments: &[&str]| {
        let output = Command::new(program("launchway-server"))
            .args(arguments)
            .env_clear()
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.code(), text)
    };
    let (code, help) = run(&["store-simulator", "--help"]);
    assert!(
        code == Some(0) && help.contains("--speed <NUMBER>") && !help.contains("--data-dir"),
        "{help}"
    );
    let (code, said) = run(&["--data-dir", "/nowhere", "store-simulator"]);
    assert!(code == Some(1) && said.contains("store-simulator --help"), "{said}");
    let (code, said) = run(&["store-simulator", "--app", "not an app"]);
    assert!(code == Some(2) && said.contains("--app"), "{said}");
}
