//! Truncated and modified files and parts: no panic, no endless work, and an error message for each.

use launchway_testing::mutator::Mutator;
use std::time::{Duration, Instant};

use launchway_binaries::BinaryError;
use launchway_testing::settings::setting;

use crate::fixture::{expected, fixture, packed, read_bytes, unpacked};

/// Bytes that are significant as lengths, numbers, marks or tags.
const MEANING: &[u8] = &[
    0x00, 0x01, 0x03, 0x08, 0x0f, 0x10, 0x1c, 0x30, 0x5f, 0x7f, 0x80, 0xa0, 0xdf, 0xff, b'<', b'P',
];

#[test]
fn a_file_cut_anywhere_is_refused() {
    for name in expected().keys() {
        let whole = fixture(name);
        for length in 0..whole.len() {
            // Every offset near the ends, and some between.
            if length > 200 && length + 600 < whole.len() && !length.is_multiple_of(101) {
                continue;
            }
            assert!(read_bytes(&whole[..length]).is_err(), "{name} cut to {length}");
        }
    }
}

/// Each file as it is, and its content unpacked: changes of compressed data would nearly always fail at the checksum.
struct Corpus(Vec<Whole>);

/// The name of a file, its bytes, and the files inside.
type Whole = (String, Vec<u8>, Vec<(String, Vec<u8>)>);

impl Corpus {
    fn new() -> Self {
        let one = |name: &String| {
            let whole = fixture(name);
            let files = unpacked(&whole);
            (name.clone(), whole, files)
        };
        Self(expected().keys().map(one).collect())
    }

    /// Reads a file that is modified according to the run's number. Returns whether it was accepted.
    fn run(&self, run: u64) -> bool {
        let mut mutator = Mutator::new(run, MEANING);
        let (name, whole, files) = &self.0[mutator.below(self.0.len())];
        let (_, other_whole, other_files) = &self.0[mutator.below(self.0.len())];
        let bytes = if mutator.below(3) == 0 {
            mutator.mutate(whole, other_whole)
        } else {
            let mut files = files.clone();
            let at = mutator.below(files.len());
            let other = &other_files[mutator.below(other_files.len())].1;
            files[at].1 = mutator.mutate(&files[at].1, other);
            packed(&files)
        };
        match read_bytes(&bytes) {
            Ok(facts) => {
                let json = serde_json::to_string(&facts).unwrap();
                assert!(json.len() < 64 << 10, "run {run}: {name} says {} bytes", json.len());
                true
            }
            Err(BinaryError::Unreadable(error)) => panic!("run {run}: {name} is called unreadable: {error}"),
            Err(_) => false,
        }
    }
}

#[test]
fn some_thousand_broken_files_do_no_harm() {
    let corpus = Corpus::new();
    let read = (0..6_000).filter(|run| corpus.run(*run)).count();
    // Most of a file is not read, but some changes must be noticed.
    assert!((1..6_000).contains(&read), "{read}");
}

/// The headers of an executable contain the offsets of everything else.
#[test]
fn executables_with_broken_heads_do_no_harm() {
    const HEAD: usize = 1500;
    let files = unpacked(&fixture("no-purpose.ipa"));
    let at = files
        .iter()
        .position(|(name, _)| name.ends_with(".app/Example"))
        .unwrap();
    let (head, rest) = files[at].1.split_at(HEAD);
    let mut known = 0;
    for run in 0..1_000 {
        let mut files = files.clone();
        files[at].1 = [&Mutator::new(run, MEANING).mutate(head, head), rest].concat();
        let facts = read_bytes(&packed(&files)).unwrap_or_else(|error| panic!("run {run}: {error}"));
        let classes = facts.system_classes.unwrap_or_default();
        assert!(
            classes.iter().all(|class| *class == "AVCaptureDevice"),
            "run {run}: {classes:?}"
        );
        known += classes.len();
    }
    assert!((1..1_000).contains(&known), "{known}");
}

/// `FUZZ_RUNS` sets the number of runs. A run depends only on its number, which a failure prints.
#[test]
#[ignore = "long run"]
fn a_million_broken_binaries() {
    let runs = setting("FUZZ_RUNS").map_or(1_000_000, |runs| runs.parse().expect("FUZZ_RUNS is a number"));
    let corpus = Corpus::new();
    let (mut read, mut slowest) = (0u64, Duration::ZERO);
    for run in 0..runs {
        let start = Instant::now();
        let looked = std::panic::catch_unwind(|| corpus.run(run));
        read += u64::from(looked.unwrap_or_else(|_| panic!("run {run} failed, see above")));
        slowest = slowest.max(start.elapsed());
    }
    println!("summary: {runs} broken binaries: {read} were still read, the slowest took {slowest:?}");
    assert!(read < runs, "nothing was broken");
}
