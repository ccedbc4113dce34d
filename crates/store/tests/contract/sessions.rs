//! Sessions: found by their cookie's hash, for as long as they are used.

use launchway_domain::org::{SESSION_IDLE, SESSION_LIFE, Session};
use launchway_store::Paging;

use crate::records::{ALL, NOW, a_user, new_id, new_session};

contract! {
    async fn keeps_a_session_and_finds_it_by_its_token(db: &TestDb) {
        let session = Session { created_at: NOW - 5, ..new_session(a_user(db).await.id) };
        system_writes!(db, create_session(&session, "token"));
        assert_eq!(system_reads!(db, session_by_token("token", NOW)), Some(session));
        assert_eq!(system_reads!(db, session_by_token("tokem", NOW)), None);
    }

    async fn lives_for_as_long_as_it_is_used(db: &TestDb) {
        let session = new_session(a_user(db).await.id);
        system_writes!(db, create_session(&session, "token"));
        let end = NOW + SESSION_IDLE;
        for (now, lives) in [(end - 1, true), (end, false)] {
            assert_eq!(system_reads!(db, session_by_token("token", now)).is_some(), lives);
            let listed = system_reads!(db, sessions(session.user_id, now, ALL));
            assert_eq!((listed.items.len(), listed.total), (usize::from(lives), i64::from(lives)));
        }
        system_writes!(db, note_sessions_used(&[(session.id, NOW + 7), (new_id(), NOW + 9)]));
        system_writes!(db, note_sessions_used(&[(session.id, NOW + 3)]));
        let used = Session { last_used_at: NOW + 7, ..session };
        assert_eq!(system_reads!(db, session_by_token("token", end)), Some(used), "the later use counts");
    }

    async fn use_does_not_make_it_live_on_for_ever(db: &TestDb) {
        let session = new_session(a_user(db).await.id);
        system_writes!(db, create_session(&session, "token"));
        let end = session.created_at + SESSION_LIFE;
        system_writes!(db, note_sessions_used(&[(session.id, end - 1)]));
        for (now, lives) in [(end - 1, true), (end, false)] {
            assert_eq!(system_reads!(db, session_by_token("token", now)).is_some(), lives);
            let listed = system_reads!(db, sessions(session.user_id, now, ALL));
            assert_eq!((listed.items.len(), listed.total), (usize::from(lives), i64::from(lives)));
            assert_eq!(system_writes!(db, forget_sessions(now)), u64::from(!lives));
        }
    }

    async fn lists_those_of_one_user_newest_first(db: &TestDb) {
        let (user, other) = (a_user(db).await.id, a_user(db).await.id);
        let made: Vec<_> = (0..3).map(|_| new_session(user)).collect();
        for at in [1, 2, 0] {
            system_writes!(db, create_session(&made[at], &format!("token {at}")));
        }
        system_writes!(db, create_session(&new_session(other), "other"));
        let newest_first: Vec<_> = made.iter().rev().cloned().collect();
        assert_eq!(system_reads!(db, sessions(user, NOW, ALL)).items, newest_first);
        let page = system_reads!(db, sessions(user, NOW, Paging { limit: 1, offset: 2 }));
        assert_eq!((page.items.as_slice(), page.total), (&newest_first[2..], 3));
    }

    async fn is_ended_by_its_own_user_only(db: &TestDb) {
        let (user, other) = (a_user(db).await.id, a_user(db).await.id);
        let session = new_session(user);
        system_writes!(db, create_session(&session, "token"));
        assert!(!system_writes!(db, delete_session(other, session.id)));
        assert!(system_reads!(db, session_by_token("token", NOW)).is_some());
        assert!(system_writes!(db, delete_session(user, session.id)));
        assert!(!system_writes!(db, delete_session(user, session.id)));
        assert_eq!(system_reads!(db, session_by_token("token", NOW)), None);
    }

    async fn unused_ones_are_forgotten(db: &TestDb) {
        let user = a_user(db).await.id;
        for (token, last_used_at) in [("old", NOW - SESSION_IDLE), ("new", NOW - SESSION_IDLE + 1)] {
            system_writes!(db, create_session(&Session { last_used_at, ..new_session(user) }, token));
        }
        assert_eq!(system_writes!(db, forget_sessions(NOW)), 1);
        assert_eq!(system_reads!(db, session_by_token("old", NOW)), None);
        assert!(system_reads!(db, session_by_token("new", NOW)).is_some());
    }
}
