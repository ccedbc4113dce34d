//! Texts and numbers of every kind round-trip, and are compared by their bytes.

use launchway_domain::app::Upload;
use launchway_domain::key::Key;
use launchway_domain::org::{Org, Session, User};
use launchway_domain::update::MAX_RELEASE_NOTES;
use launchway_store::{AuditFilter, AuditRow, KeptAnswer, Link, NewKey, RequestKey};

use crate::records::{
    ALL, NOW, a_user, an_org, an_update, bundle, new_app, new_key, new_org, new_session, new_upload, new_user, shown,
};

/// Texts that some layer might misinterpret.
fn texts() -> Vec<String> {
    let texts = [
        "",
        " ",
        "  spaces around  ",
        "O'Brien \"the\" `admin`",
        "'; DROP TABLE orgs; --",
        "100 %_\\%",
        "$1 ?1 :name @name",
        "NULL",
        "line\nfeed\r\n\ttab",
        "ÄÖÜ ß é e\u{301} ﬁ",
        "日本語 한국어 العربية עברית",
        "👩‍👩‍👧‍👦 \u{1F1E9}\u{1F1EA}",
        "\u{202E}right to left\u{202C} \u{200B}\u{FEFF}",
        "\u{1}\u{7f}\u{85}\u{10FFFF}",
        "{\"json\": [1, \"\\u0000\"]}",
        "00123",
        "1e5",
    ];
    let mut texts: Vec<_> = texts.map(str::to_owned).into();
    texts.push("n".repeat(MAX_RELEASE_NOTES));
    texts.push("😀".repeat(MAX_RELEASE_NOTES / 4));
    texts
}

contract! {
    async fn texts_of_organizations_keys_and_apps_come_back(db: &TestDb) {
        for (at, text) in texts().into_iter().enumerate() {
            let org = Org { name: text.clone(), ..new_org() };
            system_writes!(db, create_org(&org));
            assert_eq!(org_reads!(db, org.id, record()), Some(org.clone()));
            let new = new_key(org.id);
            let new = NewKey { key: Key { name: text.clone(), created_by: text.clone(), ..new.key }, ..new };
            org_writes!(db, org.id, create_key(&new));
            assert_eq!(org_reads!(db, org.id, keys(ALL)).items, [new.key]);
            let name = bundle(&format!("com.example.app{at}"));
            let app = launchway_domain::app::App { name: text.clone(), ..new_app(org.id, &name) };
            org_writes!(db, org.id, claim_app(&name, &app));
            assert_eq!(org_reads!(db, org.id, app(app.id)), Some(app));
        }
    }

    async fn texts_of_updates_uploads_and_records_come_back(db: &TestDb) {
        let org = an_org(db).await.id;
        let user = a_user(db).await.id;
        let name = bundle("com.example.app");
        for (at, text) in texts().into_iter().enumerate() {
            let update = an_update(db, org, &name, |update| {
                update.build_number = at.to_string().parse().unwrap();
                update.release_notes = text.clone();
                update.build_id = Some(text.clone());
            })
            .await;
            assert_eq!(shown(&org_reads!(db, org, update(update.id)).unwrap()), shown(&update));
            let upload = Upload { file_name: text.clone(), ..new_upload(org) };
            org_writes!(db, org, create_upload(&upload, &text));
            assert_eq!(org_reads!(db, org, upload(upload.id)), Some(upload));
            let session = Session { user_agent: text.clone(), ..new_session(user) };
            system_writes!(db, create_session(&session, &text));
            assert_eq!(system_reads!(db, session_by_token(&text, NOW)), Some(session));
            let line = AuditRow {
                at: NOW,
                actor: text.clone(),
                action: text.clone(),
                resource: text.clone(),
                before: Some(text.clone()),
                after: Some(text.clone()),
                address: text.clone(),
                request_id: text.clone(),
            };
            org_writes!(db, org, add_audit(std::slice::from_ref(&line), |_, _, row| Link {
                hash: row.action.clone(),
                end: row.action.clone(),
            }));
            let last = org_reads!(db, org, audit(&AuditFilter::default(), ALL)).items.swap_remove(0);
            assert_eq!((last.row, &last.hash), (line, &text));
            let request = RequestKey {
                caller: text.clone(),
                method: text.clone(),
                path: text.clone(),
                key: text.clone(),
                body_hash: text.clone(),
            };
            assert!(org_writes!(db, org, claim_answer(&request, NOW, 0)), "{text:?}");
            org_writes!(db, org, keep_answer(&request, 200, &text));
            let kept = KeptAnswer { body_hash: text.clone(), status: 200, body: text.clone() };
            assert_eq!(org_reads!(db, org, kept_answer(&request, 0)), Some(kept));
        }
    }

    async fn what_is_looked_up_is_no_pattern(db: &TestDb) {
        let org = an_org(db).await.id;
        let user = User { email: "ada_b@example.com".to_owned(), ..new_user() };
        system_writes!(db, create_user(&user, "hash"));
        let key = NewKey { hash: "abc".to_owned(), ..new_key(org) };
        org_writes!(db, org, create_key(&key));
        system_writes!(db, set_meta("name", "value"));
        system_writes!(db, count_call("name", 1));
        for text in ["%", "_", "adaxb@example.com", "ADA_B@example.com", "ada_b@example.com ", "a%", "ab_", "ABC", "*"] {
            assert_eq!(system_reads!(db, user_by_email(text)), None, "{text}");
            assert_eq!(system_reads!(db, key_by_hash(text)), None, "{text}");
            assert_eq!(system_reads!(db, meta(text)), None, "{text}");
            assert_eq!(system_writes!(db, count_call(text, 1)), 1, "{text}");
            assert!(!system_reads!(db, is_blob_referenced(text)), "{text}");
        }
    }

    async fn numbers_come_back_whatever_their_size(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        for size in [0, 1, i64::from(i32::MAX) + 1, 999_999_999_999_999_999, i64::MAX] {
            let upload = Upload { size, created_at: -size, expires_at: size, ..new_upload(org) };
            org_writes!(db, org, create_upload(&upload, "key_x"));
            assert_eq!(org_reads!(db, org, upload(upload.id)), Some(upload));
        }
        for build in ["0", "00", "2147483648", "999999999999999999", "012345678901234567"] {
            let bundle = bundle(&format!("{name}.b{build}"));
            let update = an_update(db, org, &bundle, |update| update.build_number = build.parse().unwrap()).await;
            assert_eq!(shown(&org_reads!(db, org, update(update.id)).unwrap()), shown(&update));
        }
        for minute in [-1, 0, 1 << 40, i64::MAX / 60_000] {
            assert_eq!(system_writes!(db, count_call("minute", minute)), 1);
        }
    }
}
