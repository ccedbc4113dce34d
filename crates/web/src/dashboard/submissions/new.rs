//! `/o/{org}/submissions/new`: submits the app of a build, or a file, from the browser.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use launchway_api::open;
use launchway_api::submissions::{CreateSubmission, ReleaseNote, SubmissionOptions};
use launchway_domain::build::Build;
use launchway_domain::credential::{Credential, CredentialStatus, MAX_CREDENTIALS};
use launchway_domain::platform::Platform;
use launchway_domain::submission::Store;
use launchway_domain::submission::destination::KnownDestination;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::create::Created;
use launchway_ops::submissions::credential::kind_of;
use launchway_ops::submissions::request;
use launchway_store::{Org, Paging};

use crate::dashboard::form_data::{Form, FormData};
use crate::dashboard::frame::{Frame, Notice, page, redirect_with_notice};
use crate::dashboard::page_error::PageError;
use crate::dashboard::received::{ReceivedFile, receive};
use crate::dashboard::visitor::{Visitor, other_session};
use crate::query::Query;

/// The minimum number of languages in the form.
const NOTES: usize = 3;
const CREDENTIALS: Paging = Paging {
    limit: MAX_CREDENTIALS,
    offset: 0,
};

/// The destinations of Apple's platforms.
const APPLE: [(KnownDestination, &str); 2] = [
    (KnownDestination::TestFlight, "TestFlight: testers"),
    (KnownDestination::AppStore, "App Store: everybody"),
];
/// The tracks of Google Play that every app has.
const PLAY: [(KnownDestination, &str); 4] = [
    (KnownDestination::Internal, "Internal test: a few testers"),
    (KnownDestination::Alpha, "Closed test (alpha)"),
    (KnownDestination::Beta, "Open test (beta)"),
    (KnownDestination::Production, "Production: everybody"),
];

#[derive(Template)]
#[template(path = "dashboard/submit.html")]
struct Page {
    frame: Frame,
    form: Form,
    /// The build whose app is submitted; without one a file is chosen.
    build: Option<Build>,
    credentials: Vec<Choice>,
    notes: Vec<(String, String)>,
    largest: i64,
}

/// A credential of an app store.
struct Choice {
    id: String,
    label: String,
}

impl Page {
    /// Whether the app can go to this store; unknown without a build.
    fn may_go_to(&self, store: Store) -> bool {
        self.build
            .as_ref()
            .is_none_or(|build| Store::of(build.platform) == store)
    }

    /// The typed track of Google Play; `None` if one of the list is chosen.
    fn other_track(&self) -> Option<String> {
        self.form.other("destination", &KnownDestination::ALL)
    }

    fn apple(&self) -> bool {
        self.may_go_to(Store::AppStore)
    }

    fn play(&self) -> bool {
        self.may_go_to(Store::GooglePlay)
    }
}

/// The build that an id names; `None` without an id.
async fn build_of(org: &mut Org<'_>, id: Option<&str>) -> Result<Option<Build>, ApiError> {
    let Some(id) = id.filter(|id| !id.is_empty()) else {
        return Ok(None);
    };
    let none = || ApiError::NoSuch("build");
    let found = org.build(id.parse().map_err(|_| none())?).await?;
    found.map(Some).ok_or_else(none)
}

/// The credentials to choose from: of the app stores, not expired, and valid for this app.
async fn credentials(org: &mut Org<'_>, build: Option<&Build>, now: i64) -> Result<Vec<Choice>, ApiError> {
    let fits = |one: &Credential, store: Store| {
        one.is(kind_of(store)) && build.is_none_or(|build| Store::of(build.platform) == store)
    };
    let all = org.credentials(CREDENTIALS).await?.items.into_iter();
    let known = all
        .filter(|one| one.status(now) == CredentialStatus::Active)
        .filter(|one| {
            let own = one.bundle_id.as_ref();
            own.zip(build)
                .is_none_or(|(own, build)| own.as_str().eq_ignore_ascii_case(&build.bundle_id))
        });
    Ok(known
        .filter_map(|one| {
            let store = [Store::AppStore, Store::GooglePlay]
                .into_iter()
                .find(|store| fits(&one, *store))?;
            Some(Choice {
                id: one.id.to_string(),
                label: format!("{}, for {}", one.name, store.title()),
            })
        })
        .collect())
}

async fn render_page(
    app: &App,
    visitor: &Visitor,
    status: StatusCode,
    build: Option<&str>,
    form: Form,
) -> Result<Response, ApiError> {
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let build = build_of(&mut org, build).await?;
    let mut notes: Vec<_> = form.values("locale").into_iter().zip(form.values("text")).collect();
    notes.resize_with(notes.len().max(NOTES), Default::default);
    let shown = Page {
        frame: Frame::new(app, visitor, "submissions", "Submit to a store"),
        credentials: credentials(&mut org, build.as_ref(), app.clock.now()).await?,
        build,
        notes,
        form,
        largest: i64::try_from(largest(app)).unwrap_or(i64::MAX),
    };
    Ok(page(status, &shown))
}

/// The maximum size of an app in bytes: that of any upload.
fn largest(app: &App) -> u64 {
    app.config.max_source_size.max(app.config.max_package_size)
}

pub async fn form(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    let kept = visitor
        .kept()
        .map(|kept| kept.optional("buildId"))
        .transpose()?
        .flatten();
    let build = kept.as_deref().or(query.get("buildId")?);
    let known = build_of(&mut app.db.read().await?.org(visitor.org.id), build).await?;
    let usual = match known.map(|build| build.platform) {
        Some(Platform::Android) => "internal",
        Some(Platform::Ios | Platform::Visionos) => "testflight",
        None => "",
    };
    let form = Form::filled(&[("destination", usual), ("locale", "en-US"), ("text", "")]);
    Ok(render_page(&app, &visitor, StatusCode::OK, build, visitor.form_or(form)).await?)
}

pub async fn submit(State(app): State<Arc<App>>, visitor: Visitor, request: Request) -> Result<Response, PageError> {
    let (form_data, received) = receive(&app, &visitor, request, largest(&app)).await?;
    if form_data.check(&visitor.token).is_err() {
        return Ok(other_session(&app, &visitor, &form_data, "/submissions/new").await);
    }
    let result = match received {
        Ok(received) => send(&app, &visitor, &form_data, received).await,
        Err(failure) => Err(failure),
    };
    match result {
        Ok(path) => Ok(redirect_with_notice(&visitor, &path, Notice::SUBMITTED)),
        Err(failure) if failure.status().0 == StatusCode::BAD_REQUEST => {
            let build = form_data.optional("buildId")?;
            let form = Form::refused(form_data, &failure);
            Ok(render_page(&app, &visitor, StatusCode::BAD_REQUEST, build.as_deref(), form).await?)
        }
        Err(failure) => Ok(PageError(failure).into_response()),
    }
}

/// Does what a client of the API does. Returns the page to go to.
async fn send(
    app: &App,
    visitor: &Visitor,
    form_data: &FormData,
    received: Option<ReceivedFile>,
) -> Result<String, ApiError> {
    let mut wanted = read_request(form_data)?;
    match (&wanted.build_id, received) {
        (Some(_), _) => {}
        (None, Some(file)) => wanted.upload_id = Some(file.upload(app, visitor).await?),
        (None, None) => return Err(ApiError::bad("file is missing: choose the app, an .ipa, .aab or .apk")),
    }
    Ok(
        match request::run(
            app,
            &visitor.caller,
            wanted,
            form_data.once(visitor, "/submissions/new")?,
        )
        .await?
        {
            Created::Fresh(view) => format!("/submissions/{}", view.id),
            Created::Kept(_) => "/submissions".to_owned(),
        },
    )
}

/// The request of the form. Empty fields are omitted.
fn read_request(form_data: &FormData) -> Result<CreateSubmission, ApiError> {
    let ticked = |name: &str| Ok::<_, ApiError>((form_data.text(name)? == "yes").then_some(true));
    let list = |name: &str| Ok::<_, ApiError>(Some(form_data.list(name)?).filter(|items| !items.is_empty()));
    let priority = form_data.optional("options.priority")?.map(|priority| priority.parse());
    let encryption = form_data.optional("options.usesNonExemptEncryption")?;
    let notes = notes(form_data);
    Ok(CreateSubmission {
        build_id: form_data.optional("buildId")?,
        upload_id: None,
        destination: open::KnownDestination::of(form_data.choice("destination")?.unwrap_or_default()),
        rollout: form_data.percent("rollout")?,
        release_notes: (!notes.is_empty()).then_some(notes),
        credential_id: form_data.optional("credentialId")?,
        options: Some(SubmissionOptions {
            groups: list("options.groups")?,
            uses_non_exempt_encryption: encryption.map(|answer| answer == "yes"),
            manual_release: ticked("options.manualRelease")?,
            draft: ticked("options.draft")?,
            priority: priority
                .transpose()
                .map_err(|_| ApiError::bad("options.priority must be a whole number from 0 to 5"))?,
            countries: list("options.countries")?,
            release_name: form_data.optional("options.releaseName")?,
            changes_not_sent_for_review: ticked("options.changesNotSentForReview")?,
            symbols: None,
        }),
    })
}

/// The typed notes; a language without a text is ignored.
fn notes(form_data: &FormData) -> Vec<ReleaseNote> {
    let pairs = form_data.all("locale").into_iter().zip(form_data.all("text"));
    pairs
        .map(|(locale, text)| ReleaseNote {
            locale: locale.trim().to_owned(),
            // Browsers send line ends as CRLF, whatever was typed.
            text: text.replace("\r\n", "\n").trim().to_owned(),
        })
        .filter(|note| !note.text.is_empty())
        .collect()
}
