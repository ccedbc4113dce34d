//! What the settings file accepts and rejects, and how profiles extend one another.

use launchway_domain::build::{BuildType, Distribution};
use launchway_domain::platform::Platform;
use proptest::prelude::*;

use super::*;
use crate::file::profile::merge;
use crate::file::sdk::{Apply, CheckOn, ReadyMode};
use crate::framework::Framework;

const WHOLE: &str = r#"
[app]
bundle_id = 'com.example.app'

[server]
url = 'https://a.example'
dev_url = 'https://b.example'
org = 'org_1'

[build.base]
framework = 'capacitor'
directory = 'apps/mobile'
labels = ['java=17']
env = { A = 'base', B = 'base' }
timeout_seconds = 1800
before_build = [{ name = 'check', run = 'npm test', timeout_seconds = 60 }]
android.flavor = 'base'

[build.production]
extends = 'base'
configuration = 'production'
build_type = 'release'
distribution = 'store'
env = { B = 'production' }
labels = []

[build.production.ios]
labels = ['xcode=26']
scheme = 'App'
env = { B = 'ios' }

[build.own]
steps = [{ name = 'make', run = 'make' }]
artifacts = [{ path = 'out/*.apk' }, { path = 'out/map', kind = 'mapping' }]
cache = [{ key = 'make', paths = ['out', '~/.make'] }]

[submit.production.ios]
destination = 'testflight'
groups = ['Team']

[submit.production.android]
destination = 'production'
rollout = 10
release_notes = { en-US = 'Faster' }

[update]
configuration = 'production'
dir = 'dist'

[fingerprint]
include = ['native/**']
exclude = ['native/docs/**']

[sdk]
server_url = 'https://updates.example'
check_on = 'resume'
apply = 'onBackground'
ready_mode = 'manual'
ready_timeout_ms = 1000
wifi_only = true
keep_slots = 10
entry_file = 'web/index.html'
"#;

#[test]
fn reads_everything_it_knows() {
    let project = parse(WHOLE).expect("a good file");
    assert_eq!(project.app.bundle_id.as_deref(), Some("com.example.app"));
    assert_eq!(project.server.url.as_deref(), Some("https://a.example"));
    assert_eq!(project.server.dev_url.as_deref(), Some("https://b.example"));
    assert_eq!(project.server.org.as_deref(), Some("org_1"));
    assert_eq!(project.update.configuration.as_deref(), Some("production"));
    assert_eq!(project.update.dir.as_deref(), Some(Path::new("dist")));
    assert_eq!(project.fingerprint.include, ["native/**"]);
    assert_eq!(project.fingerprint.exclude, ["native/docs/**"]);
    let submit = &project.submit["production"];
    let ios = submit.ios.as_ref().expect("a target");
    assert_eq!(
        (ios.destination.as_deref(), &ios.groups[..]),
        (Some("testflight"), &["Team".to_owned()][..])
    );
    let android = submit.android.as_ref().expect("a target");
    assert_eq!(
        (android.rollout, android.release_notes["en-US"].as_str()),
        (Some(10), "Faster")
    );
    let sdk = Sdk {
        server_url: Some("https://updates.example".to_owned()),
        check_on: Some(CheckOn::Resume),
        apply: Some(Apply::OnBackground),
        ready_mode: Some(ReadyMode::Manual),
        ready_timeout_ms: Some(1000),
        wifi_only: Some(true),
        keep_slots: Some(10),
        entry_file: Some("web/index.html".to_owned()),
    };
    assert_eq!(project.sdk, Some(sdk));
    assert_eq!(parse(""), Ok(Project::default()));
}

#[test]
fn a_profile_builds_on_what_it_extends() {
    let project = parse(WHOLE).expect("a good file");
    let profile = |platform| merge(&project.build, "production", platform).expect("a profile");
    let (android, ios) = (profile(Platform::Android), profile(Platform::Ios));
    for profile in [&android, &ios] {
        assert_eq!(profile.framework, Some(Framework::Capacitor));
        assert_eq!(profile.directory.as_deref(), Some("apps/mobile"));
        assert_eq!(profile.build_type, Some(BuildType::Release));
        assert_eq!(profile.distribution, Some(Distribution::Store));
        assert_eq!(profile.timeout_seconds, Some(1800));
        assert_eq!(profile.env["A"], "base", "tables are merged");
        assert_eq!(profile.before_build.as_ref().map(Vec::len), Some(1));
    }
    assert_eq!(android.labels.as_deref(), Some(&[][..]), "lists replace");
    assert_eq!(android.env["B"], "production");
    assert_eq!(
        (android.flavor.as_deref(), android.scheme.as_deref()),
        (Some("base"), None)
    );
    assert_eq!(ios.labels.as_deref(), Some(&["xcode=26".to_owned()][..]));
    assert_eq!(ios.env["B"], "ios");
    assert_eq!((ios.flavor.as_deref(), ios.scheme.as_deref()), (None, Some("App")));
    let own = merge(&project.build, "own", Platform::Android).expect("a profile");
    let artifacts: Vec<_> = own
        .artifacts
        .iter()
        .flatten()
        .map(|artifact| artifact.to_plan("a/"))
        .collect();
    assert_eq!(
        (artifacts[0].path.as_str(), artifacts[0].kind.as_str()),
        ("a/out/*.apk", "apk")
    );
    assert_eq!(
        (artifacts[1].path.as_str(), artifacts[1].kind.as_str()),
        ("a/out/map", "mapping")
    );
    let cache: Vec<_> = own.cache.iter().flatten().map(|cache| cache.to_plan("a/")).collect();
    assert_eq!(cache[0].paths, ["a/out", "~/.make"]);
}

#[test]
fn names_what_is_wrong_and_its_line() {
    let rows = [
        (
            "[app]\nbundleid = 'x'",
            "line 2: unknown key `bundleid`; did you mean `bundle_id`?",
        ),
        ("[apps]", "line 1: unknown key `apps`; did you mean `app`?"),
        (
            "[other]",
            "line 1: unknown key `other`; known are app, server, build, submit, update, fingerprint, sdk",
        ),
        (
            "[update]\n\nconfiguration = 3",
            "line 3: invalid type: integer `3`, expected a string",
        ),
        (
            "[build.a]\nbuildType = 'debug'",
            "line 2: unknown key `buildType`; did you mean `build_type`?",
        ),
        (
            "[build.a]\n[build.a.ios]\nschema = 'A'",
            "line 3: unknown key `schema`; did you mean `scheme`?",
        ),
        (
            "[build.a]\nbuild_type = 'relase'",
            "line 2: `relase` must be one of debug, release",
        ),
        (
            "[build.a]\ndistribution = 'adhoc'",
            "line 2: `adhoc` must be one of store, internal, simulator, development",
        ),
        (
            "[build.a]\nframework = 'reactnative'",
            "line 2: unknown value `reactnative`; did you mean `react-native`?",
        ),
        (
            "[build]\ndistribution = 'store'",
            "line 2: invalid type: string \"store\", expected a table, such as [build.production]",
        ),
        (
            "[build.a.android]\nextends = 'b'",
            "line 1: `extends` is not allowed here; move it to [build.<profile>]",
        ),
        (
            "[build.a.ios.android]\nflavor = 'b'",
            "line 1: `android` is not allowed here; move it to [build.<profile>]",
        ),
        (
            "[build.android]\nflavor = 'b'",
            "[build.android] is the name of a platform: write [build.<profile>.android], such as \
             [build.production.android]",
        ),
        (
            "[build.production]\n[build.a]\nextends = 'prodution'",
            "[build.a] extends a profile that does not exist: there is no [build.prodution]; did you mean \
             [build.production]?",
        ),
        (
            "[build.a]\nextends = 'a'",
            "profiles extend one another in a circle: a extends a",
        ),
        (
            "[build.a]\nextends = 'b'\n[build.b]\nextends = 'c'\n[build.c]\nextends = 'b'",
            "profiles extend one another in a circle: a extends b extends c extends b",
        ),
        (
            "[build.a]\ndirectory = '../other'",
            "[build.a]: directory must be relative to launchway.toml, with `/`, without `..`",
        ),
        (
            "[build.b]\nafter_build = [{name = 'x', run = 'y'}]\n[build.c]\nextends = 'b'\nsteps = []",
            "[build.c] has both steps and after_build: steps are the whole build, so move everything there",
        ),
        (
            "[submit.a.ios]\ntrack = 'beta'",
            "line 2: unknown key `track`; known are destination, groups, rollout, release_notes, credential_id, \
             uses_non_exempt_encryption, manual_release, draft, priority, countries, changes_not_sent_for_review",
        ),
    ];
    for (text, problem) in rows {
        assert_eq!(parse(text).expect_err(text), problem);
    }
    let sdk = [
        (
            "apply = 'next_launch'",
            "unknown value `next_launch`; did you mean `nextLaunch`?",
        ),
        (
            "check_on = 'always'",
            "unknown value `always`; known are launch, resume, manual",
        ),
        ("ready_timeout_ms = 999", "999 must be a number from 1000 to 600000"),
        ("ready_timeout_ms = -1", "-1 must be a number from 1000 to 600000"),
        ("keep_slots = 11", "11 must be a number from 1 to 10"),
        ("keep_slots = 0", "0 must be a number from 1 to 10"),
        (
            "serverUrl = 'https://a.example'",
            "unknown key `serverUrl`; did you mean `server_url`?",
        ),
        (
            "entry_file = '../index.html'",
            "`../index.html` must be a path in the package, with `/`, without `..`",
        ),
    ];
    for (line, problem) in sdk {
        let found = parse(&format!("[sdk]\n{line}")).expect_err(line);
        assert_eq!(found, format!("line 2: {problem}"));
    }
    assert!(parse("[app\n").expect_err("no TOML").starts_with("line 1: "));
    let many: String = (0..101).map(|at| format!("[build.p{at}]\n")).collect();
    assert_eq!(
        parse(&many).expect_err("too many"),
        "the file has more than 100 build profiles"
    );
    let long: String = (0..12)
        .map(|at| format!("[build.p{at}]\nextends = 'p{}'\n", at + 1))
        .collect();
    let problem = parse(&format!("{long}[build.p12]")).expect_err("too deep");
    assert!(
        problem.starts_with("more than 10 profiles extend one another: p0 extends p1"),
        "{problem}"
    );
}

#[test]
fn an_unknown_profile_is_told_with_those_that_there_are() {
    let project = parse(WHOLE).expect("a good file");
    let problem = |name: &str| merge(&project.build, name, Platform::Ios).expect_err(name).to_string();
    assert_eq!(
        problem("prod"),
        "there is no [build.prod]; the profiles are base, own, production"
    );
    assert_eq!(
        problem("productoin"),
        "there is no [build.productoin]; did you mean [build.production]?"
    );
    let none = merge(&Profiles::new(), "x", Platform::Ios)
        .expect_err("no profile")
        .to_string();
    assert_eq!(none, "there is no [build.x] and no other profile");
}

#[test]
fn looks_above_but_not_beyond_the_repository() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let (repository, below) = (
        top.path().join("repository"),
        top.path().join("repository/packages/app"),
    );
    std::fs::create_dir_all(&below).expect("space");
    std::fs::write(top.path().join(NAME), "").expect("space");
    assert_eq!(find_above(&below), None, "nothing marks the repository");
    std::fs::create_dir(repository.join(".git")).expect("space");
    assert_eq!(find_above(&below), None, "it lies beyond");
    std::fs::write(repository.join(NAME), "").expect("space");
    assert_eq!(find_above(&below), Some(repository.join(NAME)));
    std::fs::write(below.join(NAME), "").expect("space");
    assert_eq!(find_above(&below), Some(below.join(NAME)));
}

proptest! {
    /// Any content is either accepted, or rejected with a line or a profile.
    #[test]
    fn a_damaged_file_is_refused(at in 0..WHOLE.len(), cut in 0..40usize, added in "\\PC{0,8}|[\n\t\"'{}\\[\\]=.#]{0,8}") {
        let end = (at + cut).min(WHOLE.len());
        let text = format!("{}{added}{}", &WHOLE[..at], &WHOLE[end..]);
        if let Err(problem) = parse(&text) {
            let placed = problem.starts_with("line ") || problem.contains("[build.") || problem.contains("extend one another");
            prop_assert!(placed && !problem.contains('\n'), "{problem}");
        }
    }
}

#[test]
fn what_nests_without_end_is_refused_before_it_is_read() {
    let key = vec!["a"; 79].join(".");
    let inside = format!("{key} = {{").repeat(79);
    let text = format!("[{key}]\n{inside}b = 1{}\n", "}".repeat(79));
    let expected = "tables, arrays and keys nest more than 32 levels deep";
    assert_eq!(parse(&text).unwrap_err(), expected);
    assert_eq!(parse(&format!("a = {}", "[".repeat(200_000))).unwrap_err(), expected);
    assert_eq!(
        parse(&" ".repeat(300_000)).unwrap_err(),
        "the file has more than 262144 bytes"
    );
}
