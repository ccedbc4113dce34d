//! Finds the predecessor of a bad update among the updates of an app. Pure.

use std::cmp::Ordering;

use launchway_api::updates::UpdateView;
use launchway_domain::build_number::BuildNumber;
use launchway_domain::update::UpdateStatus;
use launchway_domain::version::Version;

/// The newest published update of this configuration.
pub fn newest<'u>(updates: &'u [UpdateView], configuration: Option<&str>) -> Option<&'u UpdateView> {
    let not_offered = [UpdateStatus::Withdrawn, UpdateStatus::AwaitingSignature];
    let offered = updates
        .iter()
        .filter(|update| !not_offered.iter().any(|status| update.status == *status));
    offered
        .filter(|update| update.configuration.as_deref() == configuration)
        .max_by(|one, other| order(one, other))
}

/// The updates to roll back to from `bad`, newest first: the published ones below it, with the same configuration and
/// other bytes.
///
/// If `bad` is itself a rollback to older bytes, these are the updates before those bytes, not the updates that it
/// replaced.
pub fn predecessors<'u>(bad: &'u UpdateView, updates: &'u [UpdateView]) -> Vec<&'u UpdateView> {
    let same_line = || {
        updates
            .iter()
            .filter(|update| update.configuration == bad.configuration)
    };
    let mut top = bad;
    // Each step goes strictly down, so that the loop ends whatever the server answers.
    while let Some(source) = same_line().find(|update| top.source_update_id.as_ref() == Some(&update.id)) {
        if order(source, top) != Ordering::Less {
            break;
        }
        top = source;
    }
    // The bad bytes, and those that an earlier rollback skipped.
    let bad_bytes: Vec<&str> = same_line()
        .filter(|update| order(update, top) != Ordering::Less && order(update, bad) != Ordering::Greater)
        .map(|update| update.sha256.as_str())
        .chain([bad.sha256.as_str()])
        .collect();
    let mut found: Vec<_> = same_line()
        .filter(|update| update.status == UpdateStatus::Published && order(update, top) == Ordering::Less)
        .filter(|update| !bad_bytes.contains(&update.sha256.as_str()))
        .collect();
    found.sort_by(|one, other| order(other, one));
    found
}

/// Whether an update runs wherever another one runs, according to their fingerprints.
pub fn runs_wherever(update: &UpdateView, other: &UpdateView) -> bool {
    update.fingerprint.is_none() || update.fingerprint == other.fingerprint
}

/// Whether updates were published before `bad` and all of them have its files.
pub fn has_only_the_same_before(bad: &UpdateView, updates: &[UpdateView]) -> bool {
    let same_line = updates
        .iter()
        .filter(|update| update.configuration == bad.configuration);
    let mut below = same_line
        .filter(|update| update.status == UpdateStatus::Published && order(update, bad) == Ordering::Less)
        .peekable();
    below.peek().is_some() && below.all(|update| update.sha256 == bad.sha256)
}

/// Newer is greater: by version, then build number, then time (`docs/reference/updates.md#order-of-candidates`).
fn order(one: &UpdateView, other: &UpdateView) -> Ordering {
    let key = |update: &UpdateView| {
        let version = Version::parse(&update.version).ok();
        (
            version,
            BuildNumber::parse(&update.build_number).ok(),
            update.created_at.clone(),
        )
    };
    key(one).cmp(&key(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use launchway_domain::platform::Platform;
    use launchway_domain::release::{Format, UpdateKind};

    /// An update of `production` whose bytes are named by `bytes`.
    fn update(id: &str, version: &str, build: &str, bytes: &str) -> UpdateView {
        UpdateView {
            id: id.to_owned(),
            status: UpdateStatus::Published.into(),
            bundle_id: "com.example.app".to_owned(),
            platform: Platform::Android.into(),
            version: version.to_owned(),
            build_number: build.to_owned(),
            configuration: Some("production".to_owned()),
            fingerprint: None,
            build_id: None,
            source_update_id: None,
            release_notes: String::new(),
            mandatory: false,
            rollout: 100,
            size: 1,
            sha256: bytes.to_owned(),
            file_count: 1,
            manifest: None,
            trust_role: None,
            kind: UpdateKind::Update.into(),
            format: Format::Archive.into(),
            sequence: None,
            runtime_version: None,
            binary_range: None,
            foreign_ids: None,
            created_by: "key_1".to_owned(),
            created_at: "2026-11-20T10:00:00.000Z".to_owned(),
            reports: None,
            callers: None,
        }
    }

    fn found<'u>(bad: &'u UpdateView, updates: &'u [UpdateView]) -> Option<&'u str> {
        let mut all = predecessors(bad, updates).into_iter();
        all.find(|update| runs_wherever(update, bad))
            .map(|update| update.id.as_str())
    }

    #[test]
    fn the_one_below_is_meant() {
        let updates = [
            update("a", "1.9.0", "9", "A"),
            update("b", "1.10.0", "8", "B"),
            update("c", "1.10.0", "10", "C"),
        ];
        assert_eq!(found(&updates[2], &updates), Some("b"));
        assert_eq!(found(&updates[1], &updates), Some("a"));
        assert_eq!(found(&updates[0], &updates), None);
    }

    #[test]
    fn only_offered_different_updates_of_the_same_line_count() {
        let mut paused = update("paused", "1.0.1", "2", "B");
        paused.status = UpdateStatus::Paused.into();
        let mut staging = update("staging", "1.0.2", "3", "C");
        staging.configuration = Some("staging".to_owned());
        let same = update("same", "1.0.3", "4", "Z");
        let updates = [
            update("a", "1.0.0", "1", "A"),
            paused,
            staging,
            same,
            update("bad", "1.0.4", "5", "Z"),
        ];
        assert_eq!(found(&updates[4], &updates), Some("a"));
    }

    #[test]
    fn it_must_run_wherever_the_bad_one_runs() {
        let with = |mut update: UpdateView, fingerprint: &str| {
            update.fingerprint = Some(fingerprint.to_owned());
            update
        };
        let bad = with(update("bad", "1.0.3", "4", "Z"), "new");
        let updates = [
            update("any", "1.0.0", "1", "A"),
            with(update("new", "1.0.1", "2", "B"), "new"),
            with(update("old", "1.0.2", "3", "C"), "old"),
        ];
        assert_eq!(found(&bad, &updates), Some("new"));
        assert_eq!(found(&bad, &updates[..1]), Some("any"));
        assert_eq!(found(&bad, &updates[2..]), None);
        assert_eq!(found(&update("bad", "1.0.3", "4", "Z"), &updates[1..]), None);
    }

    #[test]
    fn the_same_files_under_another_version_are_no_news() {
        let updates = [
            update("a", "1.0.0", "1", "A"),
            update("b", "1.0.1", "2", "A"),
            update("c", "1.0.2", "3", "C"),
        ];
        assert!(has_only_the_same_before(&updates[1], &updates));
        assert!(!has_only_the_same_before(&updates[0], &updates), "nothing is before it");
        assert!(!has_only_the_same_before(&updates[2], &updates));
    }

    #[test]
    fn rolling_back_twice_goes_back_twice() {
        let mut updates = vec![
            update("a", "1.0.0", "1", "A"),
            update("b", "1.0.1", "2", "B"),
            update("c", "1.0.2", "3", "C"),
        ];
        let mut back = update("back", "1.0.2", "4", "B");
        back.source_update_id = Some("b".to_owned());
        updates.push(back);
        assert_eq!(found(&updates[3], &updates), Some("a"), "not c, which was bad");
        updates[0].sha256 = "C".to_owned();
        assert_eq!(
            found(&updates[3], &updates),
            None,
            "nor the bytes of c under another name"
        );
        updates.push(update("d", "1.0.3", "5", "D"));
        assert_eq!(found(&updates[4], &updates), Some("back"), "the bytes of b");
    }

    #[test]
    fn answers_in_a_circle_come_to_an_end() {
        let mut one = update("one", "1.0.0", "1", "A");
        let mut other = update("other", "1.0.0", "1", "B");
        one.source_update_id = Some("other".to_owned());
        other.source_update_id = Some("one".to_owned());
        assert_eq!(found(&one.clone(), &[one, other]), None);
    }

    #[test]
    fn the_newest_may_be_paused_but_neither_withdrawn_nor_unsigned() {
        let mut updates = [
            update("a", "1.0.0", "1", "A"),
            update("b", "1.0.1", "2", "B"),
            update("c", "1.0.2", "3", "C"),
            update("d", "1.0.3", "4", "D"),
        ];
        updates[1].status = UpdateStatus::Paused.into();
        updates[2].status = UpdateStatus::Withdrawn.into();
        updates[3].status = UpdateStatus::AwaitingSignature.into();
        let newest = |configuration| newest(&updates, configuration).map(|update| update.id.as_str());
        assert_eq!(newest(Some("production")), Some("b"));
        assert_eq!(newest(None), None);
    }
}
