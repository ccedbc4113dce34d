//! One attempt of a build, from its source to its artifacts: everything except the communication with the server.

mod closed;
mod command;
mod fetch;
mod files;
mod foreign;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use foreign::invalid;
use launchway_api::runner::{BuildError, Lease};
use launchway_client::Storage;
use launchway_domain::build::BuildErrorCode;
use launchway_domain::build::plan::{DEFAULT_TIMEOUT, FROM_REQUEST, Plan};
use serde_json::Value;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::context::RunnerContext;
use crate::effort::Effort;
use crate::environment;
use crate::executor::{StepCommand, StepEnd};
use crate::journal::{Artifact, Record};
use crate::log::LogWriter;
use crate::phases::Phases;
use crate::plan::Resolved;
use crate::sandbox::Sandbox;
use crate::step_tool::{self, Report};
use crate::stop::{StopReason, Stopper};
use crate::workspace::{Workspace, disk};

/// One attempt in progress.
pub struct Attempt {
    /// What all builds of the runner share.
    pub context: Arc<RunnerContext>,
    /// The build and everything that its attempt needs.
    pub lease: Arc<Lease>,
    /// Where the source archive comes from.
    pub archive: SourceArchive,
    /// The journal record of the attempt.
    pub record: Record,
    /// The directory of the attempt.
    pub workspace: Arc<Workspace>,
    /// Isolates the steps from the rest of the machine.
    pub sandbox: Sandbox,
    /// The log of the attempt.
    pub log: LogWriter,
    /// The phases so far.
    pub phases: Arc<Phases>,
    /// Stops the attempt.
    pub stopper: Stopper,
}

/// Where the archive of a source comes from.
pub enum SourceArchive {
    /// Object storage: the archive is downloaded from the URL in the lease.
    Storage(Storage),
    /// A local file that nobody changes during the build.
    Here(PathBuf),
}

/// What a successful attempt produced.
#[derive(Debug, Default)]
pub struct Product {
    /// The artifacts, already moved into the journal.
    pub artifacts: Vec<Artifact>,
    /// The fingerprint document.
    pub fingerprint: Option<Value>,
    /// The `lwfp-2` hash of the same document.
    pub lwfp2: Option<String>,
    /// Problems that did not stop the build, one sentence each.
    pub warnings: Vec<String>,
}

/// Why an attempt produced nothing.
#[derive(Debug)]
pub enum AttemptError {
    /// The build failed.
    Failed(BuildErrorCode, String),
    /// The build was stopped.
    Stopped(StopReason),
}

impl From<StopReason> for AttemptError {
    fn from(reason: StopReason) -> Self {
        AttemptError::Stopped(reason)
    }
}

impl AttemptError {
    /// A defect of the runner or its machine.
    pub(crate) fn internal(problem: impl ToString) -> Self {
        AttemptError::Failed(BuildErrorCode::Internal, problem.to_string())
    }

    /// The error to report to the server for a failure in `phase`; `None` if the build was canceled or the runner no
    /// longer owns it.
    pub fn error(&self, phase: Option<String>) -> Option<BuildError> {
        let (code, message) = match self {
            AttemptError::Failed(code, message) => (*code, message.clone()),
            AttemptError::Stopped(StopReason::TimedOut(seconds)) => {
                (BuildErrorCode::TimedOut, too_long("build", *seconds))
            }
            AttemptError::Stopped(StopReason::DiskFull(message)) => (BuildErrorCode::Internal, message.clone()),
            AttemptError::Stopped(_) => return None,
        };
        Some(BuildError {
            code: code.into(),
            phase,
            message: message.chars().take(2000).collect(),
        })
    }
}

/// Aborts a task when dropped.
struct Guard(JoinHandle<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Called with the plan to follow, and the commit that the reference of a git source resolved to.
pub type OnPlan<'a> =
    Box<dyn FnOnce(Resolved, Option<String>) -> futures::future::BoxFuture<'a, Result<(), StopReason>> + Send + 'a>;

impl Attempt {
    /// Runs the whole attempt. `on_plan` is called before the first step.
    ///
    /// # Errors
    /// The attempt failed or was stopped; the latest phase shows where.
    pub async fn run(&self, on_plan: OnPlan<'_>) -> Result<Product, AttemptError> {
        let _disk = self.guard_disk();
        let fetching = self.guard_time(DEFAULT_TIMEOUT);
        self.begin("source").await;
        let commit = self.fetch().await?;
        let resolved = self.resolve().await?;
        let plan = resolved.plan.clone();
        drop(fetching);
        let _time = self.guard_time(plan.timeout());
        on_plan(resolved, commit.clone()).await?;
        let caches = self.restore_caches(&plan).await?;
        let env = self.environment(&plan, commit.as_deref()).await?;
        for step in &plan.steps {
            self.begin(&step.name).await;
            let command = StepCommand::Shell(step.run.clone());
            let limit = step.timeout_seconds.map(|seconds| Duration::from_secs(seconds.into()));
            let closed = self.closed_ports();
            let end = self.run_command(command, env.clone(), limit).await?;
            if end != StepEnd::Exited(0) {
                self.explain(end, closed.as_ref()).await;
            }
            let code = match end {
                StepEnd::Exited(code) => code,
                // Shells report signals the same way.
                StepEnd::Killed(signal) => 128 + signal,
            };
            self.phases.end(Some(code), self.context.machine.now());
            match end {
                StepEnd::Exited(0) => {}
                StepEnd::Exited(code) => return Err(step_failed(&step.name, &format!("exit code {code}"))),
                StepEnd::Killed(signal) => return Err(step_failed(&step.name, &format!("signal {signal}"))),
            }
        }
        let report = self.report().await?;
        self.save_caches(caches).await?;
        self.begin("artifacts").await;
        let artifacts = self.collect(plan).await?;
        self.phases.end(None, self.context.machine.now());
        // A cancellation during the step takes precedence.
        match self.stopper.reason() {
            Some(reason) => Err(reason.into()),
            None => Ok(Product {
                artifacts,
                fingerprint: report.document,
                lwfp2: report.lwfp2,
                warnings: report.problem.into_iter().collect(),
            }),
        }
    }

    async fn begin(&self, phase: &str) {
        self.phases.begin(phase, self.context.machine.now());
        self.log.say(phase).await;
    }

    /// The plan of the request, or else the plan that the source defines.
    async fn resolve(&self) -> Result<Resolved, AttemptError> {
        let resolved = match &self.lease.plan {
            Some(plan) => Resolved {
                plan: plan.clone(),
                origin: FROM_REQUEST.to_owned(),
                profile: None,
            },
            None if self.context.resolver.parses_files() => self.plan_of_source(&self.lease).await?,
            None => {
                let (context, lease, source) = (
                    Arc::clone(&self.context),
                    Arc::clone(&self.lease),
                    self.workspace.source(),
                );
                let resolve = self.blocking(move |_| context.resolver.resolve(&source, &lease));
                resolve.await?.map_err(invalid)?
            }
        };
        resolved
            .plan
            .check()
            .map_err(|error| invalid(format!("{error}. It comes from {}.", resolved.origin)))?;
        match resolved.plan.missing_label(&self.context.settings.labels) {
            Some(label) => Err(invalid(format!(
                "The plan requires a runner with {label}, which this runner does not have. Set the labels in the \
                 request, or add such a runner."
            ))),
            None => Ok(resolved),
        }
    }

    /// The fingerprint report of the steps.
    async fn report(&self) -> Result<Report, AttemptError> {
        let workspace = Arc::clone(&self.workspace);
        self.blocking(move |_| step_tool::report(&workspace)).await
    }

    async fn environment(
        &self,
        plan: &Plan,
        commit: Option<&str>,
    ) -> Result<std::collections::BTreeMap<String, String>, AttemptError> {
        let base = environment::base(
            &self.context.settings.path,
            &self.workspace,
            &self.context.mark(&self.record.key()),
        );
        let (context, lease, workspace) = self.shared();
        let (plan, commit) = (plan.clone(), commit.map(str::to_owned));
        let made = self.blocking(move |stopper| {
            let mut effort = Effort::new(stopper, context.settings.limits.workspace_entries);
            let env = environment::step_environment(base, &lease, &plan, &workspace, commit.as_deref());
            let put = |program: PathBuf| step_tool::put(&workspace, &program, &lease, &context.settings.path);
            env.map(|env| {
                let put = context.program(workspace.user).and_then(put);
                (env, put.and_then(|()| workspace.hand_over(&mut effort)))
            })
        });
        let (env, handed) = made
            .await?
            .map_err(|error| AttemptError::Failed(BuildErrorCode::SourceInvalid, sentence(&error.to_string())))?;
        handed.map_err(AttemptError::internal)?;
        Ok(env)
    }

    /// Runs blocking work that polls the stopper. If the build was stopped, the result of the work is dropped.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Stopper) -> T + Send + 'static,
    ) -> Result<T, AttemptError> {
        let stopper = self.stopper.clone();
        let done = spawn_blocking(move || work(&stopper)).await;
        match self.stopper.reason() {
            Some(reason) => Err(reason.into()),
            None => done.map_err(AttemptError::internal),
        }
    }

    fn shared(&self) -> (Arc<RunnerContext>, Arc<Lease>, Arc<Workspace>) {
        (
            Arc::clone(&self.context),
            Arc::clone(&self.lease),
            Arc::clone(&self.workspace),
        )
    }

    /// Stops the build at its timeout.
    fn guard_time(&self, seconds: u32) -> Guard {
        let stopper = self.stopper.clone();
        Guard(tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(seconds.into())).await;
            stopper.stop(StopReason::TimedOut(seconds));
        }))
    }

    /// Stops the build before it fills the disk.
    fn guard_disk(&self) -> Guard {
        let (context, stopper) = (Arc::clone(&self.context), self.stopper.clone());
        Guard(tokio::spawn(async move {
            let limits = &context.settings.limits;
            loop {
                if let Some(problem) = disk::shortage(
                    context.machine.as_ref(),
                    &context.settings.work_dir,
                    limits.min_free_bytes,
                ) {
                    stopper.stop(StopReason::DiskFull(problem));
                    return;
                }
                context.machine.pause(limits.disk_interval).await;
            }
        }))
    }
}

fn step_failed(step: &str, how: &str) -> AttemptError {
    let message = format!("The step `{step}` ended with {how}. See the log for the reason.");
    AttemptError::Failed(BuildErrorCode::StepFailed, message)
}

fn too_long(what: &str, seconds: u32) -> String {
    format!("The {what} took longer than {seconds} s. Make it faster, or raise its timeoutSeconds in the plan.")
}

/// Ends a message for people with a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string())
        .unwrap_or_default();
    let stop = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}
