//! Every change of state: one transaction, with its audit row and its event in it.

pub mod accounts;
pub mod apps;
pub mod audit;
pub mod audit_lines;
pub mod builds;
pub mod credentials;
pub mod deliveries;
pub mod device_logins;
pub mod env_vars;
pub mod keys;
pub mod members;
pub mod orgs;
pub mod packages;
pub mod passwords;
pub mod publish;
pub mod sessions;
pub mod updates;
pub mod uploads;
pub mod usage;
pub mod webhooks;
pub mod write;
