//! The frame of every page: navigation, the organization, the signed-in user, a message, and the headers that protect
//! it.

use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use launchway_domain::tenancy::Role;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;

use super::visitor::Visitor;
use crate::page_headers::protect;

const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                   form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What the base template shows besides the page itself.
pub struct Frame {
    /// The page's own title.
    pub title: String,
    /// The current section of the navigation.
    pub section: &'static str,
    /// The path prefix of the organization's pages: `/o/org_…`.
    pub home: String,
    /// The organization's name.
    pub org: String,
    /// The user's other organizations: path prefix and name.
    pub others: Vec<(String, String)>,
    /// The e-mail address of the signed-in user.
    pub email: String,
    /// The user's role in the organization.
    pub role: Role,
    /// `production` or `development`.
    pub environment: &'static str,
    /// The token for every form.
    pub token: String,
    /// The idempotency key that makes a form that is sent twice one change.
    pub once: String,
    /// The message about the last change.
    pub notice: Option<&'static str>,
    /// The warning about a form that was sent too late.
    pub warning: Option<&'static str>,
}

impl Frame {
    /// The frame of a page.
    pub fn new(app: &App, visitor: &Visitor, section: &'static str, title: impl Into<String>) -> Frame {
        Frame {
            title: title.into(),
            section,
            home: visitor.home(),
            org: visitor.org.name.clone(),
            others: visitor.others(),
            email: visitor.email.clone(),
            role: visitor.role,
            environment: app.config.environment.as_str(),
            token: visitor.token.clone(),
            once: app.random.token(),
            notice: visitor.notice,
            warning: visitor.warning,
        }
    }

    /// Whether the visitor manages the organization.
    pub fn is_admin(&self) -> bool {
        self.role >= Role::Admin
    }

    /// The `aria-current` of a link of the navigation.
    pub fn current(&self, section: &str) -> &'static str {
        if self.section == section { "page" } else { "false" }
    }

    /// Whether the page is one of the settings.
    pub fn in_settings(&self) -> bool {
        !matches!(
            self.section,
            "" | "overview" | "builds" | "submissions" | "updates" | "apps"
        )
    }

    /// The part of the window's title after the page's own.
    pub fn suffix(&self) -> String {
        format!("{} · Launchway", self.org)
    }
}

/// Renders a page as a response.
pub fn page(status: StatusCode, template: &impl Template) -> Response {
    let mut response = match template.render() {
        Ok(html) => (status, Html(html)).into_response(),
        Err(error) => ApiError::Internal(error.to_string()).into_response(),
    };
    protect(&mut response);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP));
    response
}

/// The message about a change, for the page that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice(&'static str);

macro_rules! notices {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        impl Notice {
            $($(#[$doc])* pub const $name: Notice = Notice($code);)*

            /// The text of a code in a URL.
            pub fn words(code: &str) -> Option<&'static str> {
                match code {
                    $($code => Some($text),)*
                    _ => None,
                }
            }
        }
    };
}

notices! {
    /// A build was stopped.
    BUILD_CANCELED = "build-canceled", "The build is being canceled";
    /// A submission was made.
    SUBMITTED = "submitted", "The submission is queued. The rest is automatic.";
    /// The rollout of a submission is to change.
    SUBMISSION_CHANGED = "submission-changed", "The change will be sent to the store in a moment";
    /// A submission is to stop.
    SUBMISSION_CANCELED = "submission-canceled", "The submission is being canceled";
    /// A submission continues.
    SUBMISSION_RETRIED = "submission-retried", "The submission continues where it stopped";
    /// A submission was removed.
    SUBMISSION_DELETED = "submission-deleted", "The submission is deleted";
    /// An update is offered.
    UPDATE_PUBLISHED = "published", "The update is published. Devices are offered it from now on.";
    /// An update awaits its signature.
    UPDATE_AWAITS = "awaits-signature", "The update awaits its signature. No device is offered it before.";
    /// An update was changed.
    UPDATE_CHANGED = "update-changed", "The update is changed";
    /// An update was promoted.
    UPDATE_PROMOTED = "promoted", "The same bytes are published for the other configuration";
    /// An update was rolled back.
    UPDATE_ROLLED_BACK = "rolled-back", "The earlier bytes are published again, with a higher build number";
    /// An update was removed.
    UPDATE_DELETED = "update-deleted", "The update is deleted. Its version and build number cannot be reused.";
    /// An app was claimed.
    APP_CREATED = "app-created", "The app now belongs to this organization";
    /// An app was removed.
    APP_DELETED = "app-deleted", "The app is removed from the list. Its bundle identifier still belongs to this \
                                  organization.";
    /// A deployment key was added.
    DEPLOYMENT_KEY_CREATED = "deployment-key-created", "The deployment key is added. Apps that send it find updates from \
                                                        now on.";
    /// A deployment key was removed.
    DEPLOYMENT_KEY_DELETED = "deployment-key-deleted", "The deployment key is deleted";
    /// A variable has a value.
    VARIABLE_SET = "variable-set", "The variable is set. Builds that start from now on get it.";
    /// A variable was removed.
    VARIABLE_DELETED = "variable-deleted", "The variable is deleted";
    /// A credential was kept.
    CREDENTIAL_CREATED = "credential-created", "The credential is checked and sealed";
    /// A credential was removed.
    CREDENTIAL_DELETED = "credential-deleted", "The credential is deleted";
    /// A webhook was changed.
    WEBHOOK_CHANGED = "webhook-changed", "The webhook is changed";
    /// A test was sent.
    WEBHOOK_TESTED = "webhook-tested", "A test event is being sent. Reload this page to see the response.";
    /// An event was delivered again.
    REDELIVERED = "redelivered", "The event is being sent again. Reload this page to see the response.";
    /// A webhook has a new secret.
    WEBHOOK_ROTATED = "webhook-rotated", "The webhook has a new secret, which was shown once. Create another if it \
                                          was not saved.";
    /// A webhook was removed.
    WEBHOOK_DELETED = "webhook-deleted", "The webhook is deleted";
    /// An invitation was revoked.
    UNINVITED = "uninvited", "The invitation is revoked: its link no longer works";
    /// A member has another role.
    MEMBER_CHANGED = "member-changed", "The role is changed";
    /// A member was removed.
    MEMBER_REMOVED = "member-removed", "The member is removed";
    /// The organization has another name.
    RENAMED = "renamed", "The organization is renamed";
    /// A runner was revoked.
    RUNNER_REVOKED = "runner-revoked", "The runner is revoked";
    /// A password was changed.
    PASSWORD_CHANGED = "password-changed", "Your password is changed. All other sessions have ended.";
    /// Two-factor codes were turned off.
    TWO_FACTOR_REMOVED = "two-factor-removed", "Two-factor codes are off. Sign-ins no longer require them.";
    /// A session was ended.
    SESSION_REVOKED = "session-revoked", "The session has ended";
    /// A key was revoked.
    KEY_REVOKED = "key-revoked", "The key is revoked. Requests with it are refused from now on.";
    /// A build was removed.
    BUILD_DELETED = "build-deleted", "The build, its log and its artifacts are deleted";
    /// A build was retried.
    BUILD_RETRIED = "build-retried", "A new build of the same source is queued";
}

impl Notice {
    /// The URL of a page of the organization that shows the message. The path may have a query.
    pub fn location(self, visitor: &Visitor, path: &str) -> String {
        let separator = if path.contains('?') { '&' } else { '?' };
        format!("{}{path}{separator}done={}", visitor.home(), self.0)
    }
}

/// The response to a successful form: a redirect to a page of the organization, with a message there.
pub fn redirect_with_notice(visitor: &Visitor, path: &str, notice: Notice) -> Response {
    redirect(&notice.location(visitor, path))
}

/// A redirect to another page after a form.
pub fn redirect(location: &str) -> Response {
    let mut response = Redirect::to(location).into_response();
    protect(&mut response);
    response
}
