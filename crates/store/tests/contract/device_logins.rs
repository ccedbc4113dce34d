//! Logins of command lines: found by the hash of either code, decided once, used once.

use launchway_domain::device_login::{DeviceLogin, DeviceLoginStatus};
use launchway_domain::scope::Scope;

use crate::records::{NOW, a_user, an_org, new_id, unique};

/// A pending login, not stored yet.
pub fn new_device_login() -> DeviceLogin {
    DeviceLogin {
        id: new_id(),
        status: DeviceLoginStatus::Pending,
        name: unique("laptop"),
        scopes: vec![Scope::Build, Scope::Update],
        address: "192.0.2.1".to_owned(),
        org_id: None,
        user_id: None,
        created_at: NOW,
        expires_at: NOW + 10,
    }
}

contract! {
    async fn a_login_is_found_by_both_codes_and_decided_once(db: &TestDb) {
        let (org, user) = (an_org(db).await.id, a_user(db).await.id);
        let login = new_device_login();
        system_writes!(db, create_device_login(&login, "device", "user"));
        assert_eq!(system_reads!(db, device_login_by_device_code("device")), Some(login.clone()));
        assert_eq!(system_reads!(db, device_login_by_user_code("user")), Some(login.clone()));
        assert_eq!(system_reads!(db, device_login_by_device_code("user")), None);
        assert_eq!(system_reads!(db, device_login_by_user_code("device")), None);
        let (approved, denied) = (DeviceLoginStatus::Approved, DeviceLoginStatus::Denied);
        assert!(!system_writes!(db, use_device_login(login.id, NOW)), "nobody approved it");
        assert!(!system_writes!(db, decide_device_login(login.id, approved, org, user, NOW + 10)), "too late");
        assert!(system_writes!(db, decide_device_login(login.id, approved, org, user, NOW + 9)));
        assert!(!system_writes!(db, decide_device_login(login.id, denied, org, user, NOW + 9)), "decided before");
        let decided = DeviceLogin { status: approved, org_id: Some(org), user_id: Some(user), ..login.clone() };
        assert_eq!(system_reads!(db, device_login_by_user_code("user")), Some(decided));
        assert!(!system_writes!(db, use_device_login(login.id, NOW + 10)), "too late");
        assert!(system_writes!(db, use_device_login(login.id, NOW + 9)));
        assert!(!system_writes!(db, use_device_login(login.id, NOW + 9)), "used before");
        let used = system_reads!(db, device_login_by_device_code("device")).unwrap();
        assert_eq!(used.status, DeviceLoginStatus::Used);
    }

    /// A node of an earlier release approves a login on a page that does not name the scope.
    async fn admin_is_granted_by_who_saw_it(db: &TestDb) {
        let (org, user) = (an_org(db).await.id, a_user(db).await.id);
        let asks = |scopes| DeviceLogin { scopes, ..new_device_login() };
        let all = asks(vec![Scope::Build, Scope::Admin]);
        system_writes!(db, create_device_login(&all, "all device", "all user"));
        assert_eq!(db.raw_texts(&format!("SELECT scopes FROM device_logins WHERE id = '{}'", all.id)).await, ["build"]);
        assert_eq!(system_reads!(db, device_login_by_user_code("all user")), Some(all.clone()));
        assert!(system_writes!(db, decide_device_login(all.id, DeviceLoginStatus::Approved, org, user, NOW)));
        let approved = system_reads!(db, device_login_by_device_code("all device")).unwrap();
        assert_eq!(approved.scopes, all.scopes);

        let only = asks(vec![Scope::Admin]);
        system_writes!(db, create_device_login(&only, "only device", "only user"));
        db.raw(&format!("UPDATE device_logins SET status = 'approved' WHERE id = '{}'", only.id)).await;
        let approved = system_reads!(db, device_login_by_device_code("only device")).unwrap();
        assert_eq!(approved.scopes, [], "what the page did not name");

        let none = asks(vec![Scope::Update]);
        system_writes!(db, create_device_login(&none, "none device", "none user"));
        assert!(system_writes!(db, decide_device_login(none.id, DeviceLoginStatus::Approved, org, user, NOW)));
        let approved = system_reads!(db, device_login_by_device_code("none device")).unwrap();
        assert_eq!(approved.scopes, none.scopes);
    }

    async fn a_denied_login_is_of_no_use(db: &TestDb) {
        let (org, user) = (an_org(db).await.id, a_user(db).await.id);
        let login = new_device_login();
        system_writes!(db, create_device_login(&login, "denied device", "denied user"));
        assert!(system_writes!(db, decide_device_login(login.id, DeviceLoginStatus::Denied, org, user, NOW)));
        assert!(!system_writes!(db, use_device_login(login.id, NOW)));
    }

    async fn one_of_many_uses_a_login(db: &TestDb) {
        let (org, user) = (an_org(db).await.id, a_user(db).await.id);
        let login = new_device_login();
        let id = login.id;
        system_writes!(db, create_device_login(&login, "once device", "once user"));
        system_writes!(db, decide_device_login(id, DeviceLoginStatus::Approved, org, user, NOW));
        let used = db
            .at_once(8, move |db, _| async move { system_writes!(db, use_device_login(id, NOW)) })
            .await;
        assert_eq!(used.into_iter().filter(|used| *used).count(), 1);
    }

    async fn a_login_is_forgotten_after_its_time(db: &TestDb) {
        system_writes!(db, create_device_login(&new_device_login(), "old device", "old user"));
        system_writes!(db, forget_device_logins_before(NOW + 10));
        assert!(system_reads!(db, device_login_by_device_code("old device")).is_some());
        system_writes!(db, forget_device_logins_before(NOW + 11));
        assert_eq!(system_reads!(db, device_login_by_device_code("old device")), None);
    }
}
