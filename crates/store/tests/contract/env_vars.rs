//! Environment variables: one for each name and scope, their values as sealed texts.

use launchway_domain::env_var::{EnvVar, EnvVarKind, EnvVarScope, Visibility};
use launchway_domain::platform::Platform;
use launchway_store::{Paging, SealedEnvVar};

use crate::records::{NOW, an_org, new_id};

const ALL: Paging = Paging { limit: 100, offset: 0 };

/// A variable that applies everywhere.
pub fn env_var(name: &str) -> SealedEnvVar {
    SealedEnvVar {
        variable: EnvVar {
            id: new_id(),
            name: name.to_owned(),
            kind: EnvVarKind::Variable,
            path: None,
            visibility: Visibility::Secret,
            scope: EnvVarScope::default(),
            created_by: "operator".to_owned(),
            created_at: NOW,
            updated_at: NOW,
        },
        sealed: "AQ+/x".to_owned(),
    }
}

fn scope(bundle: Option<&str>, configurations: &[&str], platforms: &[Platform]) -> EnvVarScope {
    EnvVarScope::new(
        bundle.map(|bundle| bundle.parse().unwrap()),
        configurations.iter().map(|label| label.parse().unwrap()).collect(),
        platforms.to_vec(),
    )
}

contract! {
    async fn keeps_every_field(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut file = env_var("GOOGLE_SERVICES");
        file.variable.kind = EnvVarKind::File;
        file.variable.path = Some("android/app/google-services.json".to_owned());
        file.variable.visibility = Visibility::Plain;
        file.variable.scope = scope(Some("com.Example.app"), &["staging", "a.b-c_d"], &[Platform::Visionos, Platform::Ios]);
        let plain = env_var("PLAIN");
        org_writes!(db, org, create_env_var(&file));
        org_writes!(db, org, create_env_var(&plain));
        assert_eq!(org_reads!(db, org, env_var(file.variable.id)), Some(file.clone()));
        let listed = org_reads!(db, org, env_vars(ALL));
        assert_eq!((listed.items, listed.total), (vec![plain.clone(), file.clone()], 2));
        let second = org_reads!(db, org, env_vars(Paging { limit: 1, offset: 1 }));
        assert_eq!((second.items, second.total), (vec![file.clone()], 2));
        assert!(org_writes!(db, org, delete_env_var(file.variable.id)));
        assert!(!org_writes!(db, org, delete_env_var(file.variable.id)));
        assert_eq!(org_reads!(db, org, env_var(file.variable.id)), None);
        assert_eq!(org_reads!(db, org, env_var(plain.variable.id)), Some(plain));
    }

    async fn is_found_by_name_and_exact_scope(db: &TestDb) {
        let org = an_org(db).await.id;
        let scopes = [
            scope(None, &[], &[]),
            scope(Some("com.example.app"), &[], &[]),
            scope(None, &["production"], &[]),
            scope(None, &["production", "staging"], &[]),
            scope(None, &[], &[Platform::Ios]),
            scope(Some("com.example.app"), &["production"], &[Platform::Ios]),
        ];
        let mut made = Vec::new();
        for scope in &scopes {
            let mut new = env_var("TOKEN");
            new.variable.scope = scope.clone();
            org_writes!(db, org, create_env_var(&new));
            made.push(new);
        }
        for new in &made {
            assert_eq!(org_reads!(db, org, env_var_at("TOKEN", &new.variable.scope)).as_ref(), Some(new));
        }
        assert_eq!(org_reads!(db, org, env_var_at("token", &scopes[0])), None);
        assert_eq!(org_reads!(db, org, env_var_at("TOKEN", &scope(None, &["staging"], &[]))), None);
        // Bundle ids are equal regardless of letter case; configurations are not.
        let shouted = scope(Some("COM.EXAMPLE.APP"), &[], &[]);
        assert_eq!(org_reads!(db, org, env_var_at("TOKEN", &shouted)).as_ref(), Some(&made[1]));
        assert_eq!(org_reads!(db, org, env_var_at("TOKEN", &scope(None, &["Production"], &[]))), None);
    }

    async fn a_replaced_one_keeps_its_place(db: &TestDb) {
        let org = an_org(db).await.id;
        let old = env_var("TOKEN");
        org_writes!(db, org, create_env_var(&old));
        let mut new = old.clone();
        new.variable.kind = EnvVarKind::File;
        new.variable.path = Some("x".to_owned());
        new.variable.visibility = Visibility::Plain;
        new.variable.updated_at = NOW + 1;
        new.sealed = "other".to_owned();
        org_writes!(db, org, replace_env_var(&new));
        assert_eq!(org_reads!(db, org, env_var(old.variable.id)), Some(new));
    }
}
