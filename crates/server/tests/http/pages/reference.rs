//! `/docs`: the API reference is generated from the document and needs nothing else.

use std::collections::BTreeSet;

use launchway_web::router;
use serde_json::Value;

use super::page;
use crate::support::TestApp;

#[tokio::test]
async fn the_reference_has_every_route_and_every_type() {
    let app = TestApp::start().await;
    let text = page(&app, "/docs", "").await.text();
    assert_eq!(page(&app, "/api/docs", "").await.text(), text);
    let mut anchors = BTreeSet::new();
    for line in router::lines() {
        let (method, path) = (&line.method, &line.path);
        let heading = format!(r#"<h3><b class="{method}">{method}</b> <code>{path}</code></h3>"#);
        assert!(text.contains(&heading), "{method} {path}");
        let contents = format!(r#"<b class="{method}">{method}</b> {path}</a>"#);
        let entry = text.split(&contents).next().unwrap();
        let anchor = entry.rsplit_once("href=\"#").unwrap().1.split_once('"').unwrap().0.to_owned();
        assert!(text.contains(&format!(r#"<section id="{anchor}">"#)), "{method} {path} -> {anchor}");
        assert!(anchors.insert(anchor), "{method} {path} has an anchor of its own");
    }
    let document: Value = serde_json::to_value(router::openapi_document()).unwrap();
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(text.contains(&format!(r#"<section id="{name}">"#)), "{name}");
    }
    assert!(text.contains("<p>queued, running, success, failed, canceled</p>"));
}
