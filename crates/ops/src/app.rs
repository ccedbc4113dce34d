//! The parts of the service, built once: settings, database, object storage, index of checks, clock, randomness.

use std::sync::{Arc, OnceLock};

use launchway_app_stores::transport::Transport;
use launchway_blob::{Blob, BlobError};
use launchway_config::{Config, ConfigError, Storage, StorageCredentials};
use launchway_inspection::{Inspector, Places};
use launchway_os::clock::Clock;
use launchway_os::folders::make_private_dir;
use launchway_os::free_space::Floor;
use launchway_os::random::Random;
use launchway_ota::report_token::ReportTokens;
use launchway_ota::{Index, LongTexts};
use launchway_outbound::app_stores::{AppStores, GuardedTransport, StoreClock};
use launchway_outbound::provider::Provider;
use launchway_outbound::resolver::Resolver;
use launchway_outbound::webhook_sender::WebhookSender;
use launchway_store::{Db, OpenError, StoreError};
use launchway_vault::key_files::finish_rotation;
use launchway_vault::{MASTER_KEY_CHECK, MasterKey, MasterKeyError, Purpose, Vault, VaultError};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

use crate::app_store_events::AppStoreEventSecrets;
use crate::brotli_files::BrotliFiles;
use crate::buffers::check_counts::CheckCounts;
use crate::buffers::last_used::LastUsed;
use crate::buffers::report_queue::ReportQueue;
use crate::build_news::BuildNews;
use crate::counters::Counters;
use crate::embedded::Embedded;
use crate::fair_work::FairWork;
use crate::hot_urls::HotUrls;
use crate::install_links::InstallLinks;
use crate::job_leases::JobLeases;
use crate::limits::calls::CallLimiter;
use crate::limits::clients::ClientLimiter;
use crate::limits::pages::PageLimits;
use crate::local_snapshot::{FolderError, LocalSnapshot, RefusedError};
use crate::maskers::Maskers;
use crate::passwords::Passwords;
use crate::patience::{self, wait_for_database};
use crate::sealing_start;

/// The service's parts. Handlers and jobs share it behind an `Arc`.
pub struct App {
    /// The validated settings.
    pub config: Config,
    /// The address at which people and phones reach the service.
    pub public_url: String,
    /// The start of the addresses of files that clients of Expo download.
    pub asset_base: String,
    /// The database.
    pub db: Db,
    /// Object storage.
    pub blob: Blob,
    /// Seals and opens secrets.
    pub vault: Vault,
    /// Answers the public check.
    pub index: Arc<Index>,
    /// Signed URLs in its answers.
    pub hot_urls: HotUrls,
    /// The same for clients of other services, whose downloads have other names.
    pub foreign_urls: HotUrls,
    /// The local snapshot of the index, if this node keeps one.
    pub local_snapshot: Option<LocalSnapshot>,
    /// Signs and verifies install links of builds.
    pub install_links: InstallLinks,
    /// Derives the secrets with which app stores sign their events.
    pub app_store_event_secrets: AppStoreEventSecrets,
    /// Signs and verifies the tokens of device reports.
    pub report_tokens: ReportTokens,
    /// Counts calls of organizations and sign-in attempts.
    pub calls: CallLimiter,
    /// Counts public checks by client address.
    pub addresses: ClientLimiter,
    /// Counts pages by client address, session and organization.
    pub pages: PageLimits,
    /// Runs log searches, fairly between organizations.
    pub fair_work: Arc<FairWork>,
    /// Files of updates as they are sent to clients that unpack Brotli.
    pub brotli_files: BrotliFiles,
    /// Counters of the service itself.
    pub counters: Counters,
    /// Hashes passwords, a bounded number at a time.
    pub passwords: Passwords,
    /// When keys and sessions were last used, written in batches.
    pub last_used: LastUsed,
    /// Counts of public checks that are not yet in the database.
    pub check_counts: CheckCounts,
    /// Leases of the jobs that run on one node at a time.
    pub job_leases: JobLeases,
    /// Device reports that are not yet in the database.
    pub reports: ReportQueue,
    /// What webhooks need in addition to the database.
    pub webhooks: Webhooks,
    /// Notifies this process when a build changes.
    pub build_news: BuildNews,
    /// Wakes requests that wait for a build to run.
    pub build_queue: Notify,
    /// Serializes claims of builds within this process.
    pub claims: Mutex<()>,
    /// Wakes the job for submissions when a step is due.
    pub submissions: Notify,
    /// The App Store and Google Play.
    pub app_stores: AppStores,
    /// The OpenID Connect provider, if one is configured.
    pub provider: Option<Provider>,
    /// Masks the secrets of running builds in their logs.
    pub maskers: Maskers,
    /// The runner inside this process, if there is one.
    pub embedded: OnceLock<Embedded>,
    /// Canceled when the process gets the signal to stop; everything that waits stops waiting.
    pub stopping: CancellationToken,
    /// Slots for inspections: each costs a core, memory and a temporary file.
    pub inspections: Places,
    /// Starts the inspection processes.
    pub inspector: Inspector,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
}

/// What webhooks need in addition to the database.
pub struct Webhooks {
    /// Sends messages to receivers.
    pub sender: WebhookSender,
    /// Wakes the fan-out when there are new events.
    pub events: Notify,
    /// Wakes the delivery job when there are new deliveries.
    pub deliveries: Notify,
}

/// Why the service cannot start. Its text is one line for the operator.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A setting is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The database does not open.
    #[error("--database-url: {0}")]
    Database(#[from] OpenError),
    /// The database does not answer.
    #[error("--database-url: {0}")]
    Store(#[from] StoreError),
    /// The master key cannot be loaded.
    #[error("--master-key-file: {0}")]
    MasterKey(#[from] MasterKeyError),
    /// The vault does not open with the master key.
    #[error("--master-key-file: {0}")]
    Vault(#[from] VaultError),
    /// The object storage does not open.
    #[error("--storage-url: {0}")]
    Blob(#[from] BlobError),
    /// The database does not answer, and the local snapshot may not be used.
    #[error("{database}; the snapshot in --snapshot-dir {refusal}")]
    NoSnapshot {
        /// What is wrong with the database.
        database: String,
        /// What is wrong with the snapshot.
        refusal: RefusedError,
    },
    /// A file or socket does not open.
    #[error("{what}: {cause}")]
    Io {
        /// The setting or file.
        what: String,
        /// The operating system's error.
        cause: std::io::Error,
    },
}

impl StartError {
    /// The database does not answer, and the local snapshot may not be used.
    pub(crate) fn no_snapshot(database: &StartError, refusal: RefusedError) -> StartError {
        StartError::NoSnapshot {
            database: database.to_string(),
            refusal,
        }
    }

    /// Whether the database does not answer.
    pub fn is_unavailable(&self) -> bool {
        match self {
            StartError::Database(error) => error.is_unavailable(),
            StartError::Store(error) | StartError::Vault(VaultError::Store(error)) => {
                matches!(error, StoreError::Unavailable(_))
            }
            _ => false,
        }
    }

    /// Whether another try may succeed although nobody changes a setting: the database does not answer, or refuses the
    /// connection.
    pub fn may_pass(&self) -> bool {
        self.is_unavailable() || matches!(self, StartError::Database(OpenError::Connect(_)))
    }

    /// Adds the setting or file to an I/O error.
    pub fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> StartError {
        let what = what.into();
        move |cause| StartError::Io { what, cause }
    }
}

impl From<FolderError> for StartError {
    fn from(error: FolderError) -> StartError {
        match error {
            FolderError::Config(error) => error.into(),
            FolderError::Io(cause) => StartError::io("--snapshot-dir")(cause),
        }
    }
}

/// The parts that a test may replace.
pub struct Dependencies {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// Resolves the host names of webhook receivers and app stores.
    pub resolver: Arc<dyn Resolver>,
    /// The transport to the app stores; HTTP if `None`.
    pub app_stores: Option<Arc<dyn Transport>>,
    /// Starts the inspection processes.
    pub inspector: Inspector,
}

impl App {
    /// Opens everything that the settings name. `public_url` is the default if the settings name none. If the database does
    /// not answer, but there is a local snapshot, it [arrives later](crate::start::arrive).
    pub async fn open(config: Config, public_url: String, dependencies: Dependencies) -> Result<Arc<App>, StartError> {
        if config.is_embedded() {
            make_private_dir(&config.data_dir).map_err(StartError::io("--data-dir"))?;
        }
        let local_snapshot = LocalSnapshot::open(&config, dependencies.clock.clone())?;
        let (db, vault) = open_database(&config, local_snapshot.as_ref(), &dependencies).await?;
        let public_url = config.public_url.clone().unwrap_or(public_url);
        let asset_base = config.asset_base.clone().unwrap_or_else(|| public_url.clone());
        let blob = open_blob(&config, &public_url, &vault, dependencies.clock.clone()).await?;
        let long_texts = LongTexts::open(&config.scratch_dir()).map_err(StartError::io("--data-dir"))?;
        let app_stores = open_app_stores(&config, &dependencies);
        let provider = open_provider(&config, &dependencies);
        let index = Index::new(config.updates_per_bundle, long_texts, &asset_base);
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Ok(Arc::new(App {
            hot_urls: HotUrls::new(),
            foreign_urls: HotUrls::new(),
            index: Arc::new(index.kept_by(local_snapshot.as_ref().map(|local| local.keeper.clone()))),
            local_snapshot,
            install_links: InstallLinks::new(*vault.derive(Purpose::InstallLinks)),
            app_store_event_secrets: AppStoreEventSecrets::new(*vault.derive(Purpose::StoreEvents)),
            report_tokens: ReportTokens::new(*vault.derive(Purpose::DeviceReports)),
            calls: CallLimiter::new(db.clone(), &*dependencies.random),
            addresses: ClientLimiter::of_many(config.check_limit, &*dependencies.random),
            pages: PageLimits::new(&*dependencies.random),
            fair_work: FairWork::new(cores.div_ceil(2)),
            brotli_files: BrotliFiles::default(),
            counters: Counters::new(dependencies.clock.now()),
            passwords: Passwords::new(cores),
            last_used: LastUsed::default(),
            check_counts: CheckCounts::default(),
            job_leases: JobLeases::new(dependencies.random.token()),
            reports: ReportQueue::new(db.clone()),
            webhooks: Webhooks {
                sender: WebhookSender::new(dependencies.resolver, config.allow_private_webhooks),
                events: Notify::new(),
                deliveries: Notify::new(),
            },
            build_news: BuildNews::default(),
            build_queue: Notify::new(),
            claims: Mutex::new(()),
            submissions: Notify::new(),
            app_stores,
            provider,
            maskers: Maskers::default(),
            embedded: OnceLock::new(),
            stopping: CancellationToken::new(),
            inspections: Places::new(cores),
            inspector: dependencies.inspector,
            clock: dependencies.clock,
            random: dependencies.random,
            public_url,
            asset_base,
            config,
            db,
            blob,
            vault,
        }))
    }

    /// Whether cookies are sent over https only.
    pub fn is_https(&self) -> bool {
        self.public_url.starts_with("https://")
    }
}

/// The provider that users sign in through, if the settings name one.
fn open_provider(config: &Config, dependencies: &Dependencies) -> Option<Provider> {
    let settings = config.oidc.clone()?;
    let addresses = vec![settings.issuer.clone()];
    let transport = GuardedTransport::new(dependencies.resolver.clone(), addresses);
    Some(Provider::new(settings, Arc::new(transport)))
}

/// Opens the database and the vault. While the database does not answer, the vault is that of the local snapshot.
async fn open_database(
    config: &Config,
    local: Option<&LocalSnapshot>,
    dependencies: &Dependencies,
) -> Result<(Db, Vault), StartError> {
    let (clock, random) = (&dependencies.clock, &dependencies.random);
    let opened = async {
        let db = Db::open(config.database_url.reveal()).await?;
        let vault = open_vault(config, &db, clock, random).await?;
        Ok((db, vault))
    };
    let has_snapshot = || local.is_some_and(|local| local.has_one(&**random));
    let away: StartError = match wait_for_database(patience::OPENING, opened, has_snapshot).await {
        Err(error) => error,
        opened => return opened,
    };
    let Some(local) = local.filter(|_| away.is_unavailable()) else {
        return Err(away);
    };
    let refused = |refusal| StartError::no_snapshot(&away, refusal);
    let Some((master, found)) = local.find(&**random).map_err(refused)? else {
        return Err(away);
    };
    let vault = local.open_vault(master, &found, clock.clone(), random.clone());
    Ok((Db::later(), vault.map_err(refused)?))
}

/// The app stores at the configured addresses.
fn open_app_stores(config: &Config, dependencies: &Dependencies) -> AppStores {
    let addresses = vec![config.app_store_connect_url.clone(), config.google_play_url.clone()];
    let http = || Arc::new(GuardedTransport::new(dependencies.resolver.clone(), addresses)) as Arc<dyn Transport>;
    AppStores {
        transport: dependencies.app_stores.clone().unwrap_or_else(http),
        clock: Arc::new(StoreClock(dependencies.clock.clone())),
        app_store_connect: config.app_store_connect_url.clone(),
        google_play: config.google_play_url.clone(),
    }
}

/// Opens the configured object storage.
pub async fn open_blob(
    config: &Config,
    public_url: &str,
    vault: &Vault,
    clock: Arc<dyn Clock>,
) -> Result<Blob, BlobError> {
    match &config.storage {
        Storage::Directory(root) => {
            let floor = Floor::new(config.min_free_space);
            Blob::local(
                root,
                &format!("{public_url}/files"),
                *vault.derive(Purpose::SignedUrls),
                floor,
            )
        }
        Storage::S3 { url, credentials } => open_bucket(url, credentials, clock).await,
    }
}

/// Opens a bucket with keys or the credentials of a role.
///
/// # Errors
/// [`BlobError::Settings`] with what is wrong, or [`BlobError::Unavailable`] if a role's credentials cannot be had.
pub async fn open_bucket(
    url: &str,
    credentials: &StorageCredentials,
    clock: Arc<dyn Clock>,
) -> Result<Blob, BlobError> {
    match credentials {
        StorageCredentials::Keys(keys) => Blob::s3(url, keys),
        StorageCredentials::Role { source, region } => Blob::s3_with_role(url, source, region.as_deref(), clock).await,
    }
}

/// Opens the vault after checking its master key against the database: sealed values would be unreadable under another
/// one.
pub async fn open_vault(
    config: &Config,
    db: &Db,
    clock: &Arc<dyn Clock>,
    random: &Arc<dyn Random>,
) -> Result<Vault, StartError> {
    const REASON: &str = "the installation's own facts";
    let file = &config.master_key_file;
    let known = db.read().await?.system(REASON).meta(MASTER_KEY_CHECK).await?;
    let is_new = known.is_none();
    let mut key = MasterKey::load(file, is_new, &**random);
    let mut tx = db.write().await?;
    let check = match &key {
        Ok(key) => {
            tx.system(REASON)
                .keep_meta(MASTER_KEY_CHECK, &key.check_value())
                .await?
        }
        Err(_) => known.unwrap_or_default(),
    };
    sealing_start::begin(&mut tx, is_new, clock.now()).await?;
    // An interrupted rotation may have left the matching key beside the file.
    if !key.as_ref().is_ok_and(|key| key.fits(&check))
        && let Some(fitting) = finish_rotation(file, &check)
    {
        key = Ok(fitting);
    }
    let key = key?;
    if !key.fits(&check) {
        let problem = format!(
            "{}: is not the master key of this database; all processes of a database need the same key file",
            file.display()
        );
        return Err(ConfigError::new("--master-key-file", problem).into());
    }
    let vault = Vault::open(key, file.clone(), &mut tx, clock.clone(), random.clone()).await?;
    tx.commit().await?;
    Ok(vault)
}
