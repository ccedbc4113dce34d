//! The isolation of organizations: [`Org`](launchway_store::Org) neither reads nor changes rows of another organization.

use launchway_domain::app::{Package, Upload};
use launchway_domain::build::{Build, Transition};
use launchway_domain::id::OrgId;
use launchway_domain::platform::Platform;
use launchway_domain::release::{Protocol, Sequence};
use launchway_domain::report::ReportKind;
use launchway_domain::rollout::Rollout;
use launchway_domain::submission::Submission;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::trust::OnlineKeyState;
use launchway_domain::update::UpdateStatus;
use launchway_domain::usage::{Counter, Month};
use launchway_domain::webhook::{Delivery, Webhook};
use launchway_domain::webhook_retry::NextStep;
use launchway_store::{
    AppHoldings, AuditFilter, BuildFilter, Claim, EventRow, IssueGroup, LogSegment, NamedTarget, NewForeignId,
    NewIssue, NewTrustDraft, NewTrustFile, NewUpdate, StateChange, StoreError, SubmissionFilter, UpdateChange,
    UpdateFilter, WebhookSecrets,
};

use crate::audit::{audit_line, link};
use crate::database::TestDb;
use crate::deliveries::{a_report, new_delivery};
use crate::records::{ALL, NOW, an_org, an_update, bundle, new_app, new_id, new_invitation, new_key, new_upload};
use crate::submissions::new_file;
use crate::tenants::{THEIR_SOURCE, a_tenant};
use crate::trust_drafts::new_draft;
use crate::trust_files::REPOSITORY;
use crate::trust_repositories::new_repository;
use crate::webhooks::{new_webhook, plain_url};

/// Every row of the database except those of one organization, and except the revisions, which belong to nobody.
async fn rows_of_others(db: &TestDb, org: OrgId) -> Vec<(String, Vec<String>)> {
    let id = org.to_string();
    let mut tables = Vec::new();
    for table in db.tables().await {
        if table == "revision" || table == "changes" {
            continue;
        }
        let mut rows = db.rows_of(&table).await;
        rows.retain(|row| !row.split('|').any(|value| value == id));
        tables.push((table, rows));
    }
    tables
}

contract! {
    async fn rows_of_others_are_not_seen(db: &TestDb) {
        let theirs = a_tenant(db, "com.example.theirs").await;
        let org = an_org(db).await.id;
        assert_eq!(org_reads!(db, org, member(theirs.user)), None);
        assert_eq!(org_reads!(db, org, members(ALL)).total, 0);
        assert!(org_reads!(db, org, members(ALL)).items.is_empty());
        assert!(!org_reads!(db, org, is_active_key(theirs.key.key.id, NOW)));
        assert_eq!(org_reads!(db, org, browser_key_role(theirs.key.key.id, NOW)), None);
        assert!(org_reads!(db, org, browser_keys(theirs.user, NOW)).is_empty());
        assert!(org_reads!(db, org, keys_made_by(theirs.user, NOW, 9)).is_empty());
        assert!(org_reads!(db, org, runners_made_by(theirs.user, 9)).is_empty());
        assert!(org_reads!(db, org, keys_of_former_admins(NOW, 9)).is_empty());
        assert_eq!(org_reads!(db, org, session_role(theirs.session, NOW)), None);
        assert_eq!(org_reads!(db, org, invitation(theirs.invitation.id)), None);
        assert_eq!(org_reads!(db, org, invitations(ALL)).total, 0);
        assert!(org_reads!(db, org, invitations(ALL)).items.is_empty());
        assert_eq!(org_reads!(db, org, key(theirs.key.key.id)), None);
        assert_eq!(org_reads!(db, org, keys(ALL)).total, 0);
        assert!(org_reads!(db, org, keys(ALL)).items.is_empty());
        assert_eq!(org_reads!(db, org, app(theirs.app.id)), None);
        assert_eq!(org_reads!(db, org, app_by_bundle(&bundle("com.example.theirs"))), None);
        assert!(org_reads!(db, org, is_foreign_app(&bundle("com.example.theirs"))), "that somebody has it, not who");
        assert_eq!(org_reads!(db, org, apps(ALL)).total, 0);
        assert!(org_reads!(db, org, apps(ALL)).items.is_empty());
        assert_eq!(org_reads!(db, org, upload(theirs.upload.id)), None);
        assert!(org_reads!(db, org, update(theirs.update.id)).is_none());
        let filter = UpdateFilter { bundle: Some(bundle("com.example.theirs")), ..Default::default() };
        for filter in [filter, UpdateFilter::default()] {
            let rows = org_reads!(db, org, updates(&filter, ALL));
            assert_eq!((rows.items.len(), rows.total), (0, 0));
        }
        let build = theirs.build.id;
        assert_eq!(org_reads!(db, org, build(build)), None);
        assert_eq!(org_reads!(db, org, builds(&BuildFilter::default(), ALL)).total, 0);
        assert!(org_reads!(db, org, builds(&BuildFilter::default(), ALL)).items.is_empty());
        assert_eq!(org_reads!(db, org, queue_front(9)), []);
        assert_eq!(org_reads!(db, org, count_queued(9)), 0);
        assert_eq!(org_reads!(db, org, count_running(9)), 0);
        assert_eq!(org_reads!(db, org, queue_share(9)), []);
        assert_eq!(org_reads!(db, org, log_tail(build, 0, 10)), []);
        assert_eq!(org_reads!(db, org, log_segments(build)), []);
        assert_eq!(org_reads!(db, org, withheld_log(build)), None);
        assert_eq!(org_reads!(db, org, log_tail_start(build)), 0);
        assert_eq!(org_reads!(db, org, log_segments_from(build, 0, 9)), []);
        assert!(!org_reads!(db, org, has_source(THEIR_SOURCE)));
        assert_eq!(org_reads!(db, org, artifact(theirs.artifact.id)), None);
        assert_eq!(org_reads!(db, org, artifacts(build)), []);
        assert_eq!(org_reads!(db, org, runner(theirs.runner.id)), None);
        assert_eq!(org_reads!(db, org, builds_of_runner(theirs.runner.id)), []);
        assert!(org_reads!(db, org, runner_names(&[theirs.runner.id])).is_empty());
        assert!(org_reads!(db, org, member_emails(&[theirs.user])).is_empty());
        assert!(org_reads!(db, org, key_names(&[theirs.key.key.id])).is_empty());
        assert!(org_reads!(db, org, artifacts_of_builds(&[build])).is_empty());
        assert!(org_reads!(db, org, runners(ALL)).items.is_empty());
        assert!(org_reads!(db, org, live_runner_labels(0, None, 9)).is_empty());
        let submission = theirs.submission.id;
        assert_eq!(org_reads!(db, org, submission(submission)), None);
        let submissions = org_reads!(db, org, submissions(&SubmissionFilter::default(), ALL));
        assert_eq!((submissions.items, submissions.total), (vec![], 0));
        assert_eq!(org_reads!(db, org, submission_files(submission)), []);
        let (bundle_id, sha256) = (bundle(&theirs.submission.bundle_id), &theirs.submission.sha256);
        let of_binary = org_reads!(db, org, submissions_of_binary(&bundle_id, theirs.submission.platform, sha256));
        assert_eq!(of_binary, []);
        assert_eq!(org_reads!(db, org, submissions_under_way(theirs.submission.store())), []);
        let name = bundle("com.example.theirs");
        assert_eq!(org_reads!(db, org, submitted_binaries(&name, theirs.submission.platform, new_id())), []);
        assert_eq!(org_reads!(db, org, credential(theirs.credential.id)), None);
        assert_eq!(org_reads!(db, org, sealed_credential(theirs.credential.id)), None);
        assert!(org_reads!(db, org, credential_names(&[theirs.credential.id])).is_empty());
        assert_eq!(org_reads!(db, org, credentials(ALL)).total, 0);
        assert!(org_reads!(db, org, credentials(ALL)).items.is_empty());
        assert_eq!(org_reads!(db, org, env_var(theirs.variable.variable.id)), None);
        assert_eq!(org_reads!(db, org, env_var_at("TOKEN", &theirs.variable.variable.scope)), None);
        assert_eq!(org_reads!(db, org, env_vars(ALL)).total, 0);
        assert!(org_reads!(db, org, env_vars(ALL)).items.is_empty());
        assert_eq!(org_reads!(db, org, report_counts(theirs.update.id)), []);
        assert!(org_reads!(db, org, report_counts_of(&[theirs.update.id])).is_empty());
        assert!(org_reads!(db, org, configurations()).is_empty());
        assert_eq!(org_reads!(db, org, report_days(theirs.update.id)), []);
        let app = bundle("com.example.theirs");
        assert_eq!(org_reads!(db, org, widest_reach(&app, theirs.update.platform, theirs.update.configuration.as_ref())), None);
        assert_eq!(org_reads!(db, org, report_reasons(theirs.update.id)), []);
        assert_eq!(org_reads!(db, org, crash_groups(theirs.update.id)), []);
        assert_eq!(org_reads!(db, org, audit(&AuditFilter::default(), ALL)).items, []);
        assert_eq!(org_reads!(db, org, webhook(theirs.webhook.id)), None);
        assert_eq!(org_reads!(db, org, webhooks(ALL)).total, 0);
        assert!(org_reads!(db, org, webhooks(ALL)).items.is_empty());
        assert_eq!(org_writes!(db, org, active_webhooks()), []);
        assert_eq!(org_reads!(db, org, webhook_secrets(theirs.webhook.id)), None);
        assert_eq!(org_reads!(db, org, webhook_url(theirs.webhook.id)), None);
        assert_eq!(org_reads!(db, org, app_holdings(&name)), AppHoldings::default());
        assert_eq!(org_reads!(db, org, delivery(theirs.delivery.id)), None);
        let deliveries = org_reads!(db, org, deliveries(theirs.webhook.id, ALL));
        assert_eq!((deliveries.items, deliveries.total), (vec![], 0));
        assert!(org_reads!(db, org, last_deliveries(&[theirs.webhook.id])).is_empty());
        assert!(org_reads!(db, org, delivery_attempts(&[theirs.delivery.id])).is_empty());
        assert_eq!(org_reads!(db, org, kept_answer(&theirs.request, 0)), None);
        assert_eq!(org_reads!(db, org, usage_of(Month::of(NOW))), None);
        assert_eq!((org_reads!(db, org, stored_bytes()), org_reads!(db, org, claimed_bundles())), (0, 0));
        assert!(!org_reads!(db, org, has_claimed(&bundle("com.example.theirs"))));
        let months = org_reads!(db, org, usage(ALL));
        assert_eq!((months.items.len(), months.total), (0, 0));
        assert_eq!(org_reads!(db, new_id(), record()), None);
        assert_eq!(org_reads!(db, org, trust_repository(&name)), None);
        assert_eq!(org_reads!(db, org, trust_file(&name, REPOSITORY, "root")), None);
        assert_eq!(org_reads!(db, org, trust_files(&name, REPOSITORY)), []);
        assert_eq!(org_reads!(db, org, trust_roots(&name, REPOSITORY, 1, 9)), []);
        assert_eq!(org_reads!(db, org, trust_draft(&name, "any")), None);
        assert_eq!(org_reads!(db, org, trust_drafts(&name)), []);
        assert_eq!(org_reads!(db, org, trust_online_key(&name, OnlineKeyState::Pending)), None);
        assert!(org_reads!(db, org, awaiting_updates(&name, "any")).is_empty());
        assert!(org_reads!(db, org, updates_of_package(&name, &theirs.update.sha256)).is_empty());
        let target = NamedTarget {
            bundle: &name,
            platform: theirs.update.platform,
            configuration: theirs.update.configuration.as_ref(),
            version: &theirs.update.version,
            build: theirs.update.build_number.value(),
        };
        assert!(org_reads!(db, org, update_of_target(&target)).is_none());
        assert_eq!(org_reads!(db, org, foreign_ids(theirs.update.id)), []);
        let group = IssueGroup { bundle: &name, platform: Platform::Ios, runtime_version: None, configuration: None };
        assert_eq!(org_reads!(db, org, newest_issue(&group)), None);
        assert!(org_reads!(db, org, reissuable(&group)).is_empty());
        assert_eq!(org_reads!(db, org, package_export(theirs.update.package_id)), None);
        assert_eq!(org_reads!(db, org, signed_part(theirs.update.id)), None);
        assert!(org_reads!(db, org, updates_with_undo(&name)).is_empty());
        assert_eq!(org_reads!(db, org, highest_foreign_id(Protocol::Capgo, &name, Platform::Ios)), None);
        assert_eq!(org_reads!(db, org, deployment_key(theirs.deployment_key.id)), None);
        assert_eq!(org_reads!(db, org, deployment_keys(None, ALL)).total, 0);
        assert!(org_reads!(db, org, deployment_keys(Some(&name), ALL)).items.is_empty());
    }

    async fn their_own_rows_are_seen(db: &TestDb) {
        let theirs = a_tenant(db, "com.example.theirs").await;
        a_tenant(db, "com.example.ours").await;
        let org = theirs.id;
        assert_eq!(org_reads!(db, org, members(ALL)).total, 1);
        assert_eq!(org_reads!(db, org, invitations(ALL)).items, [theirs.invitation]);
        assert_eq!(org_reads!(db, org, key_names(&[theirs.key.key.id]))[&theirs.key.key.id], theirs.key.key.name);
        assert_eq!(org_reads!(db, org, keys(ALL)).items, [theirs.key.key]);
        assert_eq!(org_reads!(db, org, apps(ALL)).items, [theirs.app]);
        let held = org_reads!(db, org, app_holdings(&bundle("com.example.THEIRS")));
        assert_eq!(held.updates, 1);
        assert!(org_reads!(db, org, upload(theirs.upload.id)).is_some());
        assert_eq!(org_reads!(db, org, updates(&UpdateFilter::default(), ALL)).items[0].id, theirs.update.id);
        assert_eq!(org_reads!(db, org, report_counts(theirs.update.id)), [(ReportKind::Failed, 1)]);
        assert_eq!(org_reads!(db, org, report_days(theirs.update.id)).len(), 1);
        assert_eq!(org_reads!(db, org, report_reasons(theirs.update.id)).len(), 1);
        assert_eq!(org_reads!(db, org, crash_groups(theirs.update.id)).len(), 1);
        assert_eq!(org_reads!(db, org, audit(&AuditFilter::default(), ALL)).total, 1);
        assert_eq!(org_reads!(db, org, usage(ALL)).total, 1);
        assert_eq!(org_reads!(db, org, delivery_attempts(&[theirs.delivery.id]))[&theirs.delivery.id].len(), 1);
        assert_eq!(org_reads!(db, org, last_deliveries(&[theirs.webhook.id]))[&theirs.webhook.id], theirs.delivery);
        assert_eq!(org_reads!(db, org, runner_names(&[theirs.runner.id]))[&theirs.runner.id], theirs.runner.name);
        assert_eq!(org_reads!(db, org, member_emails(&[theirs.user])).len(), 1);
        assert_eq!(org_reads!(db, org, artifacts_of_builds(&[theirs.build.id]))[&theirs.build.id], [theirs.artifact]);
        assert_eq!(org_reads!(db, org, deliveries(theirs.webhook.id, ALL)).items, [theirs.delivery]);
        assert_eq!(org_reads!(db, org, webhooks(ALL)).items, [theirs.webhook]);
        assert!(org_reads!(db, org, kept_answer(&theirs.request, 0)).is_some());
    }

    /// Every changing call, with ids of another organization: as if they named nothing.
    async fn rows_of_others_are_not_changed(db: &TestDb) {
        let theirs = a_tenant(db, "com.example.theirs").await;
        let ours = a_tenant(db, "com.example.ours").await;
        let org = ours.id;
        let name = bundle("com.Example.Theirs");
        let before = rows_of_others(db, org).await;
        assert!(before.iter().all(|(table, rows)| !rows.is_empty() || table == "rate_counts" || no_tenant(table)));

        org_writes!(db, org, rename("ours"));
        org_writes!(db, org, set_tier(Tier::Free));
        org_writes!(db, org, lock());
        assert_eq!(org_writes!(db, org, set_role(theirs.user, Role::Member)), Ok(()));
        assert_eq!(org_writes!(db, org, remove_member(theirs.user)), Ok(()));
        let labels = ["os=linux".to_owned()];
        let next = org_writes!(db, org, next_queued(&labels));
        assert!(next.is_none_or(|(_, build)| build.org_id == org));
        org_writes!(db, org, lock_member(theirs.user));
        org_writes!(db, org, lock_key(theirs.key.key.id));
        assert_eq!(org_writes!(db, org, hold_member(theirs.user)), None);
        assert!(!org_writes!(db, org, hold_key(theirs.key.key.id, NOW)));
        assert_eq!(org_writes!(db, org, hold_session(theirs.session, NOW)), None);
        let their_address = Some(theirs.invitation.email.as_str());
        assert!(org_writes!(db, org, end_invitations(theirs.user, their_address)).is_empty());
        assert_eq!(org_writes!(db, org, end_runner_tokens(theirs.user)), 0);
        assert!(org_writes!(db, org, end_device_logins(theirs.user)).is_empty());
        assert!(!org_writes!(db, org, delete_invitation(theirs.invitation.id)));
        assert!(!org_writes!(db, org, revoke_key(theirs.key.key.id, NOW)));
        assert_eq!(org_writes!(db, org, claim_app(&name, &new_app(org, &name))), Claim::Foreign);
        assert!(!org_writes!(db, org, delete_app(theirs.app.id, NOW)));
        assert!(!org_writes!(db, org, use_upload(theirs.upload.id)));
        let change = UpdateChange {
            status: UpdateStatus::Withdrawn,
            rollout: Rollout::new(1).unwrap(),
            mandatory: true,
            release_notes: "ours".to_owned(),
        };
        org_writes!(db, org, change_update(theirs.update.id, &change));
        org_writes!(db, org, delete_update(&theirs.update, NOW));
        assert_eq!(org_writes!(db, org, next_sequence(&name, Platform::Ios, None)), Sequence::new(1));
        let stolen = NewForeignId {
            protocol: Protocol::Capgo,
            bundle: &name,
            platform: Platform::Ios,
            id: &"theirs".parse().unwrap(),
            update_id: ours.update.id,
            file_hash: None,
        };
        assert!(!org_writes!(db, org, add_foreign_id(&stolen)));
        org_writes!(db, org, move_foreign_id(&stolen));
        let taken = NewIssue {
            bundle: &name,
            platform: Platform::Ios,
            update_id: ours.update.id,
            id: "theirs",
            created_at: NOW,
            undoes: None,
        };
        assert!(!org_writes!(db, org, add_issue(&taken)));
        org_writes!(db, org, set_package_export(theirs.update.package_id, "ours"));
        org_writes!(db, org, set_signed_part(theirs.update.id, "ours", None));
        org_writes!(db, org, set_undo(theirs.update.id, "ours"));
        assert!(!org_writes!(db, org, delete_deployment_key(theirs.deployment_key.id)));
        let mut variable = theirs.variable.clone();
        variable.sealed = "ours".to_owned();
        org_writes!(db, org, replace_env_var(&variable));
        let build = &theirs.build;
        let (leased, _) = build.state.apply(Transition::Lease, NOW).unwrap();
        assert_eq!(org_writes!(db, org, lock_build(build.id)), None);
        assert_eq!(org_reads!(db, org, newest_build_with_fingerprint(&name, build.platform, None)), None);
        assert_eq!(org_reads!(db, org, fingerprint_document(&name, "hash")), None);
        assert_eq!(org_reads!(db, org, paired_fingerprint(&name, "hash")), None);
        assert!(!org_writes!(db, org, set_build_state(build.id, &build.state, &leased, &StateChange::default())));
        org_writes!(db, org, update_build(&Build { warnings: vec!["ours".to_owned()], ..build.clone() }));
        org_writes!(db, org, set_build_configuration(build.id, Some(&"ours".parse().unwrap())));
        assert!(!org_writes!(db, org, delete_build(build.id)));
        org_writes!(db, org, clear_build(build.id, &["ours".to_owned()], NOW));
        org_writes!(db, org, append_log(build.id, 3, b"ours"));
        org_writes!(db, org, seal_log_segment(build.id, &LogSegment { start: 1, size: 9, blob_key: "ours".to_owned(), index_size: 0 }));
        org_writes!(db, org, set_withheld_log(build.id, 4, b"ours"));
        org_writes!(db, org, forget_artifact(theirs.artifact.id));
        org_writes!(db, org, store_artifact(theirs.artifact.id, "ours", None));
        assert!(!org_writes!(db, org, revoke_runner(theirs.runner.id, NOW)));
        let submission = theirs.submission.id;
        assert_eq!(org_writes!(db, org, lock_submission(submission)), None);
        org_writes!(db, org, change_submission(&Submission { rollout: 1, ..theirs.submission.clone() }));
        org_writes!(db, org, hold_submission(submission, Some(NOW + 1)));
        org_writes!(db, org, add_submission_file(submission, 1, &new_file()));
        org_writes!(db, org, forget_submission_files(submission));
        org_writes!(db, org, make_submission_due(submission, NOW - 1));
        assert!(!org_writes!(db, org, delete_submission(submission)));
        assert!(!org_writes!(db, org, delete_credential(theirs.credential.id)));
        assert!(!org_writes!(db, org, record_expiry_notice(theirs.credential.id, 7)));
        assert_eq!(org_writes!(db, org, rotate_store_events(theirs.credential.id, NOW)), None);
        assert!(!org_writes!(db, org, delete_env_var(variable.variable.id)));
        org_writes!(db, org, touch_updates(&name, NOW));
        org_writes!(db, org, note_build_number(&name, Platform::Ios, 1000));
        org_writes!(db, org, note_build_number(&name, Platform::Android, 1000));
        org_writes!(db, org, keep_fingerprint(&name, "other hash", "{}", NOW));
        assert!(!org_writes!(db, org, pair_fingerprint(&name, "hash", "ours")));
        for platform in [Platform::Ios, Platform::Android] {
            let mut tx = db.write().await.unwrap();
            let refused = tx.org(org).next_build_number(&name, platform).await;
            assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
        }
        assert!(org_writes!(db, org, claim_answer(&theirs.request, NOW, NOW)));
        org_writes!(db, org, keep_answer(&theirs.request, 200, "ours"));
        assert_eq!(org_writes!(db, org, count_usage(Counter::Updates, Month::of(NOW), 1)), 4);
        org_writes!(db, org, take_turn());
        assert_eq!(org_writes!(db, org, lock_webhook(theirs.webhook.id)), None);
        org_writes!(db, org, change_webhook(&Webhook { name: "ours".to_owned(), ..theirs.webhook.clone() }));
        let secrets = WebhookSecrets { sealed: "ours".to_owned(), old: vec![] };
        org_writes!(db, org, set_webhook_secrets(theirs.webhook.id, &secrets));
        org_writes!(db, org, set_webhook_url(theirs.webhook.id, &plain_url(), "ours"));
        assert!(!org_writes!(db, org, delete_webhook(theirs.webhook.id)));
        assert!(!org_writes!(db, org, add_delivery(&new_delivery(&theirs.webhook))));
        assert!(!org_writes!(db, org, report_attempt(&a_report(&theirs.delivery, 0, NextStep::Done))));
        assert_eq!(org_writes!(db, org, cancel_deliveries(theirs.webhook.id, "ours")), 0);
        let file = NewTrustFile {
            bundle: &name,
            repository: REPOSITORY,
            role: "root",
            version: 2,
            content: "ours",
            expires_at: NOW,
            accepted_at: NOW,
            accepted_by: "key_x",
        };
        let mut tx = db.write().await.unwrap();
        let refused = tx.org(org).add_trust_file(&file).await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
        drop(tx);
        assert!(!org_writes!(db, org, put_trust_repository(&name, &new_repository("com.example.theirs"))));
        let draft = new_draft("any");
        assert!(!org_writes!(db, org, put_trust_draft(&NewTrustDraft { bundle: &name, draft: &draft })));
        assert!(!org_writes!(db, org, delete_trust_draft(&name, "any")));
        assert!(!org_writes!(db, org, set_trust_notice(&name, "root", 1, None)));
        org_writes!(db, org, retire_trust_repository(&name, REPOSITORY));
        org_writes!(db, org, delete_trust_files_from(&name, REPOSITORY, "root", 1));
        assert!(!org_writes!(db, org, set_trust_online_key_state(&theirs.online_key.id, OnlineKeyState::Current)));
        org_writes!(db, org, delete_pending_trust_online_keys(&name));
        org_writes!(db, org, set_package_manifest(theirs.update.package_id, "ours"));

        assert_eq!(rows_of_others(db, org).await, before);
    }

    /// An update that waits is neither released nor withdrawn by another.
    async fn the_wait_of_others_is_not_ended(db: &TestDb) {
        let theirs = an_org(db).await.id;
        let org = an_org(db).await.id;
        let name = bundle("com.example.theirs");
        let waiting = an_update(db, theirs, &name, |update| update.status = UpdateStatus::AwaitingSignature).await;
        assert!(!org_writes!(db, org, release_update(waiting.id, NOW)));
        assert!(!org_writes!(db, org, withdraw_awaiting_update(waiting.id)));
        let kept = org_reads!(db, theirs, update(waiting.id)).unwrap();
        assert_eq!(kept.status, UpdateStatus::AwaitingSignature);
    }

    /// What is created through [`Org`](launchway_store::Org) belongs to its organization, whatever the record says.
    async fn what_is_made_belongs_to_who_made_it(db: &TestDb) {
        let theirs = a_tenant(db, "com.example.theirs").await;
        let org = an_org(db).await.id;
        let before = rows_of_others(db, org).await;
        let name = bundle("com.example.new");
        let upload = new_upload(theirs.id);
        let package = crate::records::new_package(theirs.id);
        let update = crate::records::new_update(&name, &package);
        org_writes!(db, org, create_invitation(&new_invitation(theirs.id), "token", "user_x"));
        org_writes!(db, org, create_key(&new_key(theirs.id)));
        org_writes!(db, org, claim_app(&name, &new_app(theirs.id, &name)));
        org_writes!(db, org, create_upload(&upload, "key_x"));
        org_writes!(db, org, create_package(&package, NOW));
        assert!(org_writes!(db, org, create_update(&NewUpdate { update: &update, bundle: &name })));
        org_writes!(db, org, add_member(theirs.user, Role::Owner, NOW));
        let build = Build { id: new_id(), ..theirs.build.clone() };
        org_writes!(db, org, create_build(&build, &name));
        let submission = Submission { id: new_id(), ..theirs.submission.clone() };
        org_writes!(db, org, create_submission(&submission, &name));
        let event = EventRow { id: new_id(), kind: "x".to_owned(), at: NOW, data: "{}".to_owned() };
        org_writes!(db, org, add_event(&event));
        org_writes!(db, org, add_audit(&[audit_line("key.create")], link));
        let webhook = new_webhook(theirs.id);
        org_writes!(db, org, create_webhook(&webhook, &plain_url(), "sealed"));
        let delivery = new_delivery(&webhook);
        assert!(org_writes!(db, org, add_delivery(&delivery)));

        assert_eq!(rows_of_others(db, org).await, before);
        assert_eq!(org_reads!(db, theirs.id, submission_files(theirs.submission.id)), [theirs.file]);
        assert_eq!(org_reads!(db, org, submission(submission.id)).unwrap().org_id, org);
        assert_eq!(org_reads!(db, org, upload(upload.id)), Some(Upload { org_id: org, ..upload }));
        assert_eq!(org_reads!(db, org, update(update.id)).unwrap().org_id, org);
        assert_eq!(org_reads!(db, org, webhook(webhook.id)), Some(Webhook { org_id: org, ..webhook }));
        assert_eq!(org_reads!(db, org, delivery(delivery.id)), Some(Delivery { org_id: org, ..delivery }));
        assert_eq!(system_writes!(db, take_events(100, NOW)).last(), Some(&(org, event)));
        // The package too: it is released with its only update.
        let update = org_reads!(db, org, update(update.id)).unwrap();
        org_writes!(db, org, delete_update(&update, NOW));
        assert_eq!(system_reads!(db, unused_packages(NOW, 10)), [Package { org_id: org, ..package }]);
    }

    /// The identity of an update is unique in the service, not in the organization: phones ask by bundle.
    async fn an_identity_of_another_is_taken(db: &TestDb) {
        let theirs = a_tenant(db, "com.example.theirs").await;
        let org = an_org(db).await.id;
        let name = bundle("com.example.theirs");
        let package = crate::records::a_package(db, org).await;
        let update = crate::records::new_update(&name, &package);
        assert!(!org_writes!(db, org, create_update(&NewUpdate { update: &update, bundle: &name })));
        assert!(org_reads!(db, theirs.id, update(theirs.update.id)).is_some());
    }
}

/// Tables that no organization's call in a test fills.
fn no_tenant(table: &str) -> bool {
    let installation = [
        "meta",
        "sessions",
        "reset_links",
        "device_logins",
        "job_leases",
        "two_factor",
        "recovery_codes",
        "kept_forms",
        "failed_tries",
        "app_store_turns",
    ];
    let later = ["env_vars", "credentials"];
    installation.contains(&table) || later.contains(&table)
}
