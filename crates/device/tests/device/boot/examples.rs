//! Named traces. A name that ends in "runs X" states what its last start returns.

use super::trace::{Facts, Step, Unwritten};
use launchway_device::boot::{Ending, Soundness};

type Example = (&'static str, Vec<Step>);

fn stage(slot: &str) -> Step {
    Step::Stage(slot.to_owned())
}

fn start() -> Step {
    Step::start()
}

fn after(ending: Ending) -> Step {
    Step::start_after(ending)
}

fn no_window() -> Step {
    no_window_after(Ending::Explained)
}

fn no_window_after(ending: Ending) -> Step {
    Step::Start(Facts {
        window: false,
        ending,
        ..Facts::default()
    })
}

fn new_binary() -> Step {
    Step::Start(Facts {
        binary: "2".to_owned(),
        ..Facts::default()
    })
}

fn revoking(slot: &str, window: bool) -> Step {
    Step::Start(Facts {
        window,
        revoked: [slot.to_owned()].into(),
        ending: Ending::Explained,
        ..Facts::default()
    })
}

fn finding(slot: &str, soundness: Soundness) -> Step {
    Step::Start(Facts {
        unsound: [(slot.to_owned(), soundness)].into(),
        ending: Ending::Explained,
        ..Facts::default()
    })
}

fn unwritten(file: Unwritten) -> Step {
    Step::Start(Facts {
        fails: Some(file),
        ending: Ending::Explained,
        ..Facts::default()
    })
}

/// Installs and confirms.
fn good(slot: &str) -> Vec<Step> {
    vec![stage(slot), after(Ending::Explained), Step::Confirm]
}

/// The trial of A runs.
fn trial() -> Vec<Step> {
    vec![start(), stage("A"), start()]
}

fn life(parts: &[&[Step]]) -> Vec<Step> {
    parts.concat()
}

pub fn all() -> Vec<Example> {
    [
        plain_lives(),
        trials_that_fail(),
        trials_that_live(),
        crash_loops(),
        starts_without_window(),
        unusable(),
        binaries(),
        unrecorded(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn plain_lives() -> Vec<Example> {
    vec![
        ("the first start: runs embedded", vec![start()]),
        (
            "a download waits for the next start: runs embedded",
            vec![start(), stage("A")],
        ),
        ("a download is tried: runs A", trial()),
        (
            "a confirmed package stays: runs A",
            life(&[&trial(), &[Step::Confirm, after(Ending::Explained)]]),
        ),
        (
            "a later download replaces one that waits: runs B",
            vec![start(), stage("A"), stage("B"), start()],
        ),
        (
            "a second package follows a good one: runs B",
            life(&[&[start()], &good("A"), &good("B"), &[after(Ending::Explained)]]),
        ),
        (
            "the same package again changes nothing: runs A",
            life(&[&[start()], &good("A"), &[stage("A"), after(Ending::Explained)]]),
        ),
        (
            "back to the embedded app by request: runs embedded",
            life(&[&[start()], &good("A"), &[Step::Reset, after(Ending::Explained)]]),
        ),
        (
            "a confirmation without a trial means nothing: runs embedded",
            vec![start(), Step::Confirm, start()],
        ),
        (
            "a package that was good before is tried again: runs A",
            life(&[
                &[start()],
                &good("A"),
                &good("B"),
                &[stage("A"), after(Ending::Explained)],
            ]),
        ),
    ]
}

fn trials_that_fail() -> Vec<Example> {
    let bad = |steps: &[Step]| life(&[&trial(), steps]);
    vec![
        (
            "a crash marker ends a trial: runs embedded",
            bad(&[Step::Crash, start()]),
        ),
        ("a crash ends a trial: runs embedded", bad(&[after(Ending::Crash)])),
        (
            "a native crash ends a trial: runs embedded",
            bad(&[after(Ending::NativeCrash)]),
        ),
        (
            "an app that does not respond ends a trial: runs embedded",
            bad(&[after(Ending::NotResponding)]),
        ),
        (
            "a failed initialization ends a trial: runs embedded",
            bad(&[after(Ending::InitializationFailure)]),
        ),
        (
            "a hang ends a trial: runs embedded",
            bad(&[Step::Hang, after(Ending::Explained)]),
        ),
        (
            "two unexplained deaths end a trial: runs embedded",
            bad(&[start(), start()]),
        ),
        (
            "a trial that fails gives way to the last good one: runs A",
            life(&[&[start()], &good("A"), &[stage("B"), start(), after(Ending::Crash)]]),
        ),
        (
            "a package in quarantine is not tried again: runs embedded",
            bad(&[after(Ending::Crash), stage("A"), start()]),
        ),
        (
            "the next good package follows at once: runs B",
            bad(&[stage("B"), after(Ending::Crash)]),
        ),
        (
            "a crash in the background ends a trial too: runs embedded",
            bad(&[Step::Background, after(Ending::Crash)]),
        ),
    ]
}

fn trials_that_live() -> Vec<Example> {
    let lives = |steps: &[Step]| life(&[&trial(), steps]);
    vec![
        ("one unexplained death is forgiven: runs A", lives(&[start()])),
        (
            "a death in the background counts nothing: runs A",
            lives(&[Step::Background, start(), Step::Background, start()]),
        ),
        (
            "back in the foreground it counts again: runs embedded",
            lives(&[Step::Background, Step::Foreground, start(), start()]),
        ),
        (
            "ends that are explained count nothing: runs A",
            lives(&[
                after(Ending::Explained),
                after(Ending::Explained),
                after(Ending::Explained),
            ]),
        ),
        (
            "a late confirmation outweighs a hang: runs A",
            lives(&[Step::Hang, Step::Confirm, after(Ending::Explained)]),
        ),
        (
            "a crash after the confirmation is forgiven: runs A",
            lives(&[Step::Confirm, after(Ending::Crash)]),
        ),
        (
            "a trial that nobody confirms gives way to the next: runs B",
            lives(&[stage("B"), after(Ending::Explained)]),
        ),
        (
            "and its fall leads to the one before it: runs embedded",
            lives(&[stage("B"), after(Ending::Explained), after(Ending::Crash)]),
        ),
    ]
}

fn crash_loops() -> Vec<Example> {
    let looping = |steps: &[Step]| life(&[&[start()], &good("A"), &good("B"), &[after(Ending::Explained)], steps]);
    let crash = || after(Ending::Crash);
    vec![
        (
            "two early crashes of good content are forgiven: runs B",
            looping(&[crash(), crash()]),
        ),
        ("three in a row are not: runs A", looping(&[crash(), crash(), crash()])),
        (
            "a start that lasts breaks the row: runs B",
            looping(&[crash(), crash(), Step::Settle, crash(), crash(), crash()]),
        ),
        (
            "late crashes do not count: runs B",
            looping(&[Step::Settle, crash(), Step::Settle, crash(), Step::Settle, crash()]),
        ),
        (
            "the last good one can loop too: runs embedded",
            looping(&[crash(), crash(), crash(), crash(), crash(), crash()]),
        ),
        (
            "unexplained deaths of good content count nothing: runs B",
            looping(&[start(), start(), start(), start()]),
        ),
        (
            "the embedded app may crash as it likes: runs embedded",
            vec![start(), crash(), crash(), crash(), crash()],
        ),
    ]
}

fn starts_without_window() -> Vec<Example> {
    let lives = |steps: &[Step]| life(&[&trial(), steps]);
    vec![
        (
            "a start without a window promotes nothing: runs embedded",
            vec![start(), stage("A"), no_window()],
        ),
        (
            "and the next one with a window does: runs A",
            vec![start(), stage("A"), no_window(), after(Ending::Explained)],
        ),
        (
            "it runs a trial that failed and judges nothing: runs A",
            lives(&[no_window_after(Ending::Crash)]),
        ),
        (
            "which the next start with a window judges: runs embedded",
            lives(&[no_window_after(Ending::Crash), after(Ending::Explained)]),
        ),
        (
            "its own crash counts: runs embedded",
            lives(&[no_window(), after(Ending::Crash)]),
        ),
        (
            "its own unexplained death does not: runs A",
            lives(&[no_window(), start(), no_window_after(Ending::Explained), start()]),
        ),
        (
            "a confirmation without a window means nothing: runs B",
            lives(&[no_window(), Step::Confirm, stage("B"), after(Ending::Explained)]),
        ),
        (
            "a window that comes later makes it count: runs embedded",
            lives(&[no_window(), Step::Foreground, start(), start()]),
        ),
    ]
}

fn unusable() -> Vec<Example> {
    let good_a = || life(&[&[start()], &good("A")]);
    let good_b = || life(&[&[start()], &good("A"), &good("B")]);
    let next_a = || vec![start(), stage("A")];
    let then = |steps: Vec<Step>, step: Step| life(&[&steps, &[step]]);
    vec![
        (
            "a revoked package is not tried: runs embedded",
            then(next_a(), revoking("A", true)),
        ),
        (
            "a revoked package gives way: runs A",
            then(good_b(), revoking("B", true)),
        ),
        ("also without a window: runs A", then(good_b(), revoking("B", false))),
        (
            "a revoked last good one is skipped: runs embedded",
            life(&[
                &good_b(),
                &[stage("C"), after(Ending::Explained), Step::Crash, revoking("B", true)],
            ]),
        ),
        (
            "a package without its mark is not tried: runs embedded",
            then(next_a(), finding("A", Soundness::Incomplete)),
        ),
        (
            "a package without entry file is not tried: runs embedded",
            then(next_a(), finding("A", Soundness::NoEntryFile)),
        ),
        (
            "a damaged package is not tried: runs embedded",
            then(next_a(), finding("A", Soundness::Damaged)),
        ),
        (
            "hashes are asked the first time only: runs A",
            then(good_a(), finding("A", Soundness::Damaged)),
        ),
        (
            "good content without entry file gives way: runs embedded",
            then(good_a(), finding("A", Soundness::NoEntryFile)),
        ),
        (
            "a damaged package may be downloaded again: runs A",
            life(&[
                &next_a(),
                &[finding("A", Soundness::Damaged), stage("A"), after(Ending::Explained)],
            ]),
        ),
    ]
}

fn binaries() -> Vec<Example> {
    vec![
        (
            "a new binary drops what was installed: runs embedded",
            life(&[&[start()], &good("A"), &[new_binary()]]),
        ),
        ("and what waits: runs embedded", vec![start(), stage("A"), new_binary()]),
        (
            "it ends the quarantine: runs A",
            life(&[
                &trial(),
                &[after(Ending::Crash), new_binary(), stage("A"), new_binary()],
            ]),
        ),
        (
            "it judges nothing of the old one: runs embedded",
            life(&[&trial(), &[Step::Crash, new_binary()]]),
        ),
    ]
}

fn unrecorded() -> Vec<Example> {
    let lives = |steps: &[Step]| life(&[&trial(), steps]);
    let (state, attempt) = (|| unwritten(Unwritten::State), || unwritten(Unwritten::Attempt));
    vec![
        (
            "a trial whose start cannot be recorded does not run: runs embedded",
            vec![start(), stage("A"), attempt()],
        ),
        (
            "nor does one of which nothing can be written: runs embedded",
            vec![start(), stage("A"), state()],
        ),
        (
            "it is tried when the disk has room again: runs A",
            vec![start(), stage("A"), state(), after(Ending::Explained)],
        ),
        (
            "the last good one stands in for a trial: runs A",
            life(&[&[start()], &good("A"), &[stage("B"), start(), attempt()]]),
        ),
        (
            "a stand-in confirms nothing, so the trial can still fail: runs embedded",
            lives(&[attempt(), Step::Confirm, after(Ending::Explained), after(Ending::Crash)]),
        ),
        (
            "nor does one of a start of which nothing was written: runs embedded",
            lives(&[state(), Step::Confirm, after(Ending::Explained), after(Ending::Crash)]),
        ),
        (
            "a crash of a stand-in counts nothing: runs A",
            lives(&[attempt(), Step::Crash, after(Ending::Crash)]),
        ),
        (
            "neither does its marker where nothing was written: runs A",
            lives(&[state(), Step::Crash, Step::Hang, after(Ending::Explained)]),
        ),
        (
            "what a start counted and could not write counts at the next one: runs embedded",
            lives(&[Step::Crash, state(), after(Ending::Explained)]),
        ),
        (
            "what it could write is not counted again: runs A",
            lives(&[unwritten_after_death(), after(Ending::Unexplained)]),
        ),
    ]
}

/// The previous process died without explanation, which is written; the attempt is not.
fn unwritten_after_death() -> Step {
    Step::Start(Facts {
        fails: Some(Unwritten::Attempt),
        ..Facts::default()
    })
}
