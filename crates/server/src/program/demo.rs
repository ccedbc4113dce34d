//! `serve --demo`: creates an organization with an owner, a key, the sample app with an update and a build of it, and
//! prints what to try next.

use std::io::{Cursor, Write};

use launchway_api::builds::{BuildSource, CreateBuild};
use launchway_api::keys::CreateKey;
use launchway_api::open;
use launchway_api::updates::{CreateUpdate, TextOrNumber};
use launchway_blob::Key;
use launchway_domain::actor::Actor;
use launchway_domain::app::{Package, UPLOAD_LIFE, Upload};
use launchway_domain::build::Distribution;
use launchway_domain::build::plan::{ArtifactRule, Plan, Step};
use launchway_domain::id::{BuildId, OrgId};
use launchway_domain::platform::Platform;
use launchway_domain::release::Format;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Role;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::packages::Prepared;
use launchway_ops::updates::publish;
use launchway_ops::uploads::{self, staging_key};
use launchway_ops::write::Write as Change;
use launchway_ops::{accounts, api_keys, builds, orgs};
use sha2::{Digest, Sha256};

const BUNDLE: &str = "com.example.sample";
const EMAIL: &str = "demo@example.com";
/// The sample app of `examples/sample-app`, embedded in the binary.
const FILES: [(&str, &[u8]); 5] = [
    (
        "index.html",
        include_bytes!("../../../../examples/sample-app/index.html"),
    ),
    ("style.css", include_bytes!("../../../../examples/sample-app/style.css")),
    ("app.js", include_bytes!("../../../../examples/sample-app/app.js")),
    (
        "version.js",
        include_bytes!("../../../../examples/sample-app/version.js"),
    ),
    ("icon.svg", include_bytes!("../../../../examples/sample-app/icon.svg")),
];

/// Creates the demo in an empty database; returns the text with what to open and to paste.
pub async fn prepare(app: &App) -> Result<String, ApiError> {
    if app
        .db
        .read()
        .await?
        .system("whether this is the first run")
        .has_orgs()
        .await?
    {
        return Ok(
            "The demo requires an empty database, but this one already has organizations. Nothing was changed."
                .to_owned(),
        );
    }
    let password = app.random.token();
    let hash = app.passwords.hash(&password).await?;
    let org = orgs::plan(app, "Demo".to_owned());
    let mut change = Change::open(app, org.id, Actor::Operator, None).await?;
    orgs::insert(&mut change, &org).await?;
    let user = accounts::create_user(&mut change, EMAIL, &hash).await?;
    accounts::join(&mut change, org.id, &user, Role::Owner).await?;
    let scopes = Scope::GRANTABLE.map(open::Scope::from).to_vec();
    let plan = api_keys::plan(&CreateKey {
        name: "demo".to_owned(),
        scopes,
        expires_in_days: None,
    })?;
    let (key, _) = api_keys::create(&mut change, plan).await?;
    change.commit().await?;
    publish_sample(app, org.id).await?;
    let build = build_sample(app, org.id).await?;
    Ok(words(&app.public_url, &password, key.reveal(), build))
}

/// Queues a build of the sample app that needs no toolchain: it checks the files and packs them.
async fn build_sample(app: &App, org: OrgId) -> Result<BuildId, ApiError> {
    let (record, zip) = packed(app, org)?;
    let failed = |error: std::io::Error| ApiError::Unavailable(format!("Cannot create a temporary file: {error}"));
    let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
    file.write_all(&zip).map_err(failed)?;
    app.blob.put_file(&staging_key(record.id)?, file.path()).await?;
    let mut change = Change::open(app, org, Actor::Operator, None).await?;
    change.org().create_upload(&record, "operator").await?;
    change.commit().await?;
    let id = app.random.id(app.clock.now());
    let prepared = builds::source::prepare(app, org, record.id, id).await?;
    let step = |name: &str, run: &str| Step {
        name: name.to_owned(),
        run: run.to_owned(),
        timeout_seconds: Some(60),
    };
    let asked = builds::form::check(CreateBuild {
        bundle_id: BUNDLE.to_owned(),
        platform: Platform::Android.into(),
        source: BuildSource {
            upload_id: Some(record.id.to_string()),
            git: None,
        },
        profile: None,
        configuration: None,
        version: Some("1.0.0".to_owned()),
        build_number: Some(TextOrNumber::Text("auto".to_owned())),
        build_type: None,
        distribution: Some(Distribution::Internal.into()),
        fingerprint: None,
        git: None,
        plan: Some(Plan {
            steps: vec![
                step(
                    "check",
                    "for file in *.html *.css *.js; do echo \"$file: $(wc -c < \"$file\") bytes\"; done",
                ),
                step(
                    "pack",
                    "mkdir out && tar -czf out/sample-app.tar.gz *.html *.css *.js *.svg && ls -l out",
                ),
            ],
            artifacts: vec![ArtifactRule {
                path: "out/sample-app.tar.gz".to_owned(),
                kind: "web".to_owned(),
            }],
            ..Plan::default()
        }),
        priority: None,
    })?;
    let mut change = Change::open(app, org, Actor::Operator, None).await?;
    builds::create(&mut change, id, asked, Some(&prepared)).await?;
    change.commit().await?;
    uploads::drop_staged(app, record.id).await;
    Ok(id)
}

/// The sample app as an upload, with its bytes.
fn packed(app: &App, org: OrgId) -> Result<(Upload, Vec<u8>), ApiError> {
    let zip = pack().map_err(|error| ApiError::Internal(format!("packing the sample app: {error}")))?;
    let now = app.clock.now();
    let upload = Upload {
        id: app.random.id(now),
        org_id: org,
        file_name: "sample-app.zip".to_owned(),
        size: zip.len() as i64,
        sha256: hex::encode(Sha256::digest(&zip)),
        used: false,
        created_at: now,
        expires_at: now + UPLOAD_LIFE,
    };
    Ok((upload, zip))
}

async fn publish_sample(app: &App, org: OrgId) -> Result<(), ApiError> {
    let (upload, zip) = packed(app, org)?;
    let prepared = store(app, upload, &zip).await?;
    let plan = publish::plan(&CreateUpdate {
        upload_id: Some(prepared.upload.id.to_string()),
        bundle_id: BUNDLE.to_owned(),
        platform: Platform::Android.into(),
        version: "1.0.0".to_owned(),
        build_number: Some(TextOrNumber::Number(2)),
        release_notes: Some("The first update of the sample app".to_owned()),
        ..CreateUpdate::default()
    })?;
    let mut change = Change::open(app, org, Actor::Operator, None).await?;
    change.org().create_upload(&prepared.upload, "operator").await?;
    publish::publish(&mut change, plan, Some(&prepared)).await?;
    change.commit().await
}

/// Writes the bytes to the key of an upload's copy.
async fn store(app: &App, upload: Upload, zip: &[u8]) -> Result<Prepared, ApiError> {
    let failed = |error: std::io::Error| ApiError::Unavailable(format!("Cannot create a temporary file: {error}"));
    let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
    file.write_all(zip).map_err(failed)?;
    let id = app.random.id(upload.created_at);
    let key = Key::of_package(upload.id, id);
    app.blob.put_file(&key, file.path()).await?;
    let package = Package {
        id,
        org_id: upload.org_id,
        blob_key: key.as_str().to_owned(),
        size: upload.size,
        sha256: upload.sha256.clone(),
        file_count: FILES.len() as i64,
        manifest: None,
        format: Format::Archive,
        content_id: None,
    };
    Ok(Prepared {
        upload,
        package,
        export: None,
    })
}

fn pack() -> zip::result::ZipResult<Vec<u8>> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in FILES {
        zip.start_file(name, zip::write::SimpleFileOptions::default())?;
        zip.write_all(bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}

fn words(url: &str, password: &str, key: &str, build: BuildId) -> String {
    format!(
        "The demo is ready. Ask as a phone with version 1.0.0 build 1 of the sample app would:

  curl '{url}/api/update/check/{BUNDLE}?currentVersion=1.0.0&currentBuild=1&platform=android&deviceId=my-phone'

Publish an update of your own. This key is shown once:

  echo {key} | launchway login --url {url} --with-key
  launchway update android --dir examples/sample-app --bundle-id {BUNDLE} --version 1.0.1 --all-configurations

This server is building the sample app right now. Follow it, and look at what it gave:

  launchway build logs -f {build}
  launchway build show {build}

The sample in examples/android-app builds a true, signed APK.

Sign in at {url}/ as {EMAIL} with the password {password}. The API is described at {url}/docs."
    )
}
