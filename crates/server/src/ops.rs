//! Every change of state: one transaction, with its audit row and its event in it.

pub mod accounts;
pub mod apps;
pub mod artifacts;
pub mod audit;
pub mod audit_lines;
pub mod build_logs;
pub mod build_secrets;
pub mod builds;
pub mod credentials;
pub mod deliveries;
pub mod env_vars;
pub mod finish;
pub mod keys;
pub mod leases;
pub mod members;
pub mod orgs;
pub mod packages;
pub mod passwords;
pub mod publish;
pub mod runners;
pub mod sessions;
pub mod updates;
pub mod uploads;
pub mod usage;
pub mod webhooks;
pub mod write;
