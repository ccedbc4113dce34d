//! Logins of command lines that wait for a user: only hashes of their codes are stored. The scope `admin` has a column of its own.

use launchway_domain::device_login::{DeviceLogin, DeviceLoginStatus};
use launchway_domain::id::{DeviceLoginId, OrgId, UserId};
use launchway_domain::scope::Scope;

use crate::sql::typed;
use crate::{StoreError, System};

row! {
    struct DeviceLoginRow {
        id: String,
        status: String,
        name: String,
        scopes: String,
        address: String,
        org_id: Option<String>,
        user_id: Option<String>,
        created_at: i64,
        expires_at: i64,
        admin_scope: Option<String>,
    }
}

/// The columns of [`DeviceLoginRow`].
macro_rules! login_columns {
    () => {
        "id, status, name, scopes, address, org_id, user_id, created_at, expires_at, admin_scope"
    };
}

/// The values of `admin_scope`.
const ASKED: &str = "asked";
const GRANTED: &str = "granted";

impl DeviceLoginRow {
    fn read(self) -> Result<DeviceLogin, StoreError> {
        let org_id = self.org_id.map(|id| typed("device_logins.org_id", &id));
        let user_id = self.user_id.map(|id| typed("device_logins.user_id", &id));
        let status = typed("device_logins.status", &self.status)?;
        let mut scopes = Scope::list_from(&self.scopes);
        // A node of an older release approves a login without its page naming the scope.
        let is_pending = status == DeviceLoginStatus::Pending;
        match self.admin_scope.as_deref() {
            Some(GRANTED) => scopes.push(Scope::Admin),
            Some(ASKED) if is_pending => scopes.push(Scope::Admin),
            _ => {}
        }
        Ok(DeviceLogin {
            id: typed("device_logins.id", &self.id)?,
            status,
            name: self.name,
            scopes,
            address: self.address,
            org_id: org_id.transpose()?,
            user_id: user_id.transpose()?,
            created_at: self.created_at,
            expires_at: self.expires_at,
        })
    }
}

impl System<'_> {
    /// Stores a pending login under the hashes of its two codes.
    pub async fn create_device_login(
        &mut self,
        login: &DeviceLogin,
        device_hash: &str,
        user_hash: &str,
    ) -> Result<(), StoreError> {
        let (scopes, asks_for_admin) = Scope::without_admin(&login.scopes);
        execute!(
            self.tx,
            "INSERT INTO device_logins (id, device_hash, user_hash, status, name, scopes, address, created_at, \
             expires_at, admin_scope) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            login.id.to_string(),
            device_hash,
            user_hash,
            DeviceLoginStatus::Pending.as_str(),
            &login.name,
            Scope::list_to_text(&scopes),
            &login.address,
            login.created_at,
            login.expires_at,
            asks_for_admin.then_some(ASKED)
        )?;
        Ok(())
    }

    /// The login with a user's code, whatever its status.
    pub async fn device_login_by_user_code(&mut self, user_hash: &str) -> Result<Option<DeviceLogin>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            DeviceLoginRow,
            concat!("SELECT ", login_columns!(), " FROM device_logins WHERE user_hash = $1"),
            user_hash
        )?;
        row.map(DeviceLoginRow::read).transpose()
    }

    /// The login with a command's own code, whatever its status.
    pub async fn device_login_by_device_code(&mut self, device_hash: &str) -> Result<Option<DeviceLogin>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            DeviceLoginRow,
            concat!(
                "SELECT ",
                login_columns!(),
                " FROM device_logins WHERE device_hash = $1"
            ),
            device_hash
        )?;
        row.map(DeviceLoginRow::read).transpose()
    }

    /// Stores a user's decision; returns false if the login was decided before or has expired.
    pub async fn decide_device_login(
        &mut self,
        id: DeviceLoginId,
        status: DeviceLoginStatus,
        org: OrgId,
        user: UserId,
        now: i64,
    ) -> Result<bool, StoreError> {
        let decided = execute!(
            self.tx,
            "UPDATE device_logins SET status = $2, org_id = $3, user_id = $4, \
             admin_scope = CASE WHEN admin_scope IS NULL THEN NULL ELSE $6 END \
             WHERE id = $1 AND status = 'pending' AND expires_at > $5",
            id.to_string(),
            status.as_str(),
            org.to_string(),
            user.to_string(),
            now,
            if status == DeviceLoginStatus::Approved {
                GRANTED
            } else {
                ASKED
            }
        )?;
        Ok(decided == 1)
    }

    /// Marks an approved login as used; returns false if it was used before or has expired.
    pub async fn use_device_login(&mut self, id: DeviceLoginId, now: i64) -> Result<bool, StoreError> {
        let used = execute!(
            self.tx,
            "UPDATE device_logins SET status = 'used' WHERE id = $1 AND status = 'approved' AND expires_at > $2",
            id.to_string(),
            now
        )?;
        Ok(used == 1)
    }

    /// Deletes logins that expired before `time`.
    pub async fn forget_device_logins_before(&mut self, time: i64) -> Result<u64, StoreError> {
        forget!(self.tx, "device_logins", "id", "expires_at < $1", time)
    }
}
