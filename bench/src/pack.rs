//! Measures the command line on projects of many files: the fingerprint, a build and an update, until the server has them, each
//! beside `tar` and `sha256sum` of the same files.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use crate::args::{CompressArgs, PackArgs};
use crate::figures::{Goal, Spread};
use crate::publisher::create_key;
use crate::server::Server;
use crate::{child, programs, project};

/// The processor time of the command line is at most so many times that of the programs beside it.
const CPU: f64 = 1.5;
/// The levels of compression of the command line: of builds with Zstandard, of updates with Deflate.
const ZSTANDARD: i32 = 3;
const DEFLATE: u32 = 6;
/// The hash of every file of the current folder.
const HASHES: &str = "find . -type f -print0 | xargs -0 sha256sum";
/// An archive of a folder, compressed by this program, and its hash. The parameters are this program, the form, the folder and the
/// archive.
const ARCHIVE: &str = r#"tar --create --file=- --directory="$3" . | "$1" compress "$2" > "$4" && sha256sum "$4""#;

/// What is measured.
struct Bench {
    cli: PathBuf,
    address: SocketAddr,
    key: String,
    /// A folder for the projects and everything that is written.
    root: PathBuf,
}

/// Measures each command and the programs beside it in turn, and prints their ratios.
///
/// # Errors
/// When a program fails.
pub fn run(args: &PackArgs) -> anyhow::Result<()> {
    let program = programs::server(args.server.as_deref())?;
    let cli = programs::cli(args.cli.as_deref())?;
    let data = tempfile::tempdir()?;
    let key = create_key(&program, data.path())?;
    let folder = tempfile::tempdir()?;
    let root = folder.path().to_owned();
    project::android(&root.join("project"), args.files)?;
    project::folder(&root.join("update/www"), "js", args.update_files)?;
    let mut command = programs::serve(&program, data.path());
    command.arg("--no-runner");
    let server = Server::start(command)?;
    let address = server.address;
    let bench = Bench {
        cli,
        address,
        key,
        root,
    };
    let mut out = io::stdout();
    writeln!(
        out,
        "The command line on a project of {} files and an update of {}, {} rounds, beside the same with `tar` and `sha256sum`, \
         min – median – max:",
        args.files, args.update_files, args.rounds
    )?;
    bench.compare("fingerprint", args.rounds, |bench, _| {
        Ok([bench.fingerprint(), bench.hashes()])
    })?;
    bench.compare("build", args.rounds, |bench, _| Ok([bench.build(), bench.source()?]))?;
    bench.compare("update", args.rounds, |bench, round| {
        Ok([bench.update(round), bench.archive("deflate", "update/www")?])
    })
}

impl Bench {
    /// Runs a command and the one beside it in turn, and prints a line. The first round only fills the system's cache.
    fn compare(
        &self,
        name: &str,
        rounds: u32,
        commands: impl Fn(&Bench, u32) -> anyhow::Result<[Command; 2]>,
    ) -> anyhow::Result<()> {
        let (mut cpu, mut ratios, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..=rounds {
            let [mut ours, mut theirs] = commands(self, round)?;
            let (ours, theirs) = (measure(&mut ours)?, measure(&mut theirs)?);
            if round > 0 {
                cpu.push(ours.0);
                ratios.push(ours.0 / theirs.0);
                times.push(ours.1 / theirs.1);
            }
        }
        let (ratios, times) = (Spread::of(ratios), Spread::of(times));
        let goal = Goal::AtMost(CPU).verdict(ratios.median);
        writeln!(
            io::stdout(),
            "{name:<12} {:.3} s CPU   ratio of CPU {ratios:.2}, of time {times:.2}   {goal}",
            Spread::of(cpu)
        )?;
        Ok(())
    }

    fn fingerprint(&self) -> Command {
        self.launchway("project", &["fingerprint", "android"])
    }

    /// A build that stays in the queue: nothing runs it.
    fn build(&self) -> Command {
        self.launchway("project", &["build", "android", "--no-wait"])
    }

    fn update(&self, round: u32) -> Command {
        let version = format!("1.0.{round}");
        let app = [
            "--bundle-id",
            "com.example.pack",
            "--build-number",
            "1",
            "--version",
            &version,
        ];
        let mut command = self.launchway("update", &["update", "android", "--dir", "www", "--all-configurations"]);
        command.args(app);
        command
    }

    fn launchway(&self, project: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.cli);
        // Settings of the shell and a login must not affect the measurement.
        command
            .env_clear()
            .env("HOME", &self.root)
            .env("LAUNCHWAY_URL", format!("http://{}", self.address))
            .env("LAUNCHWAY_API_KEY", &self.key)
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.root.join(project))
            .args(arguments);
        command
    }

    fn hashes(&self) -> Command {
        let mut command = Command::new("sh");
        command.current_dir(self.root.join("project")).args(["-c", HASHES]);
        command
    }

    /// As a build does: the hashes of all files, an archive of them, and its hash.
    fn source(&self) -> anyhow::Result<Command> {
        let mut command = self.archive("zstandard", "project")?;
        command.current_dir(self.root.join("project"));
        Ok(command)
    }

    fn archive(&self, form: &str, folder: &str) -> anyhow::Result<Command> {
        let script = match form {
            "zstandard" => format!("{HASHES} && {ARCHIVE}"),
            _ => ARCHIVE.to_owned(),
        };
        let mut command = Command::new("sh");
        command
            .args(["-c", &script, "sh"])
            .arg(std::env::current_exe()?)
            .arg(form);
        command.arg(self.root.join(folder)).arg(self.root.join("archive"));
        Ok(command)
    }
}

/// The processor time and the time of a command, in seconds.
fn measure(command: &mut Command) -> anyhow::Result<(f64, f64)> {
    let started = Instant::now();
    let cpu = child::run(command)?;
    Ok((cpu.as_secs_f64(), started.elapsed().as_secs_f64()))
}

/// What the process beside the command line does: compresses standard input as it does.
///
/// # Errors
/// When standard output cannot be written.
pub fn compress(args: &CompressArgs) -> anyhow::Result<()> {
    let (mut input, output) = (io::stdin().lock(), io::stdout().lock());
    if args.form == "zstandard" {
        zstd::stream::copy_encode(input, output, ZSTANDARD)?;
        return Ok(());
    }
    let mut encoder = flate2::write::GzEncoder::new(output, flate2::Compression::new(DEFLATE));
    io::copy(&mut input, &mut encoder)?;
    encoder.finish()?.flush()?;
    Ok(())
}
