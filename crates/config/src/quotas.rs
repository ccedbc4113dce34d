//! Quotas: how much an organization may use in a month, how many builds it may have at once and how much it may store,
//! such as `free:builds=30,running-builds=1,stored-bytes=10000000000;pro:updates=1000,apps=500`.

use launchway_domain::tenancy::Tier;
use launchway_domain::usage::{Concurrency, Counter, Holding, Quotas};

use super::ConfigError;

/// What a quota limits.
#[derive(Clone, Copy)]
enum QuotaKind {
    ByMonth(Counter),
    Concurrency(Concurrency),
    Held(Holding),
}

/// The names of the quotas. Checks have none: phones must not suffer for it.
const QUOTAS: [(&str, QuotaKind); 9] = [
    ("builds", QuotaKind::ByMonth(Counter::Builds)),
    ("build-minutes", QuotaKind::ByMonth(Counter::BuildSeconds)),
    ("submissions", QuotaKind::ByMonth(Counter::Submissions)),
    ("updates", QuotaKind::ByMonth(Counter::Updates)),
    ("bytes", QuotaKind::ByMonth(Counter::Bytes)),
    ("running-builds", QuotaKind::Concurrency(Concurrency::RunningBuilds)),
    ("queued-builds", QuotaKind::Concurrency(Concurrency::QueuedBuilds)),
    ("stored-bytes", QuotaKind::Held(Holding::StoredBytes)),
    ("apps", QuotaKind::Held(Holding::Apps)),
];

/// How many bundle ids an organization may claim by default. A claimed id is unavailable to everybody else, so claims
/// must be bounded.
const APPS: [(Tier, u64); 3] = [(Tier::Free, 100), (Tier::Pro, 1_000), (Tier::Enterprise, 10_000)];

/// Parses `--quotas`: tiers separated by `;`, each with its quotas separated by `,`. An empty text limits only the
/// number of bundle ids.
pub fn parse(text: &str) -> Result<Quotas, ConfigError> {
    let mut quotas = Quotas::default();
    for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        let (tier, limits) = part.split_once(':').ok_or_else(|| {
            wrong(format!(
                "`{part}` is not a tier and its limits, such as free:builds=30,updates=20"
            ))
        })?;
        let tier: Tier = tier
            .trim()
            .parse()
            .map_err(|_| wrong(format!("`{}` is not free, pro or enterprise", tier.trim())))?;
        for limit in limits.split(',').map(str::trim) {
            let (what, most) = read_limit(limit)?;
            let known = match what {
                QuotaKind::ByMonth(counter) => quotas.monthly_quota(tier, counter),
                QuotaKind::Concurrency(what) => quotas.concurrency_quota(tier, what),
                QuotaKind::Held(holding) => quotas.holding_quota(tier, holding),
            };
            if known.is_some() {
                return Err(wrong(format!("`{limit}` sets the same limit of the tier {tier} again")));
            }
            match what {
                QuotaKind::ByMonth(counter) => quotas.set_monthly_quota(tier, counter, most),
                QuotaKind::Concurrency(what) => quotas.set_concurrency_quota(tier, what, most),
                QuotaKind::Held(holding) => quotas.set_holding_quota(tier, holding, most),
            }
        }
    }
    for (tier, most) in APPS {
        if quotas.holding_quota(tier, Holding::Apps).is_none() {
            quotas.set_holding_quota(tier, Holding::Apps, most);
        }
    }
    Ok(quotas)
}

fn read_limit(limit: &str) -> Result<(QuotaKind, u64), ConfigError> {
    let (name, most) = limit
        .split_once('=')
        .ok_or_else(|| wrong(format!("`{limit}` is not a limit such as updates=20")))?;
    let (name, most) = (name.trim(), most.trim());
    let Some((_, what)) = QUOTAS.into_iter().find(|(known, _)| *known == name) else {
        let names = QUOTAS.map(|(known, _)| known).join(", ");
        return Err(wrong(format!("`{name}` is not one of {names}")));
    };
    let digits = most.bytes().all(|digit| digit.is_ascii_digit());
    match most.parse() {
        Ok(most) if digits => Ok((what, most)),
        _ => Err(wrong(format!("{name}=`{most}` is not a whole number"))),
    }
}

fn wrong(problem: String) -> ConfigError {
    ConfigError::new("--quotas", problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tier_has_its_limits() {
        let quotas =
            parse(" free: builds=30, build-minutes=300,submissions=0 ; pro:updates=1000,bytes=5 ;").expect("good");
        let most = |tier, counter| quotas.monthly_quota(tier, counter);
        assert_eq!(most(Tier::Free, Counter::Builds), Some(30));
        assert_eq!(most(Tier::Free, Counter::BuildSeconds), Some(300));
        assert_eq!(most(Tier::Free, Counter::Submissions), Some(0));
        assert_eq!(most(Tier::Free, Counter::Updates), None);
        assert_eq!(most(Tier::Pro, Counter::Updates), Some(1000));
        assert_eq!(most(Tier::Pro, Counter::Bytes), Some(5));
        assert_eq!(most(Tier::Enterprise, Counter::Builds), None);
        let quotas = parse("free:running-builds=2,queued-builds=100").expect("good");
        assert_eq!(
            quotas.concurrency_quota(Tier::Free, Concurrency::RunningBuilds),
            Some(2)
        );
        assert_eq!(
            quotas.concurrency_quota(Tier::Free, Concurrency::QueuedBuilds),
            Some(100)
        );
        assert_eq!(quotas.concurrency_quota(Tier::Pro, Concurrency::QueuedBuilds), None);
        for nothing in ["", " ", ";"] {
            assert!(parse(nothing).expect("good").is_empty());
        }
    }

    #[test]
    fn what_is_held_is_limited_by_tier_and_bundle_ids_always() {
        let quotas = parse("free:stored-bytes=5000000000,apps=3;pro:stored-bytes=0").expect("good");
        let most = |tier, holding| quotas.holding_quota(tier, holding);
        assert_eq!(most(Tier::Free, Holding::StoredBytes), Some(5_000_000_000));
        assert_eq!(most(Tier::Pro, Holding::StoredBytes), Some(0));
        assert_eq!(most(Tier::Enterprise, Holding::StoredBytes), None);
        let apps = [Tier::Free, Tier::Pro, Tier::Enterprise].map(|tier| most(tier, Holding::Apps));
        assert_eq!(apps, [Some(3), Some(1_000), Some(10_000)]);
        assert_eq!(
            parse("").expect("good").holding_quota(Tier::Free, Holding::Apps),
            Some(100)
        );
        let twice = parse("free:apps=1,apps=2").expect_err("twice").to_string();
        assert_eq!(twice, "--quotas: `apps=2` sets the same limit of the tier free again");
    }

    #[test]
    fn a_bad_one_is_one_line_that_says_what_would_do() {
        for (text, line) in [
            (
                "free",
                "--quotas: `free` is not a tier and its limits, such as free:builds=30,updates=20",
            ),
            ("gold:builds=1", "--quotas: `gold` is not free, pro or enterprise"),
            ("free:", "--quotas: `` is not a limit such as updates=20"),
            ("free:builds", "--quotas: `builds` is not a limit such as updates=20"),
            (
                "free:checks=1",
                "--quotas: `checks` is not one of builds, build-minutes, submissions, updates, bytes, \
                 running-builds, queued-builds, stored-bytes, apps",
            ),
            ("free:builds=many", "--quotas: builds=`many` is not a whole number"),
            ("free:builds=-1", "--quotas: builds=`-1` is not a whole number"),
            ("free:builds=+1", "--quotas: builds=`+1` is not a whole number"),
            (
                "free:builds=99999999999999999999",
                "--quotas: builds=`99999999999999999999` is not a whole number",
            ),
            (
                "free:builds=1;free:builds=2",
                "--quotas: `builds=2` sets the same limit of the tier free again",
            ),
        ] {
            assert_eq!(parse(text).expect_err(text).to_string(), line);
        }
    }
}
