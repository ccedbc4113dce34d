//! A tenant: an organization with a row in every table that has a tenant.

use launchway_domain::app::{App, Upload};
use launchway_domain::build::{Artifact, Build, Runner, Transition};
use launchway_domain::crash::Stack;
use launchway_domain::credential::Credential;
use launchway_domain::id::{OrgId, SessionId, UserId};
use launchway_domain::org::Invitation;
use launchway_domain::platform::Platform;
use launchway_domain::release::DeploymentKey;
use launchway_domain::report::ReportKind;
use launchway_domain::submission::{Submission, SubmissionFile};
use launchway_domain::tenancy::Role;
use launchway_domain::trust::OnlineKeyState;
use launchway_domain::update::Update;
use launchway_domain::usage::{Counter, Month};
use launchway_domain::webhook::{Delivery, Webhook};
use launchway_domain::webhook_retry::NextStep;
use launchway_store::{
    CrashReport, Db, EventRow, LogSegment, NewKey, NewOnlineKey, NewTrustDraft, OnlineKeyRow, Report, RequestKey,
    SealedEnvVar, StateChange,
};

use crate::audit::{audit_line, link};
use crate::build_outputs::new_artifact;
use crate::builds::{an_archive, keep, new_build};
use crate::credentials::new_credential;
use crate::deliveries::{a_delivery, a_report};
use crate::deployment_keys::new_deployment_key;
use crate::env_vars::env_var;
use crate::expo::an_issue;
use crate::records::{
    NOW, a_user, an_org, an_update, bundle, new_app, new_id, new_invitation, new_key, new_session, new_upload,
};
use crate::releases::a_foreign_id;
use crate::runners::new_runner;
use crate::submissions::{new_file, new_submission};
use crate::trust_drafts::new_draft;
use crate::trust_files::{a_file, add_file};
use crate::trust_online_keys::new_online_key;
use crate::trust_repositories::new_repository;
use crate::webhooks::a_webhook;

/// An organization with a row in every table that has a tenant.
pub struct Tenant {
    pub deployment_key: DeploymentKey,
    pub id: OrgId,
    pub user: UserId,
    pub session: SessionId,
    pub invitation: Invitation,
    pub key: NewKey,
    pub app: App,
    pub upload: Upload,
    pub update: Update,
    pub webhook: Webhook,
    pub delivery: Delivery,
    pub request: RequestKey,
    pub variable: SealedEnvVar,
    pub credential: Credential,
    pub build: Build,
    pub artifact: Artifact,
    pub runner: Runner,
    pub submission: Submission,
    pub file: SubmissionFile,
    pub online_key: OnlineKeyRow,
}

pub async fn a_tenant(db: &Db, bundle_id: &str) -> Tenant {
    let id = an_org(db).await.id;
    let name = bundle(bundle_id);
    let user = a_user(db).await.id;
    org_writes!(db, id, add_member(user, Role::Owner, NOW));
    let session = new_session(user);
    system_writes!(db, create_session(&session, bundle_id));
    let invitation = new_invitation(id);
    org_writes!(db, id, create_invitation(&invitation, bundle_id, "user_x"));
    let key = new_key(id);
    org_writes!(db, id, create_key(&key));
    let app = new_app(id, &name);
    org_writes!(db, id, claim_app(&name, &app));
    org_writes!(db, id, take_turn());
    let upload = new_upload(id);
    org_writes!(db, id, create_upload(&upload, "key_x"));
    let update = an_update(db, id, &name, |_| ()).await;
    org_writes!(db, id, note_build_number(&name, Platform::Ios, 41));
    org_writes!(db, id, keep_fingerprint(&name, "hash", "{}", NOW));
    org_writes!(db, id, pair_fingerprint(&name, "hash", "lwfp-2"));
    a_foreign_id(db, id, &name, update.id, "theirs").await;
    an_issue(db, id, &name, update.id, "theirs", 5).await;
    org_writes!(db, id, set_package_export(update.package_id, "{}"));
    org_writes!(db, id, set_signed_part(update.id, "{}", Some("sealed")));
    let deployment_key = new_deployment_key(id, bundle_id);
    assert!(org_writes!(db, id, create_deployment_key(&name, &deployment_key)));
    let report = Report {
        update_id: update.id,
        kind: ReportKind::Failed,
        device: 1,
        unkeyed: 1,
        at: NOW,
        reason: Some("why".to_owned()),
    };
    system_writes!(db, count_reports(&[report]));
    let crash = CrashReport {
        update_id: update.id,
        device: 1,
        at: NOW,
        stack: Stack::default(),
    };
    system_writes!(db, count_crashes(&[&crash]));
    let event = EventRow {
        id: new_id(),
        kind: "update.published".to_owned(),
        at: NOW,
        data: "{}".to_owned(),
    };
    org_writes!(db, id, add_event(&event));
    org_writes!(db, id, add_audit(&[audit_line("key.create")], link));
    org_writes!(db, id, count_usage(Counter::Updates, Month::of(NOW), 3));
    system_writes!(db, keep_data_key(Some(id), "sealed", NOW));
    let variable = env_var("TOKEN");
    org_writes!(db, id, create_env_var(&variable));
    let webhook = a_webhook(db, id).await;
    let delivery = a_delivery(db, &webhook).await;
    assert!(org_writes!(
        db,
        id,
        report_attempt(&a_report(&delivery, 0, NextStep::RetryAt(NOW)))
    ));
    let delivery = Delivery { tries: 1, ..delivery };
    let mut build = new_build(id);
    build.spec.source = an_archive(THEIR_SOURCE);
    keep(db, &build).await;
    let served = new_build(id);
    keep(db, &served).await;
    let (leased, _) = served.state.apply(Transition::Lease, NOW).unwrap();
    let with = StateChange {
        started_at: Some(NOW),
        ..StateChange::default()
    };
    org_writes!(db, id, set_build_state(served.id, &served.state, &leased, &with));
    org_writes!(db, id, delete_build(served.id));
    org_writes!(db, id, append_log(build.id, 0, b"log"));
    let segment = LogSegment {
        start: 0,
        size: 0,
        blob_key: "logs/x".to_owned(),
        index_size: 0,
    };
    org_writes!(db, id, seal_log_segment(build.id, &segment));
    let artifact = new_artifact(build.id);
    org_writes!(db, id, create_artifact(&artifact));
    let runner = new_runner(Some(id));
    system_writes!(db, create_runner(&runner, &runner.name));
    system_writes!(db, create_runner_token(&runner.name, Some(id), "user_x", NOW, NOW));
    let credential = new_credential(id);
    org_writes!(db, id, create_credential(&credential, "sealed"));
    let submission = Submission {
        bundle_id: bundle_id.to_owned(),
        ..new_submission(id)
    };
    let file = new_file();
    org_writes!(db, id, create_submission(&submission, &name));
    org_writes!(db, id, add_submission_file(submission.id, 0, &file));
    assert!(system_writes!(db, lock_package(&name, submission.id, NOW, NOW + 9)));
    org_writes!(db, id, put_trust_repository(&name, &new_repository(bundle_id)));
    for role in ["root", "timestamp"] {
        add_file(db, id, &a_file(bundle_id, role, 1)).await;
    }
    let draft = new_draft("any");
    org_writes!(
        db,
        id,
        put_trust_draft(&NewTrustDraft {
            bundle: &name,
            draft: &draft
        })
    );
    let online_key = new_online_key(OnlineKeyState::Pending);
    org_writes!(
        db,
        id,
        add_trust_online_key(&NewOnlineKey {
            bundle: &name,
            key: &online_key
        })
    );
    let request = RequestKey {
        caller: "caller".to_owned(),
        method: "POST".to_owned(),
        path: "/api/update".to_owned(),
        key: "key".to_owned(),
        body_hash: "body".to_owned(),
    };
    org_writes!(db, id, claim_answer(&request, NOW, 0));
    org_writes!(db, id, keep_answer(&request, 201, "answer"));
    Tenant {
        deployment_key,
        id,
        user,
        session: session.id,
        invitation,
        key,
        app,
        upload,
        update,
        webhook,
        delivery,
        request,
        variable,
        credential,
        build,
        artifact,
        runner,
        submission,
        file,
        online_key,
    }
}

/// The key of the source of the other tenant's build.
pub const THEIR_SOURCE: &str = "sources/theirs";
