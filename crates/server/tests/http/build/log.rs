//! `GET /build/log`: plain text by offset and Range, from object storage and from the tail.

use reqwest::Method;

use crate::stage::builds::{Play, running};
use crate::support::{Answer, TestApp};

async fn get(app: &TestApp, key: &str, path: &str, range: Option<&str>) -> Answer {
    let request = app.request(Method::GET, path).bearer_auth(key);
    let request = match range {
        Some(range) => request.header("range", range),
        None => request,
    };
    Answer::to(request).await
}

#[tokio::test]
async fn a_log_is_read_from_any_place_whatever_lies_where() {
    for app in TestApp::on_both().await {
        let (org, key, id) = running(&app).await;
        let play = Play { app: &app, org, id };
        let path = format!("/build/log?id={id}");
        let empty = get(&app, &key, &path, None).await;
        assert_eq!((empty.status.as_u16(), empty.bytes.len()), (200, 0));
        // Larger than a piece, with all kinds of bytes.
        let log: Vec<u8> = (0..200_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for chunk in log.chunks(30_000) {
            play.prints(chunk).await;
        }
        let check = async || {
            let whole = get(&app, &key, &path, None).await;
            assert!(whole.bytes == log, "{} bytes", whole.bytes.len());
            assert_eq!(whole.header("content-type"), "text/plain; charset=utf-8");
            assert_eq!(whole.header("x-content-type-options"), "nosniff");
            assert_eq!(whole.header("accept-ranges"), "bytes");
            assert_eq!(whole.header("content-length"), "200000");
            for (offset, range, first, last) in [
                (0, "bytes=0-0", 0, 0),
                (0, "bytes=29999-30000", 29_999, 30_000),
                (0, "bytes=59990-120010", 59_990, 120_010),
                (0, "bytes=-10", 199_990, 199_999),
                (100_000, "bytes=5-9", 100_005, 100_009),
                (199_999, "bytes=0-", 199_999, 199_999),
            ] {
                let part = get(&app, &key, &format!("{path}&offset={offset}"), Some(range)).await;
                assert_eq!(part.status.as_u16(), 206, "{offset} {range}");
                assert!(part.bytes == log[first..=last], "{offset} {range}");
                let told = format!("bytes {}-{}/{}", first - offset, last - offset, 200_000 - offset);
                assert_eq!(part.header("content-range"), told);
            }
            for offset in [1, 29_999, 30_000, 65_536, 150_001, 199_999, 200_000] {
                let rest = get(&app, &key, &format!("{path}&offset={offset}"), None).await;
                assert!(rest.bytes == log[offset..], "{offset}");
            }
        };
        check().await;
        play.sealed(0, &log[..60_000]).await;
        check().await;
        play.sealed(60_000, &log[60_000..150_000]).await;
        check().await;
        play.sealed(150_000, &log[150_000..]).await;
        check().await;
    }
}

#[tokio::test]
async fn what_lies_behind_the_end_is_told() {
    let app = TestApp::start().await;
    let (org, key, id) = running(&app).await;
    Play { app: &app, org, id }.prints(b"hello\n").await;
    let path = format!("/build/log?id={id}");
    get(&app, &key, &format!("{path}&offset=7"), None).await.refused(400, "offset is too large: the log has 6 bytes");
    for offset in ["-1", "x", "1.5", "99999999999999999999"] {
        let wrong = get(&app, &key, &format!("{path}&offset={offset}"), None).await;
        wrong.refused(400, "offset must be a whole number from 0");
    }
    let none = get(&app, &key, &path, Some("bytes=6-")).await;
    assert_eq!((none.status.as_u16(), none.header("content-range")), (416, "bytes */6"));
    assert_eq!(none.json()["error"], "Range Not Satisfiable");
    let head = app.request(Method::HEAD, &path).bearer_auth(&key).send().await.unwrap();
    assert_eq!(head.headers()["content-length"], "6");
    let (_, stranger) = app.org_with_key().await;
    get(&app, &stranger, &path, None).await.refused(404, "No build has this id");
}
