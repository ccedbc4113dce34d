//! Confirmed removals from the settings: apps, deployment keys, variables, credentials, API keys, runners and invitations.

use super::confirm::{Action, Done, Facts, Requester};
use super::deployment_keys::path_of as path_of_deployment_keys;
use super::env_vars::{revision as revision_of_variable, scope};
use super::form_data::FormData;
use super::frame::Notice;
use super::revision::Revision;
use super::show::{platform, time};

use launchway_api::deployment_keys::DeploymentKeyView;
use launchway_api::env_vars::EnvVarView;
use launchway_api::open;
use launchway_domain::id::{AppId, CredentialId, DeploymentKeyId, EnvVarId, InvitationId, KeyId, RunnerId};
use launchway_domain::time::iso;
use launchway_ops::api_error::ApiError;
use launchway_ops::write::{Target, Write};
use launchway_ops::{api_keys, apps, credentials, deployment_keys, env_vars, members, runners};
use launchway_store::Org;

/// Removes an app from the list.
pub struct DeleteApp;
/// Deletes a deployment key.
pub struct DeleteDeploymentKey;
/// Deletes an environment variable.
pub struct DeleteVariable;
/// Deletes a credential.
pub struct DeleteCredential;
/// Revokes an API key.
pub struct RevokeKey;
/// Revokes a runner.
pub struct RevokeRunner;
/// Revokes an invitation.
pub struct Uninvite;

/// A time that may be missing.
fn time_or(at: Option<i64>, missing: &str) -> String {
    at.map_or_else(|| missing.to_owned(), |at| time(&iso(at)))
}

impl Action for DeleteApp {
    type Id = AppId;

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(DeleteApp)
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: AppId) -> Result<Facts, ApiError> {
        let app = org.app(id).await?.ok_or(ApiError::NoSuch("app"))?;
        let revision = Revision::of(&(id.to_string(), &app.bundle_id, &app.name))?;
        let left = org.app_holdings(&apps::bundle_id(&app.bundle_id)?).await?;
        Ok(Facts::new(format!("Delete {}?", app.bundle_id), "Delete app", revision)
            .on("apps", "/apps", "Apps")
            .says("Removes the app from the list. Its updates are still offered, also to apps that ask with its deployment keys. Its bundle identifier still belongs to this organization.")
            .known("Name", app.name)
            .known("Since", time(&iso(app.created_at)))
            .known("Updates", left.updates)
            .known("Updates still offered", left.offered_updates)
            .known("Deployment keys that stay", left.deployment_keys)
            .known("Builds", left.builds)
            .known("Submissions", left.submissions)
            .danger())
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: AppId) -> Result<Done, ApiError> {
        apps::delete(write, id).await?;
        Ok(Done::new("/apps", Notice::APP_DELETED))
    }
}

impl Action for DeleteDeploymentKey {
    type Id = DeploymentKeyId;

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(DeleteDeploymentKey)
    }

    async fn lock(&self, write: &mut Write<'_>, id: DeploymentKeyId) -> Result<(), ApiError> {
        deployment_keys::lock(write, id).await.map(drop)
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: DeploymentKeyId) -> Result<Facts, ApiError> {
        let key = org
            .deployment_key(id)
            .await?
            .ok_or(ApiError::NoSuch("deployment key"))?;
        let label = key.configuration.as_ref().map(|label| label.as_str());
        let configuration = label.unwrap_or("only updates for every configuration");
        let revision = Revision::of(&DeploymentKeyView::of(&key))?;
        let question = "Delete the deployment key?";
        Ok(Facts::new(question, "Delete deployment key", revision)
            .on("apps", path_of_deployment_keys(&key.bundle_id), "Deployment keys")
            .says("Apps that send this key get no more updates. If some still do, add the same key again.")
            .known("Key", &key.key)
            .known("App", &key.bundle_id)
            .known("Platform", platform(&key.platform))
            .known("Configuration", configuration)
            .known("Since", time(&iso(key.created_at)))
            .danger())
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: DeploymentKeyId) -> Result<Done, ApiError> {
        let key = deployment_keys::delete(write, id).await?;
        let path = path_of_deployment_keys(&key.bundle_id);
        Ok(Done::new(path, Notice::DEPLOYMENT_KEY_DELETED))
    }
}

impl Action for DeleteVariable {
    type Id = EnvVarId;

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(DeleteVariable)
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: EnvVarId) -> Result<Facts, ApiError> {
        let kept = org.env_var(id).await?.ok_or(ApiError::NoSuch("environment variable"))?;
        let variable = kept.variable;
        Ok(Facts::new(
            format!("Delete {}?", variable.name),
            "Delete variable",
            revision_of_variable(&variable)?,
        )
        .on("env", "/env", "Environment")
        .says(format!("Builds that start from now on do not get {}", variable.name))
        .known("For", scope(&EnvVarView::of(&variable, None)))
        .known("Changed", time(&iso(variable.updated_at)))
        .danger())
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: EnvVarId) -> Result<Done, ApiError> {
        env_vars::delete(write, id).await?;
        Ok(Done::new("/env", Notice::VARIABLE_DELETED))
    }
}

impl Action for DeleteCredential {
    type Id = CredentialId;

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(DeleteCredential)
    }

    async fn facts(&self, org: &mut Org<'_>, by: &Requester<'_>, id: CredentialId) -> Result<Facts, ApiError> {
        let credential = org.credential(id).await?.ok_or(ApiError::NoSuch("credential"))?;
        let revision = Revision::of(&(id.to_string(), &credential.name, &credential.fingerprint))?;
        let bundle = credential
            .bundle_id
            .as_ref()
            .map_or("every app", |bundle| bundle.as_str());
        Ok(Facts::new(format!("Delete {}?", credential.name), "Delete credential", revision)
            .on("credentials", "/credentials", "Credentials")
            .says("Builds and submissions that need it fail from now on. It cannot be downloaded, so keep the original file.")
            .known("Kind", super::credentials::label(&open::CredentialKind::of(&credential.kind)))
            .known("For", bundle)
            .known("Status", credential.status(by.now))
            .known("Ends", time_or(credential.expires_at, "never"))
            .danger())
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: CredentialId) -> Result<Done, ApiError> {
        credentials::delete(write, id).await?;
        Ok(Done::new("/credentials", Notice::CREDENTIAL_DELETED))
    }
}

impl Action for RevokeKey {
    type Id = KeyId;

    fn target(id: KeyId) -> Option<Target> {
        Some(Target::Key(id))
    }

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(RevokeKey)
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: KeyId) -> Result<Facts, ApiError> {
        let key = org.key(id).await?.ok_or(ApiError::NoSuch("API key"))?;
        let revision = Revision::of(&(id.to_string(), &key.name, key.revoked_at))?;
        let scopes: Vec<_> = key.scopes.iter().map(ToString::to_string).collect();
        Ok(Facts::new(format!("Revoke {}?", key.name), "Revoke key", revision)
            .on("api-keys", "/api-keys", "API keys")
            .says(format!(
                "Requests with {} are refused immediately. This cannot be undone.",
                key.name
            ))
            .known("Starts with", key.prefix)
            .known("Scopes", scopes.join(", "))
            .known("Last used", time_or(key.last_used_at, "never"))
            .known("Created", time(&iso(key.created_at)))
            .danger())
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: KeyId) -> Result<Done, ApiError> {
        api_keys::revoke(write, id).await?;
        Ok(Done::new("/api-keys", Notice::KEY_REVOKED))
    }
}

impl Action for RevokeRunner {
    type Id = RunnerId;

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(RevokeRunner)
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: RunnerId) -> Result<Facts, ApiError> {
        let runner = org.runner(id).await?.ok_or(ApiError::NoSuch("runner"))?;
        let revision = Revision::of(&(id.to_string(), &runner.name, runner.revoked_at))?;
        Ok(
            Facts::new(format!("Revoke {}?", runner.name), "Revoke runner", revision)
                .on("runners", "/runners", "Runners")
                .says(format!(
                    "{} is revoked. Its current builds go back to the queue at once.",
                    runner.name
                ))
                .known("Labels", runner.labels.join(", "))
                .known("Slots", runner.slots)
                .known("Last seen", time(&iso(runner.last_seen_at)))
                .danger(),
        )
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: RunnerId) -> Result<Done, ApiError> {
        let files = runners::revoke(write, id).await?;
        Ok(Done::new("/runners", Notice::RUNNER_REVOKED).without(files))
    }
}

impl Action for Uninvite {
    type Id = InvitationId;

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(Uninvite)
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: InvitationId) -> Result<Facts, ApiError> {
        let invitation = org.invitation(id).await?.ok_or(ApiError::NoSuch("invitation"))?;
        let revision = Revision::of(&(id.to_string(), invitation.accepted_at))?;
        Ok(Facts::new("Revoke the invitation?", "Revoke invitation", revision)
            .on("members", "/members", "Members")
            .says(format!("The link that {} has stops working", invitation.email))
            .known("Role", invitation.role)
            .known("Expires", time(&iso(invitation.expires_at)))
            .danger())
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: InvitationId) -> Result<Done, ApiError> {
        members::uninvite(write, id).await?;
        Ok(Done::new("/members", Notice::UNINVITED))
    }
}
