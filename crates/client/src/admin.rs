//! The calls for administration: apps, deployment keys, environment variables, API keys, webhooks, credentials, the organization, its audit log
//! and its usage.

use launchway_api::apps::{AppView, CreateApp, DeletedApp};
use launchway_api::audit::AuditView;
use launchway_api::credentials::{CreateCredential, CredentialTaken, CredentialView};
use launchway_api::deployment_keys::{CreateDeploymentKey, DeploymentKeyView};
use launchway_api::env_vars::{EnvVarView, SetEnvVar};
use launchway_api::keys::{CreateKey, CreatedKey, KeyView};
use launchway_api::lists::{Deleted, Page};
use launchway_api::orgs::{MemberView, OrgView};
use launchway_api::usage::UsageView;
use launchway_api::webhooks::{CreateWebhook, DeliveryView, ReplaceWebhook, WebhookView, WebhookWithSecret};
use reqwest::Method;

use crate::answer::Answer;
use crate::calls::{Paging, query_of};
use crate::client::Client;
use crate::error::Error;

/// Filters for the audit log. An absent filter matches every line.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Only by this user, key, `operator` or `service`.
    pub actor: Option<String>,
    /// Only this action, such as `key.revoke`.
    pub action: Option<String>,
    /// Only on this resource.
    pub resource: Option<String>,
    /// Only from this time on (ISO 8601, inclusive).
    pub since: Option<String>,
    /// Only before this time (ISO 8601, exclusive).
    pub until: Option<String>,
}

impl Client {
    /// `GET /apps`: one page of the apps, newest first.
    pub async fn apps(&self, paging: Paging) -> Result<Answer<Page<AppView>>, Error> {
        self.page("/apps", paging, &[]).await
    }

    /// `GET /apps?id=`: one app.
    pub async fn app(&self, id: &str) -> Result<Answer<AppView>, Error> {
        self.one(Method::GET, "/apps", id).await
    }

    /// `POST /apps`: claims a bundle identifier.
    pub async fn create_app(&self, wanted: &CreateApp) -> Result<Answer<AppView>, Error> {
        self.create("/apps", wanted).await
    }

    /// `DELETE /apps?id=`: removes an app from the list.
    pub async fn delete_app(&self, id: &str) -> Result<Answer<DeletedApp>, Error> {
        self.one(Method::DELETE, "/apps", id).await
    }

    /// `GET /deployment-keys`: one page of the deployment keys of CodePush's clients, newest first, all or only of an app.
    pub async fn deployment_keys(
        &self,
        bundle_id: Option<&str>,
        paging: Paging,
    ) -> Result<Answer<Page<DeploymentKeyView>>, Error> {
        let bundle_id = bundle_id.map(str::to_owned);
        let known = [("bundleId", &bundle_id)];
        self.page("/deployment-keys", paging, &query_of(&known)).await
    }

    /// `POST /deployment-keys`: a new or given deployment key.
    pub async fn create_deployment_key(
        &self,
        wanted: &CreateDeploymentKey,
    ) -> Result<Answer<DeploymentKeyView>, Error> {
        self.create("/deployment-keys", wanted).await
    }

    /// `GET /deployment-keys?id=`: one deployment key.
    pub async fn deployment_key(&self, id: &str) -> Result<Answer<DeploymentKeyView>, Error> {
        self.one(Method::GET, "/deployment-keys", id).await
    }

    /// `DELETE /deployment-keys?id=`: deletes a deployment key.
    pub async fn delete_deployment_key(&self, id: &str) -> Result<Answer<Deleted>, Error> {
        self.one(Method::DELETE, "/deployment-keys", id).await
    }

    /// `GET /env`: one page of the environment variables, newest first.
    pub async fn env_vars(&self, paging: Paging) -> Result<Answer<Page<EnvVarView>>, Error> {
        self.page("/env", paging, &[]).await
    }

    /// `POST /env`: creates a variable, or replaces the one with the same name and scope.
    pub async fn set_env_var(&self, wanted: &SetEnvVar) -> Result<Answer<EnvVarView>, Error> {
        self.create("/env", wanted).await
    }

    /// `DELETE /env?id=`: deletes a variable.
    pub async fn delete_env_var(&self, id: &str) -> Result<Answer<Deleted>, Error> {
        self.one(Method::DELETE, "/env", id).await
    }

    /// `GET /api-keys`: one page of the API keys, newest first.
    pub async fn keys(&self, paging: Paging) -> Result<Answer<Page<KeyView>>, Error> {
        self.page("/api-keys", paging, &[]).await
    }

    /// `GET /api-keys?id=`: the record of one key.
    pub async fn key(&self, id: &str) -> Result<Answer<KeyView>, Error> {
        self.one(Method::GET, "/api-keys", id).await
    }

    /// `POST /api-keys`: creates a key. The answer contains it, unless an earlier attempt of this call created it.
    pub async fn create_key(&self, wanted: &CreateKey) -> Result<Answer<CreatedKey>, Error> {
        self.create("/api-keys", wanted).await
    }

    /// `DELETE /api-keys?id=`: revokes a key.
    pub async fn revoke_key(&self, id: &str) -> Result<Answer<Deleted>, Error> {
        self.one(Method::DELETE, "/api-keys", id).await
    }

    /// `GET /webhooks`: one page of the webhooks, newest first.
    pub async fn webhooks(&self, paging: Paging) -> Result<Answer<Page<WebhookView>>, Error> {
        self.page("/webhooks", paging, &[]).await
    }

    /// `GET /webhooks?id=`: one webhook.
    pub async fn webhook(&self, id: &str) -> Result<Answer<WebhookView>, Error> {
        self.one(Method::GET, "/webhooks", id).await
    }

    /// `POST /webhooks`: creates a webhook. The answer contains its secret, unless an earlier attempt of this call created
    /// it.
    pub async fn create_webhook(&self, wanted: &CreateWebhook) -> Result<Answer<WebhookWithSecret>, Error> {
        self.create("/webhooks", wanted).await
    }

    /// `PUT /webhooks`: replaces the record of a webhook.
    pub async fn replace_webhook(&self, wanted: &ReplaceWebhook) -> Result<Answer<WebhookView>, Error> {
        self.call(Method::PUT, "/webhooks", &[], Some(wanted)).await?.read()
    }

    /// `DELETE /webhooks?id=`: deletes a webhook with its deliveries.
    pub async fn delete_webhook(&self, id: &str) -> Result<Answer<Deleted>, Error> {
        self.one(Method::DELETE, "/webhooks", id).await
    }

    /// `POST /webhooks/rotate-secret?id=`: gives a webhook a new secret.
    pub async fn rotate_webhook_secret(&self, id: &str) -> Result<Answer<WebhookWithSecret>, Error> {
        self.one(Method::POST, "/webhooks/rotate-secret", id).await
    }

    /// `POST /webhooks/test?id=`: sends `webhook.test` to a webhook.
    pub async fn test_webhook(&self, id: &str) -> Result<Answer<DeliveryView>, Error> {
        self.one(Method::POST, "/webhooks/test", id).await
    }

    /// `GET /webhooks/deliveries?id=`: one page of the deliveries to a webhook, newest first.
    pub async fn deliveries(&self, id: &str, paging: Paging) -> Result<Answer<Page<DeliveryView>>, Error> {
        self.page("/webhooks/deliveries", paging, &[("id", id)]).await
    }

    /// `POST /webhooks/redeliver?id=`: sends the event of a delivery once more.
    pub async fn redeliver(&self, id: &str) -> Result<Answer<DeliveryView>, Error> {
        self.one(Method::POST, "/webhooks/redeliver", id).await
    }

    /// `GET /credentials`: one page of the credentials, newest first.
    pub async fn credentials(&self, paging: Paging) -> Result<Answer<Page<CredentialView>>, Error> {
        self.page("/credentials", paging, &[]).await
    }

    /// `GET /credentials?id=`: the metadata of one credential.
    pub async fn credential(&self, id: &str) -> Result<Answer<CredentialView>, Error> {
        self.one(Method::GET, "/credentials", id).await
    }

    /// `POST /credentials`: adds a credential.
    pub async fn create_credential(&self, wanted: &CreateCredential) -> Result<Answer<CredentialTaken>, Error> {
        self.create("/credentials", wanted).await
    }

    /// `POST /credentials/rotate-events-secret?id=`: gives the events of App Store Connect a new secret.
    pub async fn rotate_events_secret(&self, id: &str) -> Result<Answer<CredentialTaken>, Error> {
        self.one(Method::POST, "/credentials/rotate-events-secret", id).await
    }

    /// `DELETE /credentials?id=`: deletes a credential.
    pub async fn delete_credential(&self, id: &str) -> Result<Answer<Deleted>, Error> {
        self.one(Method::DELETE, "/credentials", id).await
    }

    /// `GET /orgs`: one page of the organizations that the caller may use, newest first.
    pub async fn orgs(&self, paging: Paging) -> Result<Answer<Page<OrgView>>, Error> {
        self.page("/orgs", paging, &[]).await
    }

    /// `GET /orgs?id=`: one organization of the caller.
    pub async fn org(&self, id: &str) -> Result<Answer<OrgView>, Error> {
        self.one(Method::GET, "/orgs", id).await
    }

    /// `GET /orgs/members`: one page of the members.
    pub async fn members(&self, paging: Paging) -> Result<Answer<Page<MemberView>>, Error> {
        self.page("/orgs/members", paging, &[]).await
    }

    /// `GET /audit`: one page of the audit log, newest first.
    pub async fn audit(&self, filter: &AuditFilter, paging: Paging) -> Result<Answer<Page<AuditView>>, Error> {
        let known = [
            ("actor", &filter.actor),
            ("action", &filter.action),
            ("resource", &filter.resource),
            ("since", &filter.since),
            ("until", &filter.until),
        ];
        self.page("/audit", paging, &query_of(&known)).await
    }

    /// `GET /usage`: one page of the months with usage, newest first.
    pub async fn usage(&self, paging: Paging) -> Result<Answer<Page<UsageView>>, Error> {
        self.page("/usage", paging, &[]).await
    }

    /// `GET /usage?id=`: the usage of a month, such as `2026-11`.
    pub async fn usage_of(&self, month: &str) -> Result<Answer<UsageView>, Error> {
        self.one(Method::GET, "/usage", month).await
    }
}
