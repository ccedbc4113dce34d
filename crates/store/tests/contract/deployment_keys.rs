//! Deployment keys: unique within an app, and of the app's organization.

use launchway_domain::id::OrgId;
use launchway_domain::platform::Platform;
use launchway_domain::release::DeploymentKey;

use crate::records::{ALL, NOW, an_org, bundle, new_id, unique};

/// A key for production on Android.
pub fn new_deployment_key(org_id: OrgId, bundle_id: &str) -> DeploymentKey {
    DeploymentKey {
        id: new_id(),
        org_id,
        bundle_id: bundle_id.to_owned(),
        platform: Platform::Android,
        configuration: Some("production".parse().unwrap()),
        key: unique("deployment-key"),
        created_by: "operator".to_owned(),
        created_at: NOW,
    }
}

contract! {
    async fn a_deployment_key_is_unique_within_its_app(db: &TestDb) {
        let org = an_org(db).await.id;
        let (app, other) = (bundle("com.example.App"), bundle("com.example.other"));
        let key = new_deployment_key(org, app.as_str());
        assert!(org_writes!(db, org, create_deployment_key(&app, &key)));
        let twin = DeploymentKey { id: new_id(), configuration: None, ..key.clone() };
        assert!(!org_writes!(db, org, create_deployment_key(&bundle("COM.example.app"), &twin)));
        let elsewhere = DeploymentKey { bundle_id: other.to_string(), ..twin };
        assert!(org_writes!(db, org, create_deployment_key(&other, &elsewhere)));
        assert_eq!(org_reads!(db, org, deployment_key(key.id)), Some(key.clone()));
        assert_eq!(org_reads!(db, org, deployment_keys(Some(&app), ALL)).items, std::slice::from_ref(&key));
        assert_eq!(org_reads!(db, org, deployment_keys(None, ALL)).items, [elsewhere, key.clone()]);
        assert!(org_writes!(db, org, delete_deployment_key(key.id)));
        assert!(!org_writes!(db, org, delete_deployment_key(key.id)));
        assert_eq!(org_reads!(db, org, deployment_keys(None, ALL)).total, 1);
    }

    async fn an_app_that_moves_takes_its_keys_along(db: &TestDb) {
        let (from, to) = (an_org(db).await.id, an_org(db).await.id);
        let app = bundle("com.example.app");
        org_writes!(db, from, claim_app(&app, &crate::records::new_app(from, &app)));
        let key = new_deployment_key(from, app.as_str());
        assert!(org_writes!(db, from, create_deployment_key(&app, &key)));
        system_writes!(db, transfer_app(&app, to, NOW));
        assert_eq!(org_reads!(db, from, deployment_keys(None, ALL)).total, 0);
        assert_eq!(org_reads!(db, to, deployment_key(key.id)), Some(DeploymentKey { org_id: to, ..key }));
    }
}
