//! HTTP: the front, the route table, admission, one file per URL resource.

pub mod admit;
pub mod check_query;
pub mod cookies;
pub mod endpoint;
pub mod extract;
pub mod front;
pub mod limits;
pub mod openapi;
pub mod router;

mod answers;
mod api_keys;
mod apps;
mod audit;
mod auth;
mod build_log;
mod build_stream;
mod builds;
mod credentials;
mod device_logins;
mod docs;
mod env;
mod health;
mod invitations;
mod later;
mod members;
mod orgs;
mod pages;
mod sessions;
mod update;
mod update_check;
mod update_report;
mod uploads;
mod usage;
mod webhooks;
