//! Archives with randomly changed bytes.

use launchway_testing::settings::setting;

use super::*;

#[test]
fn no_mutation_gets_out_or_ends_the_runner() {
    mutate(500);
}

/// `FUZZ_RUNS` sets the number of runs. A run depends only on its number.
#[test]
#[ignore = "long run"]
fn no_mutation_of_very_many_gets_out_or_ends_the_runner() {
    let runs = setting("FUZZ_RUNS").map_or(50_000, |runs| runs.parse().expect("FUZZ_RUNS is a number"));
    mutate(runs);
    println!("summary: {runs} mutated source archives, none got out");
}

fn mutate(runs: u64) {
    let entries = [
        made(EntryType::Directory, "src/", "", b""),
        file("src/a.txt"),
        link("src/b", "../run.sh"),
        made(EntryType::XHeader, "p", "", b"16 path=src/long\n"),
        file("run.sh"),
        made(EntryType::Link, "src/second", "src/a.txt", b""),
    ];
    let tar = tar_of(&entries);
    let zip = zip_of(&[("src/a.txt", Some(0o644), b"content"), ("run.sh", Some(0o755), b"run")]);
    let zst = zstd::encode_all(tar.as_slice(), 1).unwrap();
    let bounds = Bounds {
        bytes: 1 << 20,
        entries: 100,
    };
    let mut stage = Stage::new();
    for run in 0..runs {
        let mut chance = run.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = |below: usize| {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            (chance % below as u64) as usize
        };
        let (name, base) = match run % 4 {
            0 | 1 => ("a.tar.gz", &tar),
            2 => ("a.zip", &zip),
            _ => ("a.tar.zst", &zst),
        };
        let mut bytes = base.clone();
        for _ in 0..=next(6) {
            let at = next(bytes.len());
            match next(4) {
                0 => bytes[at] ^= 1 << next(8),
                1 => bytes[at] = b"/.\0\\25"[next(6)],
                2 => bytes.truncate(at.max(1)),
                _ => {
                    let from = next(bytes.len());
                    bytes[at] = bytes[from];
                }
            }
        }
        if name == "a.tar.gz" {
            fix_checksums(&mut bytes);
            bytes = gz(&bytes);
        }
        if stage.unpack(name, &bytes, bounds).is_ok() {
            stage.check();
            stage = Stage::new();
        }
    }
}

/// Without this, most mutations would fail at the first header.
fn fix_checksums(tar: &mut [u8]) {
    for block in tar.chunks_exact_mut(512) {
        if &block[257..262] == b"ustar" {
            let sum: u64 = block
                .iter()
                .enumerate()
                .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u64::from(*byte) })
                .sum();
            block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
    }
}
