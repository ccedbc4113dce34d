//! The dashboard in process: its pages and forms without scripts, access control, and attacks
//! (`docs/reference/dashboard.md`).

mod access;
mod builds;
mod confirmations;
mod deployment_keys;
mod error_pages;
mod filters;
mod kept;
mod keys;
mod load;
mod markup;
mod overview;
mod settings;
mod submissions;
mod trust;
mod two_factor;
mod updates;

use launchway_domain::id::OrgId;
use launchway_domain::tenancy::{Role, Tier};
use launchway_web::dashboard::form_token;
use reqwest::Method;

use crate::pages::{encoded, page, submit};
use crate::support::{Answer, Fields, TestApp};

/// A browser that is signed in and views one organization.
pub struct Visit<'a> {
    pub app: &'a TestApp,
    pub org: OrgId,
    pub cookie: String,
    /// The form token of its pages.
    pub token: String,
}

impl Visit<'_> {
    /// A page of the organization; `path` follows `/o/{org}`.
    pub async fn page(&self, path: &str) -> Answer {
        page(self.app, &format!("/o/{}{path}", self.org), &self.cookie).await
    }

    /// A page that must be there: its HTML.
    pub async fn html(&self, path: &str) -> String {
        let answer = self.page(path).await;
        assert_eq!(answer.status.as_u16(), 200, "{path}: {}", answer.text());
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8", "{path}");
        answer.text()
    }

    /// The visitor's id.
    pub async fn caller(&self) -> String {
        let session = self.app.get(&self.cookie, "/auth/session").await;
        session.ok()["user"].id().to_owned()
    }

    /// Sends a form like the page.
    pub async fn send(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let mut all = vec![("token", self.token.as_str())];
        all.extend_from_slice(fields);
        submit(self.app, &format!("/o/{}{path}", self.org), &self.cookie, &all).await
    }

    /// The hidden fields of a page's form.
    pub async fn hidden(&self, path: &str) -> Vec<(String, String)> {
        hidden(&self.html(path).await)
    }

    /// Sends the form of a page with the page's current revision.
    pub async fn revised(&self, page: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let shown = self.hidden(page).await;
        let revision = shown.iter().find(|(name, _)| name == "revision").unwrap();
        let mut all = vec![("revision", revision.1.as_str())];
        all.extend_from_slice(fields);
        self.send(path, &all).await
    }

    /// Opens a confirmation with these fields in its URL, and confirms it.
    pub async fn confirm(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let shown = self.hidden(&format!("{path}?{}", encoded(fields))).await;
        let all: Vec<_> = shown.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        submit(self.app, &format!("/o/{}{path}", self.org), &self.cookie, &all).await
    }

    /// Sends a confirmation that must succeed; returns the redirect's path after `/o/{org}`.
    pub async fn confirmed(&self, path: &str, fields: &[(&str, &str)]) -> String {
        self.leads(&self.confirm(path, fields).await, path)
    }

    /// The path of a redirect after `/o/{org}`.
    pub fn leads(&self, answer: &Answer, path: &str) -> String {
        assert_eq!(answer.status.as_u16(), 303, "{path}: {}", answer.text());
        let home = format!("/o/{}", self.org);
        answer.header("location").strip_prefix(&home).unwrap().to_owned()
    }

    /// Sends a form with a file as a browser does. `token` comes first, as on the page.
    pub async fn send_parts(
        &self,
        path: &str,
        token: &str,
        fields: &[(&str, &str)],
        file: Option<(&str, &[u8])>,
    ) -> Answer {
        const BOUNDARY: &str = "----boundary";
        let mut body = Vec::new();
        for (name, value) in [("token", token)].iter().chain(fields) {
            let part = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            body.extend_from_slice(part.as_bytes());
        }
        if let Some((name, bytes)) = file {
            let head = format!(
                "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
                 Content-Type: application/octet-stream\r\n\r\n"
            );
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(bytes);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
        let request = self
            .app
            .request(Method::POST, &format!("{}/o/{}{path}", self.app.origin, self.org))
            .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"))
            .header("origin", &self.app.origin)
            .header("cookie", &self.cookie)
            .body(body);
        Answer::to(request).await
    }

    /// Sends a form that must succeed; returns the redirect's path after `/o/{org}`.
    pub async fn done(&self, path: &str, fields: &[(&str, &str)]) -> String {
        self.leads(&self.send(path, fields).await, path)
    }
}

/// The hidden fields of the forms in the main part of a page, as a browser sends them.
pub fn hidden(html: &str) -> Vec<(String, String)> {
    let main = html.split_once("<main").unwrap().1;
    let tags = main.split(r#"<input type="hidden" name=""#).skip(1);
    tags.map(|tag| {
        let (name, rest) = tag.split_once('"').unwrap();
        let value = rest.split_once("value=\"").unwrap().1.split_once('"').unwrap().0;
        let mut plain = value.to_owned();
        for (escaped, character) in [("&#34;", "\""), ("&#39;", "'"), ("&#60;", "<"), ("&#62;", ">"), ("&#38;", "&")] {
            plain = plain.replace(escaped, character);
        }
        (name.to_owned(), plain)
    })
    .collect()
}

/// A new organization and a member of it, signed in.
pub async fn visit(app: &TestApp, role: Role) -> Visit<'_> {
    let org = app.org(Tier::Enterprise).await;
    visit_of(app, org, role).await
}

/// A new member of an organization, signed in.
pub async fn visit_of(app: &TestApp, org: OrgId, role: Role) -> Visit<'_> {
    let cookie = app.user(org, &format!("{role}@{org}.example"), role).await;
    let session = app.get(&cookie, "/auth/session").await.ok();
    let token = form_token(&app.app, session.id().parse().unwrap(), session["user"].id().parse().unwrap());
    Visit { app, org, cookie, token }
}
