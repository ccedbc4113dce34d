//! A key of an app store: read from its file, and asked about.

use std::path::Path;
use std::sync::Arc;

use launchway_app_stores::survey::Answer;
use launchway_app_stores::transport::Transport;
use launchway_app_stores::{Clock, app_store, google_play};
use launchway_client::BaseUrl;
use launchway_credentials::jwt::Es256Key;
use launchway_domain::submission::Store;

use crate::args::project::DoctorStoresArgs;
use crate::commands::credential::file;
use crate::environment::Environment;
use crate::failure::Failure;

/// The endpoint that issues Google's tokens. The key is used for no other, as whoever wrote the file chooses it.
const GOOGLE_TOKENS: [&str; 2] = [
    "https://oauth2.googleapis.com/token",
    "https://accounts.google.com/o/oauth2/token",
];

/// The addresses of the app stores: the real ones, or a simulator's from the variables that the server takes, too.
pub struct Addresses {
    pub app_store: BaseUrl,
    google_play: BaseUrl,
}

impl Addresses {
    pub fn of(environment: &Environment) -> Result<Addresses, Failure> {
        let address = |variable: &str, usual: &str| {
            let text = environment.text(variable)?.unwrap_or_else(|| usual.to_owned());
            let url = text.parse::<BaseUrl>();
            url.map_err(|problem| Failure::usage(format!("{variable}: {problem}")))
        };
        Ok(Addresses {
            app_store: address("LAUNCHWAY_APP_STORE_CONNECT_URL", app_store::ADDRESS)?,
            google_play: address("LAUNCHWAY_GOOGLE_PLAY_URL", google_play::ADDRESS)?,
        })
    }

    /// Whether this URL issues the tokens of the configured store.
    fn issues_tokens(&self, url: &str) -> bool {
        GOOGLE_TOKENS.contains(&url)
            || (self.google_play.origin() != google_play::ADDRESS
                && url.starts_with(&format!("{}/", self.google_play.origin())))
    }
}

/// A key with what its app store needs to know about it.
pub enum Account {
    /// A key of App Store Connect.
    AppStore(app_store::Credential),
    /// A Google service account.
    GooglePlay(google_play::Credential),
}

impl Account {
    /// Reads a file; its content decides which app store it is for.
    pub fn read(path: &Path, arguments: &DoctorStoresArgs, addresses: &Addresses) -> Result<Account, Failure> {
        let shown = path.display();
        let bytes = file::bytes(path)?;
        let text = std::str::from_utf8(&bytes).unwrap_or_default().trim_start();
        if text.starts_with('{') {
            let credential = google_play::Credential::from_json(text).ok_or_else(|| {
                Failure::usage(format!("{shown} is not the JSON key of a Google service account"))
                    .hint("create a key of type JSON in the Google Cloud console")
            })?;
            if !addresses.issues_tokens(&credential.token_uri) {
                return Err(
                    Failure::usage(format!("{shown} names a token_uri that is not Google's"))
                        .hint("use the file as Google issued it"),
                );
            }
            return Ok(Account::GooglePlay(credential));
        }
        let key = Es256Key::from_pem(text).map_err(|_| {
            Failure::usage(format!("{shown} is not a key of an app store"))
                .hint("name the .p8 file of App Store Connect, or the .json file of a Google service account")
        })?;
        let key_id = arguments.key_id.clone().or_else(|| file::key_id(path));
        let key_id = key_id.ok_or_else(|| {
            Failure::usage(format!("the id of the key in {shown} is unknown"))
                .hint("give --key-id, or the name that Apple gave the file: AuthKey_<key id>.p8")
        })?;
        let issuer_id = arguments.issuer_id.as_deref().map(str::to_ascii_lowercase);
        Ok(Account::AppStore(app_store::Credential { key, key_id, issuer_id }))
    }

    /// The app store.
    pub fn store(&self) -> Store {
        match self {
            Account::AppStore(_) => Store::AppStore,
            Account::GooglePlay(_) => Store::GooglePlay,
        }
    }

    /// The key, for people.
    pub fn title(&self) -> String {
        match self {
            Account::AppStore(key) => format!("Key {} of App Store Connect", key.key_id),
            Account::GooglePlay(account) => format!("Service account {}", account.client_email),
        }
    }

    /// Asks the app store.
    pub async fn survey(
        self,
        transport: Arc<dyn Transport>,
        clock: Arc<dyn Clock>,
        addresses: &Addresses,
        bundle_id: Option<&str>,
    ) -> Vec<Answer> {
        match self {
            Account::AppStore(key) => {
                let client = app_store::AppStoreConnect::new(transport, clock, &addresses.app_store.origin(), key);
                client.survey(bundle_id).await
            }
            Account::GooglePlay(account) => {
                let client = google_play::GooglePlay::new(transport, clock, &addresses.google_play.origin(), account);
                client.survey(bundle_id).await
            }
        }
    }
}
