//! The database: SQLite or PostgreSQL behind one body of SQL, one file per table family. The only way to a tenant's rows is
//! [`Tx::org`]; [`Tx::system`] crosses tenants, with a reason.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

#[macro_use]
mod sql;
#[macro_use]
mod list_totals;

mod api_keys;
mod app_store_turns;
mod apps;
mod artifacts;
mod audit;
mod build_files;
mod build_logs;
mod build_queue;
mod builds;
mod changes;
mod configurations;
mod crashes;
mod credentials;
mod data_keys;
mod db;
mod deliveries;
mod departures;
mod deployment_keys;
mod device_logins;
mod dump;
mod env_vars;
mod expo;
mod failed_tries;
mod fingerprints;
mod gate;
mod holdings;
mod idempotency;
mod index_rows;
mod invitations;
mod job_leases;
mod kept_forms;
mod limits;
mod lists;
mod members;
mod migrations;
mod orgs;
mod outbox;
mod packages;
mod probe;
mod release_rows;
mod releases;
mod reports;
mod runners;
mod sessions;
mod submission_work;
mod submissions;
mod trust_drafts;
mod trust_files;
mod trust_online_keys;
mod trust_repositories;
mod two_factor;
mod tx;
mod updates;
mod uploads;
mod usage;
mod users;
mod webhooks;

pub use api_keys::NewKey;
pub use app_store_turns::{Turn, TurnHolder};
pub use apps::{AppHoldings, Claim};
pub use audit::{AuditFilter, AuditHead, AuditRow, ChainedRow, Link};
pub use build_files::BuildFile;
pub use build_logs::{LogChunk, LogSegment};
pub use build_queue::{QueueShare, Renewal, RunningBuilds, StateChange};
pub use builds::BuildFilter;
pub use changes::{Changes, Watch};
pub use crashes::{CrashGroup, CrashReport};
pub use credentials::StoreEventsRow;
pub use db::{Db, OpenError};
pub use deliveries::{AttemptReport, ClaimedDelivery, DueWebhook};
pub use dump::DumpError;
pub use env_vars::SealedEnvVar;
pub use expo::{IssueGroup, NewIssue, Reissuable};
pub use gate::Gate;
pub use idempotency::{KeptAnswer, RequestKey};
pub use index_rows::{OfferedUpdate, RetiredUpdate};
pub use kept_forms::KeptForm;
pub use list_totals::{FoldCursor, UnfoldedList};
pub use members::LastOwner;
pub use outbox::EventRow;
pub use probe::{Probe, ProbeError, Schema};
pub use release_rows::{ForeignBundleRows, IssueRow, ReleaseRow};
pub use releases::NewForeignId;
pub use reports::{DayCount, Report, StoredReason, UpdateReach, day_of};
pub use sql::{FORGOTTEN_AT_ONCE, STATEMENTS, StoreError};
pub use submission_work::{Lane, PendingChange, SubmittedBinary};
pub use submissions::SubmissionFilter;
pub use trust_drafts::{NewTrustDraft, TrustDraft};
pub use trust_files::{NewTrustFile, SignedVersion, TrustFileRow};
pub use trust_online_keys::{NewOnlineKey, OnlineKeyRow};
pub use trust_repositories::{DueOnlineRoles, ExpiringRole, IndexTrust, TrustRepository};
pub use two_factor::TwoFactor;
pub use tx::{Org, System, Tx};
pub use updates::{NamedTarget, NewUpdate, UpdateChange, UpdateFilter};
pub use webhooks::{OldSecret, StoredUrl, WebhookSecrets};

/// One page of a list: the rows, and the total number.
#[derive(Clone, Debug)]
pub struct Rows<T> {
    /// The rows of this page, newest first.
    pub items: Vec<T>,
    /// The number of rows without paging.
    pub total: i64,
}

impl<T> Rows<T> {
    /// The page of an empty list.
    pub fn none() -> Rows<T> {
        Rows {
            items: Vec::new(),
            total: 0,
        }
    }

    fn read<R>(rows: Vec<R>, total: i64, read: impl FnMut(R) -> Result<T, StoreError>) -> Result<Rows<T>, StoreError> {
        let items = rows.into_iter().map(read).collect::<Result<_, _>>()?;
        Ok(Rows { items, total })
    }
}

/// The requested part of a list.
#[derive(Clone, Copy, Debug)]
pub struct Paging {
    /// The maximum number of rows.
    pub limit: i64,
    /// The number of rows to skip.
    pub offset: i64,
}
