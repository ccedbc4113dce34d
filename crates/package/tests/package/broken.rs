//! Corrupted update packages of every kind: the inspector never panics, never takes long, and an independent reader
//! interprets every package that passes in the same way.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use launchway_package::{Inspected, Limits, inspect};
use launchway_testing::settings::setting;
use proptest::prelude::*;
use proptest::sample::Index;

const LIMITS: Limits = Limits {
    max_files: 100,
    max_unpacked: 1 << 20,
    max_ratio: 200,
    max_path: 512,
};

/// Far above the time for any input of this size, so that a busy machine does not matter.
const TOO_LONG: Duration = Duration::from_secs(20);

const READABLE: &str = "the corpus can be read";

/// Small packages from different programs, valid and broken, in a fixed order.
fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let entries = fs::read_dir(folder).expect(READABLE);
    let mut paths: Vec<_> = entries.map(|entry| entry.expect(READABLE).path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect(READABLE)).collect()
}

/// Inspects the bytes through `file`, and compares a package that passes with an independent reader.
fn look(file: &File, bytes: &[u8]) -> Option<Inspected> {
    let written = file.set_len(0).and_then(|()| file.write_all_at(bytes, 0));
    written.expect("a temporary file takes what is written");
    let inspected = inspect(file, &LIMITS).ok()?;
    let mut reader = zip::ZipArchive::new(std::io::Cursor::new(bytes)).expect("what passes can be opened");
    let (mut files, mut size) = (0, 0);
    for place in 0..reader.len() {
        let mut entry = reader.by_index(place).expect("what passes has readable entries");
        assert!(
            entry.enclosed_name().is_some() && !entry.is_symlink() && !entry.encrypted(),
            "{:?}",
            entry.name()
        );
        let unpacked = std::io::copy(&mut entry.by_ref().take(LIMITS.max_unpacked + 1), &mut std::io::sink());
        size += unpacked.expect("what passes can be unpacked");
        files += u64::from(entry.is_file());
    }
    assert_eq!((inspected.file_count, inspected.unpacked_size), (files, size));
    Some(inspected)
}

#[test]
fn the_corpus_is_judged_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let file = tempfile::tempfile().unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_bad = path.ends_with("encrypted.zip") || path.ends_with("link.zip");
        assert_eq!(
            look(&file, &fs::read(&path).unwrap()).is_none(),
            is_bad,
            "{}",
            path.display()
        );
    }
    assert!(corpus().len() > 8);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_package_with_a_few_changed_bytes_does_no_harm(
        origin in any::<Index>(),
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..8),
        cut in proptest::option::weighted(0.1, any::<Index>()),
    ) {
        let corpus = corpus();
        let mut bytes = origin.get(&corpus).clone();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        look(&tempfile::tempfile().unwrap(), &bytes);
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        look(&tempfile::tempfile().unwrap(), &bytes);
    }
}

/// `FUZZ_RUNS` sets the number of runs. A run depends only on its number, which a failure prints.
#[test]
#[ignore = "long run"]
fn a_million_broken_packages() {
    let runs = setting("FUZZ_RUNS").map_or(1_000_000, |runs| runs.parse().expect("FUZZ_RUNS is a number"));
    let (corpus, file) = (corpus(), tempfile::tempfile().unwrap());
    let (mut passed, mut slowest) = (0u64, Duration::ZERO);
    for run in 0..runs {
        let bytes = Mutator(run).broken(&corpus);
        let start = Instant::now();
        let looked = std::panic::catch_unwind(|| look(&file, &bytes));
        let taken = start.elapsed();
        let looked =
            looked.unwrap_or_else(|_| panic!("run {run} failed, see above; its bytes: {}", hex::encode(&bytes)));
        assert!(taken < TOO_LONG, "run {run} took {taken:?}");
        passed += u64::from(looked.is_some());
        slowest = slowest.max(taken);
    }
    println!("{runs} packages: {passed} passed and mean the same to both readers, the slowest took {slowest:?}");
    assert!(passed < runs, "nothing was broken");
}

/// Corrupts packages; the number is its state.
struct Mutator(u64);

impl Mutator {
    /// Splitmix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn broken(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(4) {
            self.change(&mut bytes, corpus);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let place = self.place(bytes);
        let length = self.below(48).min(bytes.len() - place);
        match self.below(9) {
            0 => bytes
                .iter_mut()
                .skip(place)
                .take(1)
                .for_each(|byte| *byte ^= 1 << (self.next() % 8)),
            1 => bytes
                .iter_mut()
                .skip(place)
                .take(1)
                .for_each(|byte| *byte = self.next() as u8),
            2 => {
                let number = self.number(bytes.len());
                let width = [1, 2, 4, 8][self.below(4)];
                bytes
                    .iter_mut()
                    .skip(place)
                    .zip(number.to_le_bytes())
                    .take(width)
                    .for_each(|(old, new)| *old = new);
            }
            3 => drop(bytes.drain(place..place + length)),
            4 => {
                let copied = bytes[place..place + length].to_vec();
                let target = self.place(bytes);
                bytes.splice(target..target, copied);
            }
            5 => {
                let copied = bytes[place..place + length].to_vec();
                let target = self.place(bytes);
                bytes
                    .iter_mut()
                    .skip(target)
                    .zip(copied)
                    .for_each(|(old, new)| *old = new);
            }
            6 => bytes.truncate(place),
            7 => {
                let other = &corpus[self.below(corpus.len())];
                bytes.truncate(place);
                bytes.extend(&other[self.place(other)..]);
            }
            _ => {
                let letter = b"/\\.\0aA:\xc3"[self.below(8)];
                bytes.iter_mut().skip(place).take(1).for_each(|byte| *byte = letter);
            }
        }
    }

    /// Half of the time in or near a header, because the rest is mostly data.
    fn place(&mut self, bytes: &[u8]) -> usize {
        let marks: Vec<usize> = bytes
            .windows(2)
            .enumerate()
            .filter(|(_, two)| two == b"PK")
            .map(|(at, _)| at)
            .collect();
        let anywhere = self.below(bytes.len() + 1);
        if marks.is_empty() || self.next().is_multiple_of(2) {
            return anywhere;
        }
        (marks[self.below(marks.len())] + self.below(64)).min(bytes.len())
    }

    /// A number at some limit.
    fn number(&mut self, length: usize) -> u64 {
        let near = (self.below(5) as u64).wrapping_sub(2);
        [0, 1 << 8, 1 << 16, 1 << 32, 1 << 31, 1 << 63, length as u64, 22, 46, 30][self.below(10)].wrapping_add(near)
    }
}
