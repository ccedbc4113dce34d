//! The arguments of `org`, `audit` and `usage`, which concern the whole organization.

use clap::{Args, Subcommand};

use crate::args::resource::PageArgs;

/// What follows the help of `org`.
pub const EXAMPLES: &str = "\
An API key acts in one organization. --org, LAUNCHWAY_ORG and `org use` are for callers that belong to several.";

/// The commands on organizations.
#[derive(Debug, Subcommand)]
pub enum OrgCommand {
    /// List the organizations you may act in
    List(PageArgs),
    /// Save an organization with the login, for later commands
    Use {
        /// Id of the organization, as shown by `org list`
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Show an organization [default: the one you act in]
    Show {
        /// Id of the organization
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
    /// List the members of the organization
    Members(PageArgs),
}

/// What follows the help of `audit`.
pub const AUDIT_EXAMPLES: &str = "\
Examples:
  launchway audit list --action key.revoke
  launchway audit list --since 2026-11-01T00:00:00Z --json";

/// The commands on the audit log.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// List the actions in the organization, newest first
    List(Box<AuditArgs>),
}

/// The arguments of `audit list`.
#[derive(Args, Debug)]
pub struct AuditArgs {
    /// Only actions of this user, key, operator or service
    #[arg(long, value_name = "ID")]
    pub actor: Option<String>,
    /// Only this action, such as key.revoke
    #[arg(long, value_name = "ACTION")]
    pub action: Option<String>,
    /// Only actions on this resource
    #[arg(long, value_name = "ID")]
    pub resource: Option<String>,
    /// Only at or after this time, such as 2026-11-20T10:00:00Z
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only before this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Which page.
    #[command(flatten)]
    pub page: PageArgs,
}

/// The arguments of `usage`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  launchway usage
  launchway usage 2026-11")]
pub struct UsageArgs {
    /// Month to show with its quotas, such as 2026-11 [default: a list of months]
    #[arg(value_name = "MONTH", conflicts_with_all = ["limit", "offset"])]
    pub month: Option<String>,
    /// Which page.
    #[command(flatten)]
    pub page: PageArgs,
}
