//! Updates that their developers revoked.

use std::cell::Cell;

use launchway_delta::Digest;
use launchway_device::SyncError;
use launchway_device::boot::Content;
use launchway_device::check::{Offer, Running};
use launchway_device::ports::{Keep, Network, Permit, ServerTrust, Trust};
use launchway_trust::json::Value;
use serde_json::json;

use crate::lives::{slot, start, with_first_update};
use crate::phone::{Server, Update, answer, trusting};

/// Trusts everything except one package, after it has learned of that one from the server.
struct Revoking {
    package: Digest,
    learned: Cell<bool>,
}

impl Revoking {
    fn new(package: Digest) -> Self {
        Self {
            package,
            learned: Cell::new(false),
        }
    }
}

impl Trust for Revoking {
    fn restore(&self, kept: Option<&str>) {
        self.learned.set(kept == Some("revoked"));
    }

    fn refresh(&self, _: &dyn Network, announced: Option<&Value>, keep: Keep<'_>) -> Result<(), String> {
        if announced.is_some() {
            self.learned.set(true);
            keep("revoked".to_owned()).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn query(&self) -> Vec<(&'static str, String)> {
        vec![("trust", "3.17".to_owned())]
    }

    fn permit(&self, offer: &Offer, running: &Running) -> Result<Permit, String> {
        if self.is_revoked(&offer.sha256) {
            Err("no target names it".to_owned())
        } else {
            ServerTrust.permit(offer, running)
        }
    }

    fn is_revoked(&self, package: &Digest) -> bool {
        self.learned.get() && *package == self.package
    }
}

#[test]
fn a_revoked_update_gives_way_at_the_next_start() {
    let (disk, server) = (with_first_update(), Server::offering(Update::number(1)));
    let mut offer = answer(&Update::number(1));
    (offer["trust"], offer["buildNumber"]) = (json!({"root": 3, "snapshot": 18}), json!("109"));
    server.says.replace(Some(offer.to_string()));
    let package = Update::number(1).sha256();
    trusting(&disk, &server, &Revoking::new(package), |device| {
        assert_eq!(start(device).content, slot(1));
        let refused = device.sync(&mut |_| ());
        assert!(matches!(refused, Err(SyncError::Refused(_))), "{refused:?}");
    });
    // Another process knows it only from the disk.
    server.away.set(true);
    trusting(&disk, &server, &Revoking::new(package), |device| {
        assert_eq!(start(device).content, Content::Embedded);
    });
    server.away.set(false);
    trusting(&disk, &server, &Revoking::new(package), |device| {
        device.send_reports().unwrap()
    });
    assert_eq!(server.downloads().len(), 0);
    let reports = server.reports.borrow();
    assert!(
        reports.contains(&"rolled_back update_1 revoked".to_owned()),
        "{reports:?}"
    );
    assert!(
        reports
            .iter()
            .any(|report| report.starts_with("failed update_1 the update is refused")),
        "{reports:?}"
    );
    assert!(server.requests.borrow()[0].url.ends_with("&trust=3.17"));
}
