//! A histogram that two atomic additions update: the library's own takes a lock.
//!
//! Each bound is a power of two of the unit, so the number of leading zeros is the bucket.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

const MAX_BUCKETS: usize = 14;

/// The bounds of a histogram: the unit, and each next one is the previous one shifted by `shift` bits.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The first bound.
    pub unit: Duration,
    /// 1 doubles each bound, 2 quadruples it.
    pub shift: u32,
    /// The number of bounds, at most 14.
    pub count: usize,
}

/// Counts durations by bucket. Clones share their counts.
#[derive(Clone, Debug)]
pub struct Histogram(Arc<Cells>);

#[derive(Debug)]
struct Cells {
    bounds: Bounds,
    /// The last one counts what exceeds every bound.
    buckets: [AtomicU64; MAX_BUCKETS + 1],
    nanos: AtomicU64,
}

impl Histogram {
    /// An empty histogram.
    pub fn new(bounds: Bounds) -> Histogram {
        Histogram(Arc::new(Cells {
            bounds,
            buckets: Default::default(),
            nanos: AtomicU64::new(0),
        }))
    }

    /// Counts a duration.
    pub fn observe(&self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let bucket = self.0.bounds.bucket(nanos);
        self.0.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.0.nanos.fetch_add(nanos, Ordering::Relaxed);
    }
}

impl Bounds {
    /// The first bucket whose bound is not below the duration.
    fn bucket(self, nanos: u64) -> usize {
        let unit = u64::try_from(self.unit.as_nanos()).unwrap_or(u64::MAX).max(1);
        let units = nanos.div_ceil(unit);
        let bits = u64::BITS - units.saturating_sub(1).leading_zeros();
        let bucket = bits.div_ceil(self.shift.max(1)) as usize;
        bucket.min(self.count.min(MAX_BUCKETS))
    }

    /// The bounds in seconds, ending with infinity.
    fn seconds(self) -> impl Iterator<Item = f64> {
        let count = self.count.min(MAX_BUCKETS);
        let bound = move |at: usize| self.unit.as_secs_f64() * (1_u64 << (at as u32 * self.shift)) as f64;
        (0..count).map(bound).chain([f64::INFINITY])
    }
}

impl TypedMetric for Histogram {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for Histogram {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), std::fmt::Error> {
        let counts = self.0.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        let buckets: Vec<(f64, u64)> = self.0.bounds.seconds().zip(counts).collect();
        // From the same reads as the buckets: they agree although others count meanwhile.
        let count = buckets.iter().map(|(_, count)| count).sum();
        let seconds = Duration::from_nanos(self.0.nanos.load(Ordering::Relaxed)).as_secs_f64();
        encoder.encode_histogram::<NoLabelSet>(seconds, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;
    use proptest::prelude::*;

    use super::*;

    const DOUBLING: Bounds = Bounds {
        unit: Duration::from_millis(1),
        shift: 1,
        count: 4,
    };

    #[test]
    fn a_duration_counts_in_the_first_bound_that_holds_it() {
        let histogram = Histogram::new(DOUBLING);
        for micros in [0, 1, 1000, 1001, 2000, 8000, 8001, u64::MAX / 1000] {
            histogram.observe(Duration::from_micros(micros));
        }
        let mut registry = Registry::default();
        registry.register("took_seconds", "Time", histogram);
        let mut text = String::new();
        encode(&mut text, &registry).expect("a text");
        for line in [
            "# TYPE took_seconds histogram",
            "took_seconds_count 8",
            "took_seconds_bucket{le=\"0.001\"} 3",
            "took_seconds_bucket{le=\"0.002\"} 5",
            "took_seconds_bucket{le=\"0.004\"} 5",
            "took_seconds_bucket{le=\"0.008\"} 6",
            "took_seconds_bucket{le=\"+Inf\"} 8",
        ] {
            assert!(text.lines().any(|have| have == line), "{line} in {text}");
        }
    }

    proptest! {
        #[test]
        fn the_bucket_is_the_one_that_a_search_finds(
            nanos in any::<u64>().prop_flat_map(|top| 0..=top),
            unit in prop_oneof![Just(1), Just(250), Just(1_000_000), Just(1_000_000_000_u64)],
            shift in 1_u32..=2,
            count in 1..=MAX_BUCKETS,
        ) {
            let bounds = Bounds { unit: Duration::from_nanos(unit), shift, count };
            let holds = |at: &usize| u128::from(nanos) <= u128::from(unit) << (*at as u32 * shift);
            prop_assert_eq!(bounds.bucket(nanos), (0..count).find(holds).unwrap_or(count));
        }
    }
}
