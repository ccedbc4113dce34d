//! Traces as JSON: recorded with the responses of the server, and replayed without one.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, Cursor, Read};

use launchway_device::boot::Content;
use launchway_device::ports::{Network, Request, Response};
use launchway_device::settings::{EmbeddedTrust, Settings};
use launchway_trust::TrustFile;
use serde_json::{Value, json};

use super::world::{Step, Timer, World, describe};
use crate::disk::Disk;
use crate::lives::start;
use crate::phone::{Server, process_of, settings};

/// The server, with a note of every exchange.
struct Recorder<'a> {
    server: &'a Server,
    exchanges: RefCell<Vec<Value>>,
    bodies: RefCell<&'a mut Vec<Value>>,
}

impl Network for Recorder<'_> {
    fn send(&self, request: &Request) -> io::Result<Response> {
        let mut response = self.server.send(request)?;
        let mut bytes = Vec::new();
        response.body.read_to_end(&mut bytes)?;
        let body = match std::str::from_utf8(&bytes) {
            Ok(text) => json!(text),
            Err(_) => json!({"hex": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()}),
        };
        let mut bodies = self.bodies.borrow_mut();
        let known = bodies.iter().position(|known| *known == body);
        let index = known.unwrap_or_else(|| {
            bodies.push(body);
            bodies.len() - 1
        });
        let mut exchange = asked(request);
        exchange["status"] = json!(response.status);
        exchange["body"] = json!(index);
        if let Some(etag) = response.header("etag") {
            exchange["etag"] = json!(etag);
        }
        self.exchanges.borrow_mut().push(exchange);
        response.body = Box::new(Cursor::new(bytes));
        Ok(response)
    }

    fn is_unmetered(&self) -> bool {
        true
    }
}

/// What a client asks, as far as traces tell.
fn asked(request: &Request) -> Value {
    let mut value = json!({"url": request.url});
    if request.headers.iter().any(|(name, _)| *name == "cache-control") {
        value["noCache"] = json!(true);
    }
    if let Some(body) = &request.body {
        value["sends"] = serde_json::from_str(body).unwrap();
    }
    value
}

/// Performs the steps and notes them.
pub fn record(name: &str, steps: &[Step], bodies: &mut Vec<Value>) -> Value {
    let mut world = World::new();
    let trust = world.app.trust.clone().unwrap();
    let mut noted = Vec::new();
    for step in steps {
        let now = world.timer.now.get();
        match step {
            Step::Sync => {
                let recorder = Recorder {
                    server: &world.server,
                    exchanges: RefCell::default(),
                    bodies: RefCell::new(&mut *bodies),
                };
                let outcome = world.sync(&recorder);
                let exchanges = recorder.exchanges.into_inner();
                noted.push(json!({"do": "sync", "now": now, "http": exchanges, "expect": outcome}));
            }
            Step::Start => {
                let runs = shown(world.start());
                noted.push(json!({"do": "start", "now": now, "expect": runs}));
            }
            step => world.change(step),
        }
    }
    json!({"name": name, "trustFile": trust.file.to_json(), "builtAt": trust.built_at, "steps": noted})
}

fn shown(content: Content) -> String {
    match content {
        Content::Embedded => "embedded".to_owned(),
        Content::Slot(id) => id.to_string(),
    }
}

/// Responds as recorded, to the recorded requests only.
struct Recording<'a> {
    left: RefCell<VecDeque<Value>>,
    bodies: &'a Value,
}

impl Network for Recording<'_> {
    fn send(&self, request: &Request) -> io::Result<Response> {
        let mut exchange = self.left.borrow_mut().pop_front().expect("no further request");
        let members = exchange.as_object_mut().unwrap();
        let (status, body, etag) = (
            members.remove("status").unwrap(),
            members.remove("body").unwrap(),
            members.remove("etag"),
        );
        assert_eq!(asked(request), exchange);
        let body = &self.bodies[usize::try_from(body.as_u64().unwrap()).unwrap()];
        let bytes = match body["hex"].as_str() {
            Some(hex) => (0..hex.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
                .collect(),
            None => body.as_str().unwrap().as_bytes().to_vec(),
        };
        let etag = etag.map(|etag| ("ETag".to_owned(), etag.as_str().unwrap().to_owned()));
        Ok(Response {
            status: status.as_u64().unwrap().try_into().unwrap(),
            headers: etag.into_iter().collect(),
            body: Box::new(Cursor::new(bytes)),
        })
    }

    fn is_unmetered(&self) -> bool {
        true
    }
}

/// Performs a recorded trace and compares.
pub fn replay(trace: &Value, bodies: &Value) {
    let text = trace["trustFile"].as_str().unwrap();
    let app = Settings {
        trust: Some(EmbeddedTrust {
            file: TrustFile::parse(text.as_bytes()).unwrap(),
            built_at: trace["builtAt"].as_u64().unwrap(),
        }),
        ..settings()
    };
    let disk = Disk::new();
    let timer = Timer {
        now: Cell::new(trace["builtAt"].as_u64().unwrap()),
        pauses: RefCell::default(),
    };
    process_of(&app, &timer, &disk, &Server::default(), start);
    for step in trace["steps"].as_array().unwrap() {
        timer.now.set(step["now"].as_u64().unwrap());
        let exchanges = step["http"].as_array().cloned().unwrap_or_default();
        let recording = Recording {
            left: RefCell::new(exchanges.into()),
            bodies,
        };
        let outcome = process_of(&app, &timer, &disk, &recording, |device| {
            if step["do"] == "sync" {
                let synced = device.sync(&mut |_| ());
                describe(synced, &timer.pauses.take())
            } else {
                let started = start(device);
                device.confirm().unwrap();
                shown(started.content)
            }
        });
        assert_eq!(step["expect"], json!(outcome), "{}: {}", trace["name"], step["do"]);
        assert!(
            recording.left.borrow().is_empty(),
            "{}: too few requests",
            trace["name"]
        );
    }
}
