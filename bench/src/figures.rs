//! The statistics printed for repeated measurements, and the goals beside them.

use std::fmt;

/// Minimum, median and maximum of some figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub min: f64,
    /// The median; the upper one of two.
    pub median: f64,
    pub max: f64,
}

impl Spread {
    /// The spread of at least one figure; zero for none.
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Spread {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_by(f64::total_cmp);
        let at = |place: usize| figures.get(place).copied().unwrap_or_default();
        Spread {
            min: at(0),
            median: at(figures.len() / 2),
            max: at(figures.len().saturating_sub(1)),
        }
    }
}

impl fmt::Display for Spread {
    /// `min – median – max`, with as many decimals as the format specifies.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = f.precision().unwrap_or(2);
        let Spread { min, median, max } = self;
        write!(f, "{min:.decimals$} – {median:.decimals$} – {max:.decimals$}")
    }
}

/// What a figure should be.
#[derive(Clone, Copy)]
pub enum Goal {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
}

impl Goal {
    /// The goal in words, and whether a figure reaches it.
    pub fn verdict(self, figure: f64) -> String {
        let (words, bound, is_reached) = match self {
            Goal::AtLeast(bound) => ("at least", bound, figure >= bound),
            Goal::AtMost(bound) => ("at most", bound, figure <= bound),
        };
        let verdict = if is_reached { "reached" } else { "missed" };
        format!("(goal: {words} {bound}: {verdict})")
    }
}

/// Bytes in MiB.
pub fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_does_not_depend_on_the_order() {
        let spread = Spread::of([3.0, 1.0, 10.0, 2.0, 2.5]);
        assert_eq!(spread.to_string(), "1.00 – 2.50 – 10.00");
        assert_eq!(format!("{:.0}", Spread::of([7.0])), "7 – 7 – 7");
        assert_eq!(Spread::of([]).max, 0.0);
    }
}
