//! The names of users, keys, runners and credentials by their ids, for people who read ids elsewhere.

use std::collections::BTreeMap;
use std::str::FromStr;

use launchway_domain::id::{CredentialId, KeyId, RunnerId, UserId};
use launchway_ops::api_error::ApiError;
use launchway_store::Org;

/// The name of each of these ids that has one in the organization, revoked keys and runners included. Former members have
/// none.
pub async fn names_of(org: &mut Org<'_>, ids: &[&str]) -> Result<BTreeMap<String, String>, ApiError> {
    let emails = org.member_emails(&of_kind::<UserId>(ids)).await?;
    let keys = org.key_names(&of_kind::<KeyId>(ids)).await?;
    let runners = org.runner_names(&of_kind::<RunnerId>(ids)).await?;
    let credentials = org.credential_names(&of_kind::<CredentialId>(ids)).await?;
    let emails = emails.into_iter().map(|(id, name)| (id.to_string(), name));
    let keys = keys.into_iter().map(|(id, name)| (id.to_string(), name));
    let runners = runners.into_iter().map(|(id, name)| (id.to_string(), name));
    let credentials = credentials.into_iter().map(|(id, name)| (id.to_string(), name));
    Ok(emails.chain(keys).chain(runners).chain(credentials).collect())
}

/// The ids of one kind.
fn of_kind<T: FromStr>(ids: &[&str]) -> Vec<T> {
    ids.iter().filter_map(|id| id.parse().ok()).collect()
}
