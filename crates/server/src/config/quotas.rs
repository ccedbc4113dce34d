//! Quotas: how much an organization may use in a month, such as `free:builds=30,updates=20;pro:updates=1000`.

use launchway_domain::tenancy::Tier;
use launchway_domain::usage::{Counter, Quotas};

use super::ConfigError;

/// What can be limited. Checks cannot: phones must not suffer for it.
const LIMITED: [(&str, Counter); 5] = [
    ("builds", Counter::Builds),
    ("build-minutes", Counter::BuildSeconds),
    ("submissions", Counter::Submissions),
    ("updates", Counter::Updates),
    ("bytes", Counter::Bytes),
];

/// Reads `--quotas`: tiers separated by `;`, each with what it may use of what, separated by `,`. An empty text limits
/// nothing.
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
            let (counter, most) = read_limit(limit)?;
            if quotas.most(tier, counter).is_some() {
                return Err(wrong(format!("`{limit}` limits the same in the tier {tier} again")));
            }
            quotas.set(tier, counter, most);
        }
    }
    Ok(quotas)
}

fn read_limit(limit: &str) -> Result<(Counter, u64), ConfigError> {
    let (name, most) = limit
        .split_once('=')
        .ok_or_else(|| wrong(format!("`{limit}` is not a limit such as updates=20")))?;
    let (name, most) = (name.trim(), most.trim());
    let Some((_, counter)) = LIMITED.into_iter().find(|(known, _)| *known == name) else {
        let names = LIMITED.map(|(known, _)| known).join(", ");
        return Err(wrong(format!("`{name}` is not one of {names}")));
    };
    let digits = most.bytes().all(|digit| digit.is_ascii_digit());
    match most.parse() {
        Ok(most) if digits => Ok((counter, most)),
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
        let most = |tier, counter| quotas.most(tier, counter);
        assert_eq!(most(Tier::Free, Counter::Builds), Some(30));
        assert_eq!(most(Tier::Free, Counter::BuildSeconds), Some(300));
        assert_eq!(most(Tier::Free, Counter::Submissions), Some(0));
        assert_eq!(most(Tier::Free, Counter::Updates), None);
        assert_eq!(most(Tier::Pro, Counter::Updates), Some(1000));
        assert_eq!(most(Tier::Pro, Counter::Bytes), Some(5));
        assert_eq!(most(Tier::Enterprise, Counter::Builds), None);
        for nothing in ["", " ", ";"] {
            assert!(parse(nothing).expect("good").is_empty());
        }
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
                "--quotas: `checks` is not one of builds, build-minutes, submissions, updates, bytes",
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
                "--quotas: `builds=2` limits the same in the tier free again",
            ),
        ] {
            assert_eq!(parse(text).expect_err(text).to_string(), line);
        }
    }
}
