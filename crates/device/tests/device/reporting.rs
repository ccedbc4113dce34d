//! Reports wait until the server accepts them.

use std::cell::Cell;
use std::io;

use launchway_device::ports::{Network, Request, Response};
use launchway_device::reports::{Event, MAX_EVENTS, MAX_STACK, add, queued_events, send};
use serde_json::Value;

use crate::disk::Disk;
use crate::phone::{Server, settings};

fn event(kind: &str, update: &str) -> Event {
    Event {
        kind: kind.to_owned(),
        update_id: update.to_owned(),
        at: 1_795_255_200_000,
        reason: None,
        stack: None,
    }
}

fn tokens(updates: &[&str]) -> Vec<(String, String)> {
    updates
        .iter()
        .map(|update| ((*update).to_owned(), "token".to_owned()))
        .collect()
}

#[test]
fn each_update_and_kind_waits_once_and_goes_once() {
    let (disk, server) = (Disk::new(), Server::default());
    add(
        &disk,
        vec![
            event("installed", "a"),
            event("confirmed", "a"),
            event("installed", "b"),
        ],
    )
    .unwrap();
    add(&disk, vec![event("installed", "a")]).unwrap();
    assert_eq!(queued_events(&disk).unwrap().len(), 3);
    assert_eq!(send(&disk, &server, &settings(), &tokens(&["a"])).unwrap(), 2);
    assert_eq!(
        queued_events(&disk).unwrap(),
        [event("installed", "b")],
        "no token, no report"
    );
    assert_eq!(send(&disk, &server, &settings(), &tokens(&["a", "b"])).unwrap(), 1);
    assert_eq!(*server.reports.borrow(), ["installed a", "confirmed a", "installed b"]);
    assert_eq!(queued_events(&disk).unwrap(), []);
}

#[test]
fn a_server_that_cannot_take_them_now_gets_them_later() {
    for status in [401, 408, 429, 500, 503] {
        let (disk, server) = (Disk::new(), Server::default());
        add(&disk, vec![event("installed", "a")]).unwrap();
        server.report_status.set(status);
        assert_eq!(
            send(&disk, &server, &settings(), &tokens(&["a"])).unwrap(),
            0,
            "{status}"
        );
        server.report_status.set(0);
        assert_eq!(
            send(&disk, &server, &settings(), &tokens(&["a"])).unwrap(),
            1,
            "{status}"
        );
    }
}

#[test]
fn what_a_server_will_never_take_does_not_stay() {
    let (disk, server) = (Disk::new(), Server::default());
    add(&disk, vec![event("crash", "a"), event("installed", "a")]).unwrap();
    server.report_status.set(400);
    assert_eq!(send(&disk, &server, &settings(), &tokens(&["a"])).unwrap(), 0);
    assert_eq!(queued_events(&disk).unwrap(), []);
    assert_eq!(server.requests.borrow().len(), 3, "both together, then each for itself");
}

/// A server that responds with these status codes, in turn.
struct Scripted(Cell<&'static [u16]>);

impl Network for Scripted {
    fn send(&self, _: &Request) -> io::Result<Response> {
        let (&status, rest) = self.0.get().split_first().expect("no further request");
        self.0.set(rest);
        Ok(Response {
            status,
            headers: Vec::new(),
            body: Box::new(io::empty()),
        })
    }

    fn is_unmetered(&self) -> bool {
        true
    }
}

#[test]
fn a_token_refused_among_single_reports_drops_none() {
    let disk = Disk::new();
    let all = ["downloaded", "installed", "confirmed"].map(|kind| event(kind, "a"));
    add(&disk, all.to_vec()).unwrap();
    add(&disk, vec![event("installed", "b")]).unwrap();
    let server = Scripted(Cell::new(&[400, 200, 401, 200]));
    assert_eq!(send(&disk, &server, &settings(), &tokens(&["a", "b"])).unwrap(), 2);
    assert_eq!(
        queued_events(&disk).unwrap(),
        all[1..],
        "the refused one and those behind it"
    );
    assert!(server.0.get().is_empty());
}

#[test]
fn the_oldest_leave_when_there_are_too_many() {
    let disk = Disk::new();
    for number in 0..MAX_EVENTS + 5 {
        add(&disk, vec![event("installed", &number.to_string())]).unwrap();
    }
    let left = queued_events(&disk).unwrap();
    assert_eq!((left.len(), &*left[0].update_id), (MAX_EVENTS, "5"));
}

#[test]
fn hostile_reasons_and_stacks_are_bounded() {
    let disk = Disk::new();
    let hostile = Event {
        reason: Some("\u{1f600}\0\"\n".repeat(100)),
        stack: Some("é\u{1}".repeat(MAX_STACK)),
        ..event("crash", "a")
    };
    add(&disk, vec![hostile]).unwrap();
    let [event] = &queued_events(&disk).unwrap()[..] else {
        panic!("one waits")
    };
    assert_eq!(event.reason.as_ref().unwrap().chars().count(), 200);
    let stack = event.stack.as_ref().unwrap();
    assert!(stack.len() <= MAX_STACK && stack.len() > MAX_STACK - 4);
}

/// The text of a vector: parts, each of which is repeated.
fn text(parts: &Value) -> String {
    let parts = parts.as_array().unwrap().iter();
    let repeated = parts.map(|part| {
        let times = part[1].as_u64().unwrap();
        part[0].as_str().unwrap().repeat(times.try_into().unwrap())
    });
    repeated.collect()
}

#[test]
fn reasons_and_stacks_are_cut_as_by_every_client() {
    let vectors: Value = serde_json::from_str(include_str!("../../../../sdk/vectors/reports.json")).unwrap();
    let kept = |reason: Option<String>, stack: Option<String>| {
        let disk = Disk::new();
        let told = Event {
            reason,
            stack,
            ..event("crash", "a")
        };
        add(&disk, vec![told]).unwrap();
        queued_events(&disk).unwrap().remove(0)
    };
    let cases = |name: &str| vectors[name].as_array().unwrap().clone();
    assert!(
        cases("reasons").len() >= 6 && cases("stacks").len() >= 10,
        "the vectors are complete"
    );
    for vector in cases("reasons") {
        let given = text(&vector["given"]);
        assert_eq!(kept(Some(given), None).reason, Some(text(&vector["kept"])), "{vector}");
    }
    for vector in cases("stacks") {
        let given = text(&vector["given"]);
        assert_eq!(kept(None, Some(given)).stack, Some(text(&vector["kept"])), "{vector}");
    }
}

#[test]
fn damaged_lines_are_left_out() {
    let disk = Disk::new();
    add(&disk, vec![event("installed", "a"), event("confirmed", "a")]).unwrap();
    let mut bytes = disk.bytes("events.jsonl").unwrap();
    let line = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    bytes.splice(line..=line, *b"\n{\"type\":\n\xff\xfe\nnull\n");
    disk.put("events.jsonl", &bytes);
    assert_eq!(
        queued_events(&disk).unwrap(),
        [event("installed", "a"), event("confirmed", "a")]
    );
}
