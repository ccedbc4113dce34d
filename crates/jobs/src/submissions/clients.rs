//! Clients of the app stores with opened credentials. Each opening adds a line to the audit log, so a client is cached
//! for a while, as long as its credential is the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_api::secret::SecretText;
use launchway_app_stores::{AppStoreError, app_store, google_play};
use launchway_credentials::jwt::Es256Key;
use launchway_domain::actor::Actor;
use launchway_domain::id::CredentialId;
use launchway_domain::submission::error::SubmissionErrorCode as Code;
use launchway_domain::submission::{Store, Submission};
use launchway_domain::time::{EpochMs, HOUR};
use launchway_inspection::credential_form::OpenedCredential;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::credentials;
use launchway_ops::write::Write;
use zeroize::Zeroizing;

/// How long a client is cached.
const LIFE: EpochMs = HOUR;
/// The maximum number of cached clients.
const MOST: usize = 500;

/// A client of an app store.
#[derive(Clone)]
pub enum Client {
    /// A client of App Store Connect.
    AppStore(Arc<app_store::AppStoreConnect>),
    /// A client of Google Play.
    GooglePlay(Arc<google_play::GooglePlay>),
}

/// Why there is no client.
pub enum ClientError {
    /// An error that the submission reports.
    Reported(AppStoreError),
    /// It cannot be created now.
    Failed(ApiError),
}

impl<E: Into<ApiError>> From<E> for ClientError {
    fn from(error: E) -> Self {
        ClientError::Failed(error.into())
    }
}

/// Clients, by credential and its sealed form.
#[derive(Default)]
pub struct Clients(Mutex<HashMap<(CredentialId, String), (Client, EpochMs)>>);

impl Clients {
    /// The client for a submission.
    pub async fn of(&self, app: &App, submission: &Submission) -> Result<Client, ClientError> {
        let gone = || {
            let message = "The credential of this submission was deleted";
            ClientError::Reported(AppStoreError::new(Code::CredentialInvalid, message))
        };
        let id = submission.credential_id.ok_or_else(gone)?;
        let mut tx = app.db.read().await?;
        let sealed = tx
            .org(submission.org_id)
            .sealed_credential(id)
            .await?
            .ok_or_else(gone)?;
        drop(tx);
        let (key, now) = ((id, sealed), app.clock.now());
        {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.retain(|_, (_, opened_at)| now - *opened_at < LIFE);
            if kept.len() > MOST {
                kept.clear();
            }
            if let Some((client, _)) = kept.get(&key) {
                return Ok(client.clone());
            }
        }
        let mut write = Write::open(app, submission.org_id, Actor::Service, None).await?;
        let what_for = format!("the submission {}", submission.id);
        let opened = credentials::open(&mut write, id, &what_for).await?.ok_or_else(gone)?;
        write.commit().await?;
        let client = make(app, submission.store(), &opened).map_err(ClientError::Reported)?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(key, (client.clone(), now));
        Ok(client)
    }
}

fn make(app: &App, store: Store, opened: &OpenedCredential) -> Result<Client, AppStoreError> {
    // The file was validated when it was added, so this is a defect; nothing of it is quoted.
    let unreadable = || AppStoreError::new(Code::CredentialInvalid, "Cannot read the credential");
    let content = BASE64_STANDARD.decode(opened.content.reveal()).map(Zeroizing::new);
    let content = content.map_err(|_| unreadable())?;
    let text = std::str::from_utf8(&content).map_err(|_| unreadable())?;
    let (transport, clock) = (app.app_stores.transport.clone(), app.app_stores.clock.clone());
    match store {
        Store::AppStore => {
            let credential = app_store::Credential {
                key: Es256Key::from_pem(text).map_err(|_| unreadable())?,
                key_id: opened.key_id.as_ref().ok_or_else(unreadable)?.reveal().to_owned(),
                issuer_id: opened
                    .issuer_id
                    .as_ref()
                    .map(SecretText::reveal)
                    .filter(|issuer| !issuer.is_empty())
                    .map(str::to_ascii_lowercase),
            };
            let base = &app.app_stores.app_store_connect;
            let client = app_store::AppStoreConnect::new(transport, clock, base, credential);
            Ok(Client::AppStore(Arc::new(client)))
        }
        Store::GooglePlay => {
            let credential = google_play::Credential::from_json(text).ok_or_else(unreadable)?;
            if !app.app_stores.may_call(&credential.token_uri) {
                return Err(AppStoreError::new(
                    Code::CredentialInvalid,
                    "The token_uri of the service account is not an https URL of a public host",
                ));
            }
            let base = &app.app_stores.google_play;
            let client = google_play::GooglePlay::new(transport, clock, base, credential);
            Ok(Client::GooglePlay(Arc::new(client)))
        }
    }
}
