//! Webhooks: the record round-trips, secrets are rotated, and deletion includes the deliveries.

use launchway_domain::id::OrgId;
use launchway_domain::webhook::{EventFilter, Webhook, WebhookStatus, WebhookType};
use launchway_store::{Db, OldSecret, StoredUrl, WebhookSecrets};

use crate::deliveries::{a_delivery, new_delivery};
use crate::records::{ALL, NOW, an_org, bundle, new_id, unique};

/// An active webhook for every event, not stored yet.
pub fn new_webhook(org_id: OrgId) -> Webhook {
    Webhook {
        id: new_id(),
        org_id,
        status: WebhookStatus::Active,
        disabled_reason: None,
        name: unique("Webhook"),
        url: "https://example.com/…".to_owned(),
        kind: WebhookType::Generic,
        events: EventFilter::All,
        bundle_ids: Vec::new(),
        failing_since: None,
        created_by: "operator".to_owned(),
        created_at: NOW,
    }
}

/// Its URL.
pub fn plain_url() -> StoredUrl {
    StoredUrl::Plain("https://example.com/hook?token=é".to_owned())
}

/// Stores a webhook.
pub async fn a_webhook(db: &Db, org: OrgId) -> Webhook {
    let webhook = new_webhook(org);
    org_writes!(db, org, create_webhook(&webhook, &plain_url(), "sealed"));
    webhook
}

contract! {
    async fn comes_back_as_it_was_kept(db: &TestDb) {
        let org = an_org(db).await.id;
        let plain = a_webhook(db, org).await;
        let full = Webhook {
            status: WebhookStatus::Disabled,
            disabled_reason: Some("why".to_owned()),
            kind: WebhookType::Slack,
            events: EventFilter::parse(&["build.failed", "update.published"]).unwrap(),
            bundle_ids: vec![bundle("com.Example.a"), bundle("com.example.b")],
            ..new_webhook(org)
        };
        org_writes!(db, org, create_webhook(&full, &plain_url(), "sealed too"));
        for webhook in [&plain, &full] {
            assert_eq!(org_reads!(db, org, webhook(webhook.id)), Some(webhook.clone()));
            assert_eq!(org_writes!(db, org, lock_webhook(webhook.id)), Some(webhook.clone()));
        }
        let read = org_reads!(db, org, webhook(full.id)).unwrap();
        assert_eq!(read.bundle_ids[0].as_str(), "com.Example.a", "as it was written");
        assert_eq!(org_reads!(db, org, webhook(new_id())), None);
        assert_eq!(org_writes!(db, org, lock_webhook(new_id())), None);
        let list = org_reads!(db, org, webhooks(ALL));
        assert_eq!(org_writes!(db, org, active_webhooks()), std::slice::from_ref(&plain));
        assert_eq!((list.items, list.total), (vec![full, plain], 2));
    }

    /// A node of 0.1.0 fails on a kind that it does not know, and with it the deliveries of all.
    async fn a_node_of_the_first_release_reads_only_its_kinds(db: &TestDb) {
        let org = an_org(db).await.id;
        for (named, known) in [
            (&["update.published"][..], r#"["update.published"]"#),
            (&["update.published", "trust.changed"][..], r#"["update.published"]"#),
            (&["trust.changed", "trust.expiring", "update.awaiting_signature"][..], r#"["webhook.test"]"#),
            (&["*"][..], r#"["*"]"#),
        ] {
            let events = EventFilter::parse(named).unwrap();
            let webhook = Webhook { events, ..new_webhook(org) };
            org_writes!(db, org, create_webhook(&webhook, &plain_url(), "sealed"));
            let column = format!("SELECT events FROM webhooks WHERE id = '{}'", webhook.id);
            assert_eq!(db.raw_texts(&column).await, [known]);
            assert_eq!(org_reads!(db, org, webhook(webhook.id)), Some(webhook.clone()));
            let plain = Webhook { events: EventFilter::All, ..webhook.clone() };
            org_writes!(db, org, change_webhook(&plain));
            assert_eq!(org_reads!(db, org, webhook(webhook.id)), Some(plain));
            org_writes!(db, org, change_webhook(&webhook));
            assert_eq!(db.raw_texts(&column).await, [known]);
            // What such a node writes later counts.
            db.raw(&format!("UPDATE webhooks SET events = '[\"build.failed\"]' WHERE id = '{}'", webhook.id)).await;
            let read = org_reads!(db, org, webhook(webhook.id)).unwrap();
            assert_eq!(read.events.names(), ["build.failed"]);
        }
    }

    /// A node of the first release reads and writes the column `url` alone.
    async fn its_url_is_sealed_and_shown_shortened(db: &TestDb) {
        let org = an_org(db).await.id;
        let webhook = a_webhook(db, org).await;
        let (id, sealed) = (webhook.id, StoredUrl::Sealed("sealed url".to_owned()));
        let column = format!("SELECT url FROM webhooks WHERE id = '{id}'");
        assert_eq!(org_reads!(db, org, webhook_url(id)), Some(plain_url()));
        assert_eq!(system_reads!(db, plain_webhook_urls(10)), [(org, id)]);
        org_writes!(db, org, set_webhook_url(id, &sealed, "https://example.com/…WXYZ"));
        let shown = Webhook { url: "https://example.com/…WXYZ".to_owned(), ..webhook.clone() };
        assert_eq!(org_reads!(db, org, webhook(id)), Some(shown.clone()));
        assert_eq!(org_reads!(db, org, webhook_url(id)), Some(sealed.clone()));
        assert_eq!(db.raw_texts(&column).await, ["https://sealed.invalid/"]);
        assert_eq!(system_reads!(db, plain_webhook_urls(10)), []);
        a_delivery(db, &webhook).await;
        assert_eq!(system_reads!(db, due_webhooks(NOW, 10))[0].url, sealed);
        // A change of the rest keeps it.
        org_writes!(db, org, change_webhook(&Webhook { name: "new".to_owned(), ..shown }));
        assert_eq!(org_reads!(db, org, webhook_url(id)), Some(sealed));
        // What the other node writes counts, and is found to be sealed.
        db.raw(&format!("UPDATE webhooks SET url = 'https://example.org/a' WHERE id = '{id}'")).await;
        let plain = StoredUrl::Plain("https://example.org/a".to_owned());
        assert_eq!(org_reads!(db, org, webhook_url(id)), Some(plain.clone()));
        assert_eq!(org_reads!(db, org, webhook(id)).unwrap().url, "https://example.org/…");
        assert_eq!(system_reads!(db, due_webhooks(NOW, 10))[0].url, plain);
        assert_eq!(system_reads!(db, plain_webhook_urls(10)), [(org, id)]);
        // Stored sealed from the beginning.
        let made = Webhook { url: "https://example.net/…WXYZ".to_owned(), ..new_webhook(org) };
        org_writes!(db, org, create_webhook(&made, &StoredUrl::Sealed("s".to_owned()), "sealed"));
        assert_eq!(org_reads!(db, org, webhook(made.id)), Some(made));
        assert_eq!(org_reads!(db, org, webhook_url(new_id())), None);
    }

    async fn is_changed(db: &TestDb) {
        let org = an_org(db).await.id;
        let (webhook, bystander) = (a_webhook(db, org).await, a_webhook(db, org).await);
        let changed = Webhook {
            status: WebhookStatus::Disabled,
            disabled_reason: Some("why".to_owned()),
            name: "new".to_owned(),
            kind: WebhookType::Teams,
            events: EventFilter::parse(&["webhook.test"]).unwrap(),
            bundle_ids: vec![bundle("com.example.a")],
            failing_since: Some(NOW),
            ..webhook.clone()
        };
        org_writes!(db, org, change_webhook(&changed));
        assert_eq!(org_reads!(db, org, webhook(webhook.id)), Some(changed));
        assert_eq!(org_reads!(db, org, webhook(bystander.id)), Some(bystander));
        let secrets = org_reads!(db, org, webhook_secrets(webhook.id)).unwrap();
        assert_eq!(secrets, WebhookSecrets { sealed: "sealed".to_owned(), old: vec![] });
        org_writes!(db, org, change_webhook(&webhook));
        assert_eq!(org_reads!(db, org, webhook(webhook.id)), Some(webhook));
    }

    async fn secrets_are_replaced(db: &TestDb) {
        let org = an_org(db).await.id;
        let webhook = a_webhook(db, org).await;
        let old = |sealed: &str, until| OldSecret { sealed: sealed.to_owned(), until };
        for secrets in [
            WebhookSecrets { sealed: "two".to_owned(), old: vec![old("sealed", NOW)] },
            WebhookSecrets { sealed: "three".to_owned(), old: vec![old("two", NOW + 1), old("sealed", NOW)] },
            WebhookSecrets { sealed: "four".to_owned(), old: vec![] },
        ] {
            org_writes!(db, org, set_webhook_secrets(webhook.id, &secrets));
            assert_eq!(org_reads!(db, org, webhook_secrets(webhook.id)), Some(secrets.clone()));
            a_delivery(db, &webhook).await;
            assert_eq!(system_reads!(db, due_webhooks(NOW, 10))[0].secrets, secrets);
        }
        assert_eq!(org_reads!(db, org, webhook_secrets(new_id())), None);
    }

    async fn is_deleted_with_its_deliveries(db: &TestDb) {
        let org = an_org(db).await.id;
        let (webhook, bystander) = (a_webhook(db, org).await, a_webhook(db, org).await);
        let (gone, stays) = (a_delivery(db, &webhook).await, a_delivery(db, &bystander).await);
        assert!(org_writes!(db, org, delete_webhook(webhook.id)));
        assert!(!org_writes!(db, org, delete_webhook(webhook.id)));
        assert_eq!(org_reads!(db, org, webhook(webhook.id)), None);
        assert_eq!(org_reads!(db, org, delivery(gone.id)), None);
        assert_eq!(org_reads!(db, org, delivery(stays.id)), Some(stays));
        assert!(!org_writes!(db, org, add_delivery(&new_delivery(&webhook))), "nothing more is made for it");
    }

    /// A webhook that the fan-out has read as active receives its deliveries, or is not read.
    async fn cannot_be_deleted_while_deliveries_are_made_for_it(db: &TestDb) {
        let org = an_org(db).await.id;
        let webhook = a_webhook(db, org).await;
        let other = db.again().await;
        let mut fan_out = db.write().await.unwrap();
        assert_eq!(fan_out.org(org).active_webhooks().await.unwrap().len(), 1);
        let id = webhook.id;
        let deletion = tokio::spawn(async move {
            let gone = org_writes!(other, org, delete_webhook(id));
            other.close().await;
            gone
        });
        db.until_one_waits().await;
        assert!(fan_out.org(org).add_delivery(&new_delivery(&webhook)).await.unwrap());
        fan_out.commit().await.unwrap();
        assert!(deletion.await.unwrap());
        assert!(db.rows_of("deliveries").await.is_empty());
    }

    /// What disables a webhook cancels its deliveries, those of a simultaneous fan-out too.
    async fn is_disabled_with_the_deliveries_that_are_made_for_it(db: &TestDb) {
        let org = an_org(db).await.id;
        let webhook = a_webhook(db, org).await;
        let other = db.again().await;
        let mut fan_out = db.write().await.unwrap();
        assert_eq!(fan_out.org(org).active_webhooks().await.unwrap().len(), 1);
        let disabled = Webhook { status: WebhookStatus::Disabled, ..webhook.clone() };
        let disabling = tokio::spawn(async move {
            let mut tx = other.write().await.unwrap();
            tx.org(org).lock_webhook(disabled.id).await.unwrap();
            tx.org(org).change_webhook(&disabled).await.unwrap();
            let canceled = tx.org(org).cancel_deliveries(disabled.id, "why").await.unwrap();
            tx.commit().await.unwrap();
            other.close().await;
            canceled
        });
        db.until_one_waits().await;
        assert!(fan_out.org(org).add_delivery(&new_delivery(&webhook)).await.unwrap());
        fan_out.commit().await.unwrap();
        assert_eq!(disabling.await.unwrap(), 1);
        // The next fan-out does not see it.
        assert_eq!(org_writes!(db, org, active_webhooks()), []);
    }
}
