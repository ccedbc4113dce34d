//! Organizations that live through random histories, and the comparison of each of their lists with its rows.

use launchway_domain::build::{Build, BuildStatus, GitFacts};
use launchway_domain::id::{OrgId, WebhookId};
use launchway_domain::platform::Platform;
use launchway_domain::submission::destination::Destination;
use launchway_domain::submission::{Submission, SubmissionStatus};
use launchway_domain::update::{Update, UpdateStatus};
use launchway_domain::webhook::Webhook;
use launchway_store::{
    AuditFilter, AuditRow, BuildFilter, Db, FoldCursor, Paging, SubmissionFilter, UnfoldedList, UpdateFilter,
};

use crate::audit::{audit_line, link};
use crate::builds::{keep, new_build};
use crate::database::TestDb;
use crate::deliveries::a_delivery;
use crate::records::{ALL, NOW, an_org, an_update, bundle};
use crate::submissions::{new_submission, submit};
use crate::webhooks::a_webhook;

/// A page that is full, so that it shows no total.
pub const FULL: Paging = Paging { limit: 1, offset: 0 };
const BUNDLES: [&str; 2] = ["com.example.app", "com.Example.Other"];
const PLATFORMS: [Platform; 2] = [Platform::Android, Platform::Ios];
const BRANCHES: [Option<&str>; 3] = [None, Some("main"), Some("Fix/Rain")];
const CONFIGURATIONS: [Option<&str>; 2] = [None, Some("beta")];
const LISTS: [&str; 6] = ["builds", "branches", "updates", "submissions", "deliveries", "audit"];

/// Numbers that look random, the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// An organization with rows in its lists.
pub struct Life {
    pub org: OrgId,
    pub webhook: Webhook,
    dice: Dice,
    made: u64,
}

impl Life {
    pub async fn begin(db: &Db) -> Life {
        let org = an_org(db).await.id;
        Life {
            org,
            webhook: a_webhook(db, org).await,
            dice: Dice(7),
            made: 0,
        }
    }

    async fn create(&mut self, db: &TestDb) {
        let dice = &mut self.dice;
        self.made += 1;
        let (bundle_id, platform) = (dice.one_of(&BUNDLES).to_owned(), dice.one_of(&PLATFORMS));
        let configuration = dice.one_of(&CONFIGURATIONS).map(|name| name.parse().unwrap());
        match dice.below(6) {
            0 | 1 => {
                let mut build = Build {
                    bundle_id,
                    platform,
                    configuration,
                    ..new_build(self.org)
                };
                let branch = dice.one_of(&BRANCHES).map(str::to_owned);
                build.spec.git = Some(GitFacts {
                    branch,
                    ..GitFacts::default()
                });
                keep(db, &build).await;
            }
            2 => {
                let number = self.made.to_string().parse().unwrap();
                an_update(db, self.org, &bundle(&bundle_id), |update| {
                    *update = Update {
                        platform,
                        configuration,
                        build_number: number,
                        ..update.clone()
                    };
                })
                .await;
            }
            3 => {
                let name = if platform == Platform::Ios {
                    "testflight"
                } else {
                    "production"
                };
                let destination = Destination::parse(platform, name).unwrap();
                submit(
                    db,
                    &Submission {
                        bundle_id,
                        platform,
                        destination,
                        ..new_submission(self.org)
                    },
                )
                .await;
            }
            4 => drop(a_delivery(db, &self.webhook).await),
            _ => {
                let actor = dice.one_of(&["operator", "service"]).to_owned();
                let line = AuditRow {
                    actor,
                    ..audit_line(dice.one_of(&["key.create", "key.revoke"]))
                };
                org_writes!(db, self.org, add_audit(&[line], link));
            }
        }
    }

    /// Changes or deletes the row of a list, as a node of an older release may: without the store of this one.
    async fn change(&mut self, db: &TestDb) {
        let dice = &mut self.dice;
        let (table, change) = dice.one_of(&[
            ("builds", "UPDATE builds SET status = 'failed'"),
            ("builds", "UPDATE builds SET status = status"),
            (
                "builds",
                "UPDATE builds SET status = 'running', configuration = 'beta', platform = 'ios'",
            ),
            ("builds", "DELETE FROM builds"),
            (
                "updates",
                "UPDATE updates SET status = 'paused', awaiting_since = NULL, release_status = NULL",
            ),
            (
                "updates",
                "UPDATE updates SET status = 'withdrawn', awaiting_since = 1, release_status = NULL",
            ),
            (
                "updates",
                "UPDATE updates SET status = 'withdrawn', release_status = 'paused'",
            ),
            ("updates", "UPDATE updates SET deleted_at = 1"),
            ("submissions", "UPDATE submissions SET status = 'canceled'"),
            ("submissions", "UPDATE submissions SET deleted = 1"),
            ("submissions", "UPDATE submissions SET deleted = 0"),
            ("submissions", "DELETE FROM submissions"),
            ("deliveries", "DELETE FROM deliveries"),
        ]);
        let ids = format!("SELECT id FROM {table} WHERE org_id = '{}' ORDER BY id", self.org);
        let ids = db.raw_texts(&ids).await;
        if !ids.is_empty() {
            db.raw(&format!("{change} WHERE id = '{}'", ids[dice.below(ids.len())]))
                .await;
        }
    }

    /// Creates, changes and deletes rows.
    pub async fn live(&mut self, db: &TestDb, steps: usize) {
        for _ in 0..steps {
            match self.dice.below(5) {
                0..3 => self.create(db).await,
                _ => self.change(db).await,
            }
        }
    }

    /// Folds each list, at most so many rows at a time.
    pub async fn fold(&self, db: &Db, limit: i64) {
        for list in LISTS {
            let mut cursor = Some(FoldCursor::default());
            while let Some(from) = cursor {
                cursor = system_writes!(db, fold_list(&self.list(list), &from, limit));
            }
        }
    }

    pub fn list(&self, list: &str) -> UnfoldedList {
        UnfoldedList {
            org: self.org,
            list: list.to_owned(),
        }
    }

    /// Compares the totals of every list with the rows.
    pub async fn check(&self, db: &Db) {
        check_builds(db, self.org).await;
        check_updates(db, self.org).await;
        check_submissions(db, self.org).await;
        check_deliveries(db, self.org, self.webhook.id).await;
        check_audit(db, self.org).await;
    }
}

fn contains(text: &str, part: Option<&str>) -> bool {
    part.is_none_or(|part| text.to_lowercase().contains(&part.to_lowercase()))
}

async fn check_builds(db: &Db, org: OrgId) {
    let all = org_reads!(db, org, builds(&BuildFilter::default(), ALL)).items;
    for bits in 0..128_u32 {
        let has = |bit: u32| bits & (1 << bit) != 0;
        let filter = BuildFilter {
            status: has(0).then_some(BuildStatus::Failed),
            platform: has(1).then_some(Platform::Ios),
            bundle: has(2).then(|| bundle("com.example.other")),
            configuration: has(3).then(|| "beta".parse().unwrap()),
            branch: has(4).then(|| "main".to_owned()),
            bundle_part: has(5).then(|| "EXAMPLE.o".to_owned()),
            branch_part: has(6).then(|| "AI".to_owned()),
            configuration_part: None,
        };
        let matching = all.iter().filter(|build| {
            let branch = build
                .spec
                .git
                .as_ref()
                .and_then(|git| git.branch.as_deref())
                .unwrap_or_default();
            filter.status.is_none_or(|status| build.state.status == status)
                && filter.platform.is_none_or(|platform| build.platform == platform)
                && filter
                    .bundle
                    .as_ref()
                    .is_none_or(|name| bundle(&build.bundle_id) == *name)
                && filter
                    .configuration
                    .as_ref()
                    .is_none_or(|name| build.configuration.as_ref() == Some(name))
                && filter.branch.as_ref().is_none_or(|name| branch == name)
                && contains(&build.bundle_id, filter.bundle_part.as_deref())
                && contains(branch, filter.branch_part.as_deref())
        });
        let matching: Vec<_> = matching.map(|build| build.id).collect();
        let first = org_reads!(db, org, builds(&filter, FULL));
        let items: Vec<_> = first.items.iter().map(|build| build.id).collect();
        assert_eq!(items, matching[..matching.len().min(1)], "{filter:?}");
        assert_eq!(first.total, matching.len() as i64, "{filter:?}");
        let rest = org_reads!(db, org, builds(&filter, Paging { offset: 1, ..ALL }));
        let items: Vec<_> = rest.items.iter().map(|build| build.id).collect();
        assert_eq!(items, matching[matching.len().min(1)..], "{filter:?}");
    }
}

async fn check_updates(db: &Db, org: OrgId) {
    let all = org_reads!(db, org, updates(&UpdateFilter::default(), ALL)).items;
    for bits in 0..16_u32 {
        for status in [
            None,
            Some(UpdateStatus::Paused),
            Some(UpdateStatus::Withdrawn),
            Some(UpdateStatus::AwaitingSignature),
        ] {
            let has = |bit: u32| bits & (1 << bit) != 0;
            let filter = UpdateFilter {
                status,
                platform: has(0).then_some(Platform::Ios),
                bundle: has(1).then(|| bundle("com.example.other")),
                configuration: has(2).then(|| "beta".parse().unwrap()),
                bundle_part: has(3).then(|| "EXAMPLE.o".to_owned()),
                ..UpdateFilter::default()
            };
            let matching = all.iter().filter(|update| {
                status.is_none_or(|status| update.status == status)
                    && filter.platform.is_none_or(|platform| update.platform == platform)
                    && filter
                        .bundle
                        .as_ref()
                        .is_none_or(|name| bundle(&update.bundle_id) == *name)
                    && filter
                        .configuration
                        .as_ref()
                        .is_none_or(|name| update.configuration.as_ref() == Some(name))
                    && contains(&update.bundle_id, filter.bundle_part.as_deref())
            });
            let matching: Vec<_> = matching.map(|update| update.id).collect();
            let first = org_reads!(db, org, updates(&filter, FULL));
            let items: Vec<_> = first.items.iter().map(|update| update.id).collect();
            assert_eq!(items, matching[..matching.len().min(1)], "{filter:?}");
            assert_eq!(first.total, matching.len() as i64, "{filter:?}");
        }
    }
}

async fn check_submissions(db: &Db, org: OrgId) {
    let all = org_reads!(db, org, submissions(&SubmissionFilter::default(), ALL)).items;
    for bits in 0..32_u32 {
        let has = |bit: u32| bits & (1 << bit) != 0;
        let build = all.first().and_then(|first| first.build_id);
        let filter = SubmissionFilter {
            status: has(0).then_some(SubmissionStatus::Canceled),
            platform: has(1).then_some(Platform::Ios),
            bundle: has(2).then(|| bundle("com.example.other")),
            bundle_part: has(3).then(|| "EXAMPLE.o".to_owned()),
            build: build.filter(|_| has(4)),
            build_part: None,
        };
        let matching = all.iter().filter(|one| {
            filter.status.is_none_or(|status| one.state.status == status)
                && filter.platform.is_none_or(|platform| one.platform == platform)
                && filter
                    .bundle
                    .as_ref()
                    .is_none_or(|name| bundle(&one.bundle_id) == *name)
                && filter.build.is_none_or(|build| one.build_id == Some(build))
                && contains(&one.bundle_id, filter.bundle_part.as_deref())
        });
        let matching: Vec<_> = matching.map(|one| one.id).collect();
        let first = org_reads!(db, org, submissions(&filter, FULL));
        let items: Vec<_> = first.items.iter().map(|one| one.id).collect();
        assert_eq!(items, matching[..matching.len().min(1)], "{filter:?}");
        assert_eq!(first.total, matching.len() as i64, "{filter:?}");
    }
}

async fn check_deliveries(db: &Db, org: OrgId, webhook: WebhookId) {
    let all = org_reads!(db, org, deliveries(webhook, ALL)).items.len();
    let first = org_reads!(db, org, deliveries(webhook, FULL));
    assert_eq!((first.items.len(), first.total), (all.min(1), all as i64));
}

async fn check_audit(db: &Db, org: OrgId) {
    let all = org_reads!(db, org, audit(&AuditFilter::default(), ALL)).items;
    for bits in 0..32_u32 {
        let has = |bit: u32| bits & (1 << bit) != 0;
        let filter = AuditFilter {
            actor: has(0).then(|| "service".to_owned()),
            action: has(1).then(|| "key.revoke".to_owned()),
            action_part: has(2).then(|| "REV".to_owned()),
            resource: has(3).then(|| "key_x".to_owned()),
            until: has(4).then_some(NOW),
            ..AuditFilter::default()
        };
        let matching = all.iter().filter(|line| {
            filter.actor.as_ref().is_none_or(|actor| line.row.actor == *actor)
                && filter.action.as_ref().is_none_or(|action| line.row.action == *action)
                && contains(&line.row.action, filter.action_part.as_deref())
                && filter
                    .resource
                    .as_ref()
                    .is_none_or(|resource| line.row.resource == *resource)
                && filter.until.is_none_or(|until| line.row.at < until)
        });
        let total = matching.count() as i64;
        assert_eq!(org_reads!(db, org, audit(&filter, FULL)).total, total, "{filter:?}");
    }
}
