//! Builds in the dashboard: list, page, log, and actions.

use futures::StreamExt;
use launchway_blob::Key;
use launchway_domain::tenancy::Role;
use launchway_ops::build_logs::seal;
use serde_json::json;

use super::{visit, visit_of};
use crate::stage::builds::put;
use crate::support::{Fields, Says, TestApp};

#[tokio::test]
async fn the_list_is_filtered_and_paged() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Member).await;
    assert!(visit.html("/builds").await.contains(&format!("launchway login --url {}", app.origin)));
    for number in 0..30 {
        app.advance(1000);
        app.queue(visit.org, |build| build.spec.version = Some(format!("3.0.{number}"))).await;
    }
    let first = visit.html("/builds").await;
    first.says("1–25 of 30");
    first.says("3.0.29");
    first.lacks("3.0.4<");
    let rest = visit.html("/builds?offset=25").await;
    rest.says("26–30 of 30");
    rest.says(r#"href="?offset=0""#);
    let none = visit.html("/builds?status=failed&branch=a%26b").await;
    none.says("No build to show.");
    none.says("branch=a%26b&#38;offset=0");
    let wrong = visit.page("/builds?status=nonsense").await;
    wrong.is(400);
    wrong.says("status must be queued");
}

#[tokio::test]
async fn a_build_is_canceled_retried_and_deleted() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Member).await;
    let build = app.queue(visit.org, |_| {}).await;
    let path = format!("/builds/{build}");
    assert!(visit.html(&path).await.contains("Waiting for"));
    let next = visit.confirmed(&format!("{path}/cancel"), &[]).await;
    assert_eq!(next, format!("{path}?done=build-canceled"));
    let page = visit.html(&next).await;
    page.says("The build is being canceled");
    page.says("Canceled");
    let again = visit.page(&format!("{path}/cancel")).await;
    again.is(400);
    again.says("The build has already ended");
    let next = visit.confirmed(&format!("{path}/delete"), &[]).await;
    assert_eq!(next, "/builds?done=build-deleted");
    visit.page(&path).await.is(404);
}

/// The positions of lines equal those of the bytes in the log's range.
#[tokio::test]
async fn the_lines_of_a_log_are_told_and_found() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Member).await;
    app.queue(org, |_| {}).await;
    let runner = app.runner(&key, &["os=linux"]).await;
    let held = app.take(&runner).await;
    let mut log = String::from("==> source\n==> nothing of the runner's\n");
    for line in 0..1200 {
        log += &format!("\u{1b}[3{}mline {line}\u{1b}[0m é\n", line % 8);
    }
    log += "<script>alert(1)</script> the END";
    held.logged(0, log.as_bytes()).await;
    let build = held.id.clone();
    let read = async |path: &str| visit.page(path).await;
    let lines = read(&format!("/builds/{build}/log/lines")).await.ok();
    lines.has(json!({"lines": 1203, "size": log.len(), "stride": 500}));
    let offsets: Vec<usize> = serde_json::from_value(lines["offsets"].clone()).unwrap();
    let begins = |number: usize| log.split_inclusive('\n').take(number).map(str::len).sum::<usize>();
    assert_eq!(offsets, [0, begins(500), begins(1000)]);

    let found = read(&format!("/builds/{build}/log/search?text=LINE%20119")).await.ok();
    let expected: Vec<u64> = [119].into_iter().chain(1190..1200).map(|line| line + 2).collect();
    assert_eq!(found, json!({"lines": expected, "more": false}));
    let all = read(&format!("/builds/{build}/log/search?text=line")).await.ok();
    assert_eq!((all["lines"].as_array().unwrap().len(), &all["more"]), (1000, &json!(true)));
    read(&format!("/builds/{build}/log/search?text=")).await.refused(400, "text must have 1 to 200 characters");

    let page = visit.html(&format!("/builds/{build}")).await;
    page.says("&#60;script&#62;alert(1)&#60;/script&#62; the END");
    assert!(page.contains("line 1199 é") && !page.contains('\u{1b}'), "the end is shown as text");
    let whole = read(&format!("/log?id={build}")).await;
    assert_eq!((whole.header("content-type"), whole.text().len()), ("text/plain; charset=utf-8", log.len()));
}

/// Wherever the pieces of a log end: within a line, at a segment in object storage, or far before the end of the line.
#[tokio::test]
async fn a_line_goes_on_from_piece_to_piece() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Member).await;
    app.queue(org, |_| {}).await;
    let runner = app.runner(&key, &["os=linux"]).await;
    let held = app.take(&runner).await;
    let mut log: String = (0..30_000).map(|line| format!("line {line} {}\n", "x".repeat(line % 171))).collect();
    log += &format!("{}\nthe end", "y".repeat(200_000));
    for (number, piece) in log.as_bytes().chunks(256 << 10).enumerate() {
        held.logged(number * (256 << 10), piece).await;
    }
    let read = async |path: &str| visit.page(&format!("/builds/{}/log/{path}", held.id)).await.ok();
    let lines = read("lines").await;
    lines.has(json!({"lines": 30_002, "size": log.len()}));
    let starts = log.split_inclusive('\n').scan(0, |at, line| {
        *at += line.len();
        Some(*at - line.len())
    });
    assert_eq!(lines["offsets"], json!(starts.step_by(500).collect::<Vec<_>>()));
    for (text, line) in [("line+12345+x", 12_345), ("LINE+29999+X", 29_999), ("the+end", 30_001)] {
        let found = read(&format!("search?text={text}")).await;
        assert_eq!(found, json!({"lines": [line], "more": false}), "{text}");
    }
}

/// Other bytes in its place show that a part was not read. Line numbers stay true, also of a line across parts.
#[tokio::test]
async fn a_search_skips_parts_that_lack_the_text() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Member).await;
    app.queue(org, |_| {}).await;
    let runner = app.runner(&key, &["os=linux"]).await;
    let held = app.take(&runner).await;
    let mut log: String = (0..60_000).map(|line| format!("line {line} of {}\n", "x".repeat(line % 61))).collect();
    // 256 KiB chunks become parts of 1 MiB: this line lies across the first border.
    let at = log[..(1 << 20) - 30].rfind('\n').unwrap() + 1;
    log.insert_str(at, &format!("{} ACROSS the border\n", "y".repeat(200)));
    let across = log[..at].lines().count();
    log += "the needle\n";
    for (number, piece) in log.as_bytes().chunks(256 << 10).enumerate() {
        held.logged(number * (256 << 10), piece).await;
    }
    let build = held.id.parse().unwrap();
    let segments = app.app.db.read().await.unwrap().org(org).log_segments(build).await.unwrap();
    assert!(segments.len() >= 2 && segments.iter().all(|segment| segment.index_size > 0), "{segments:?}");
    assert_eq!(segments[0].size, 1 << 20);
    for segment in &segments {
        let object = Key::new(&segment.blob_key).unwrap();
        let index = app.app.blob.read(&object, segment.size as u64, 1 << 20).await.unwrap();
        let index: Vec<_> = index.map(|piece| piece.unwrap()).collect().await;
        let other = [vec![b'?'; segment.size as usize], index.concat()].concat();
        put(&app, &segment.blob_key, &other).await;
    }
    let search = async |text: &str| visit.page(&format!("/builds/{}/log/search?text={text}", held.id)).await.ok();
    let lines = log.lines().count();
    assert_eq!(search("Needle").await, json!({"lines": [lines - 1], "more": false}));
    assert_eq!(search("across%20the").await, json!({"lines": [across], "more": false}));
    assert_eq!(search("line%2012345%20of").await, json!({"lines": [], "more": false}), "its part is read");
}

/// More parts than are passed over at a time, each with lines that begin or end in another.
#[tokio::test]
async fn a_search_passes_over_many_parts() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Member).await;
    app.queue(org, |_| {}).await;
    let runner = app.runner(&key, &["os=linux"]).await;
    let held = app.take(&runner).await;
    let log: String = (0..400)
        .map(|line| if line % 101 == 50 { format!("{line} NEEDLE\n") } else { format!("{line} of hay\n") })
        .collect();
    let (build, mut at) = (held.id.parse().unwrap(), 0);
    for piece in log.as_bytes().chunks(97) {
        held.logged(at, piece).await;
        at += piece.len();
        seal(&app.app, org, build, 1).await.unwrap();
    }
    let parts = app.app.db.read().await.unwrap().org(org).log_segments(build).await.unwrap();
    assert!(parts.len() > 40, "{}", parts.len());
    let search = async |text: &str| visit.page(&format!("/builds/{}/log/search?text={text}", held.id)).await.ok();
    for (text, lines) in [("needle", vec![50, 151, 252, 353]), ("needles", vec![]), ("399%20of", vec![399])] {
        assert_eq!(search(text).await, json!({"lines": lines, "more": false}), "{text}");
    }
    // What could not be read is not said to lack the text.
    put(&app, &parts[30].blob_key, b"short").await;
    let search = format!("/builds/{}/log/search?text=needles", held.id);
    visit
        .page(&search)
        .await
        .refused(500, "Internal error. The server's log has details under the X-Request-Id of this request.");
}

/// Reads a live part until it contains a text.
pub async fn comes(stream: &mut reqwest::Response, wanted: &str) -> String {
    let mut all = String::new();
    let reading = async {
        while !all.contains(wanted) {
            let piece = stream.chunk().await.unwrap();
            let piece = piece.unwrap_or_else(|| panic!("it ended without {wanted}"));
            all += std::str::from_utf8(&piece).unwrap();
        }
    };
    let read = tokio::time::timeout(std::time::Duration::from_secs(60), reading).await;
    read.unwrap_or_else(|_| panic!("not within a minute: {wanted}"));
    all
}

#[tokio::test]
async fn lists_and_pages_follow_what_happens() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Member).await;
    let build = app.queue(visit.org, |_| {}).await;
    let open = async |path: &str| {
        let url = format!("{}/o/{}{path}", app.origin, visit.org);
        let request = app.request(reqwest::Method::GET, &url).header("cookie", &visit.cookie);
        let stream = request.send().await.unwrap();
        assert_eq!(stream.headers()["content-type"], "text/event-stream", "{path}");
        stream
    };
    let mut list = open("/builds/live?status=queued").await;
    let mut all = open("/builds/live").await;
    let mut one = open(&format!("/builds/{build}/live")).await;
    for stream in [&mut list, &mut all, &mut one] {
        comes(stream, "Queued").await;
    }
    visit.confirmed(&format!("/builds/{build}/cancel"), &[]).await;
    comes(&mut list, "No build to show.").await;
    comes(&mut all, "Canceled").await;
    // A finished build sends nothing more.
    let last = comes(&mut one, "event: over\n").await;
    last.says("Canceled");
    last.says("Retry");
    while one.chunk().await.unwrap().is_some() {}
}
