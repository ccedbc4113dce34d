//! One attempt of a build from its source to its files: everything but talking with the server about it.

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

/// One attempt at work.
pub struct Attempt {
    /// What all builds share.
    pub context: Arc<RunnerContext>,
    /// What is to be built.
    pub lease: Arc<Lease>,
    /// Where the archive of the source comes from.
    pub archive: SourceArchive,
    /// Its place in the journal.
    pub record: Record,
    /// Its directory.
    pub workspace: Arc<Workspace>,
    /// What keeps its steps from the rest of the machine.
    pub sandbox: Sandbox,
    /// Its log.
    pub log: LogWriter,
    /// How far it is.
    pub phases: Arc<Phases>,
    /// Whether it is to end.
    pub stopper: Stopper,
}

/// Where the archive of a source comes from.
pub enum SourceArchive {
    /// From here, by the lease's URL.
    Storage(Storage),
    /// It is this file, which nobody changes meanwhile.
    Here(PathBuf),
}

/// What an attempt gave.
#[derive(Debug, Default)]
pub struct Product {
    /// Its files, which are in the journal's hands.
    pub artifacts: Vec<Artifact>,
    /// The document of the native code.
    pub fingerprint: Option<Value>,
    /// The `lwfp-2` hash of the same.
    pub lwfp2: Option<String>,
    /// What did not fit but did not stop it, a sentence each.
    pub warnings: Vec<String>,
}

/// Why an attempt gave nothing.
#[derive(Debug)]
pub enum Failure {
    /// It failed.
    Failed(BuildErrorCode, String),
    /// It was stopped.
    Stopped(StopReason),
}

impl From<StopReason> for Failure {
    fn from(reason: StopReason) -> Self {
        Failure::Stopped(reason)
    }
}

impl Failure {
    /// A defect of the runner or its machine.
    pub(crate) fn internal(problem: impl ToString) -> Self {
        Failure::Failed(BuildErrorCode::Internal, problem.to_string())
    }

    /// What the server is told of a failure in `phase`; `None` where there is nothing to tell, or the build was canceled.
    pub fn error(&self, phase: Option<String>) -> Option<BuildError> {
        let (code, message) = match self {
            Failure::Failed(code, message) => (*code, message.clone()),
            Failure::Stopped(StopReason::TimedOut(seconds)) => (BuildErrorCode::TimedOut, too_long("build", *seconds)),
            Failure::Stopped(StopReason::DiskFull(message)) => (BuildErrorCode::Internal, message.clone()),
            Failure::Stopped(_) => return None,
        };
        Some(BuildError {
            code: code.into(),
            phase,
            message: message.chars().take(2000).collect(),
        })
    }
}

/// Ends a task with what it serves.
struct Guard(JoinHandle<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Calls about the plan that is followed, and the commit that a git source turned out to be.
pub type OnPlan<'a> =
    Box<dyn FnOnce(Resolved, Option<String>) -> futures::future::BoxFuture<'a, Result<(), StopReason>> + Send + 'a>;

impl Attempt {
    /// Does it all. `on_plan` is told the plan before the first step.
    ///
    /// # Errors
    /// It failed or was stopped; the latest phase is where.
    pub async fn run(&self, on_plan: OnPlan<'_>) -> Result<Product, Failure> {
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
                // As shells tell it.
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
        // A cancel that came in the meantime counts.
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

    /// The plan of the request, else what the source says.
    async fn resolve(&self) -> Result<Resolved, Failure> {
        let resolved = match &self.lease.plan {
            Some(plan) => Resolved {
                plan: plan.clone(),
                origin: FROM_REQUEST.to_owned(),
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
                "The plan asks for a runner with {label}, and this one lacks it. Name the labels in the request, or add such a runner."
            ))),
            None => Ok(resolved),
        }
    }

    /// What the steps found the app to be natively.
    async fn report(&self) -> Result<Report, Failure> {
        let workspace = Arc::clone(&self.workspace);
        self.blocking(move |_| step_tool::report(&workspace)).await
    }

    async fn environment(
        &self,
        plan: &Plan,
        commit: Option<&str>,
    ) -> Result<std::collections::BTreeMap<String, String>, Failure> {
        let base = environment::base(
            &self.context.settings.path,
            &self.workspace,
            &self.context.mark(&self.record.key()),
        );
        let (context, lease, workspace) = self.shared();
        let (plan, commit) = (plan.clone(), commit.map(str::to_owned));
        let made = self.blocking(move |stopper| {
            let mut effort = Effort::new(stopper, context.settings.limits.workspace_entries);
            let env = environment::of_steps(base, &lease, &plan, &workspace, commit.as_deref());
            let put = |program: PathBuf| step_tool::put(&workspace, &program, &lease, &context.settings.path);
            env.map(|env| {
                let put = context.program(workspace.user).and_then(put);
                (env, put.and_then(|()| workspace.hand_over(&mut effort)))
            })
        });
        let (env, handed) = made
            .await?
            .map_err(|error| Failure::Failed(BuildErrorCode::SourceInvalid, sentence(&error.to_string())))?;
        handed.map_err(Failure::internal)?;
        Ok(env)
    }

    /// Does blocking work that asks the stopper as it goes; whatever it gave, a build that was stopped is stopped.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Stopper) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let stopper = self.stopper.clone();
        let done = spawn_blocking(move || work(&stopper)).await;
        match self.stopper.reason() {
            Some(reason) => Err(reason.into()),
            None => done.map_err(Failure::internal),
        }
    }

    fn shared(&self) -> (Arc<RunnerContext>, Arc<Lease>, Arc<Workspace>) {
        (
            Arc::clone(&self.context),
            Arc::clone(&self.lease),
            Arc::clone(&self.workspace),
        )
    }

    /// Stops the build when the time is over.
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

fn step_failed(step: &str, how: &str) -> Failure {
    let message = format!("The step '{step}' ended with {how}. The log shows why.");
    Failure::Failed(BuildErrorCode::StepFailed, message)
}

fn too_long(what: &str, seconds: u32) -> String {
    format!("The {what} took longer than {seconds} s. Make it faster, or raise its timeoutSeconds in the plan.")
}

/// A message for people ends with a stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string())
        .unwrap_or_default();
    let stop = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}
