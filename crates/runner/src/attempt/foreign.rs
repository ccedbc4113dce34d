//! Parses untrusted input in a separate process, in the sandbox of the build.

use launchway_api::runner::Lease;
use launchway_domain::build::BuildErrorCode;
use launchway_domain::build::plan::FROM_REQUEST;
use serde::de::DeserializeOwned;

use super::{Attempt, AttemptError, sentence};
use crate::environment;
use crate::executor::{StepCommand, StepEnd};
use crate::plan::{PlanRequest, Resolved};
use crate::source_tool::{self, Answer, Task};

impl Attempt {
    /// The plan that the source defines. It cannot be mistaken for the plan of a request.
    pub(super) async fn plan_of_source(&self, lease: &Lease) -> Result<Resolved, AttemptError> {
        let task = Task::Plan {
            source: self.workspace.source(),
            plan_request: PlanRequest::of(lease),
        };
        let resolved: Resolved = self.read_foreign(&task).await?.map_err(invalid)?;
        match resolved.origin == FROM_REQUEST || resolved.origin.len() > 200 {
            true => Err(invalid(
                "Cannot use the source: its plan has no known origin".to_owned(),
            )),
            false => Ok(resolved),
        }
    }

    /// Runs a task in a separate process as the user of the build. Returns the reason if the task rejects the source.
    ///
    /// # Errors
    /// The process crashed, or the build is stopped.
    pub(super) async fn read_foreign<T: DeserializeOwned + Send + 'static>(
        &self,
        task: &Task,
    ) -> Result<Result<T, String>, AttemptError> {
        let program = self
            .context
            .program(self.workspace.user)
            .map_err(AttemptError::internal)?;
        let words = source_tool::command(&program, &self.workspace, task).map_err(AttemptError::internal)?;
        let env = environment::base(
            &self.context.settings.path,
            &self.workspace,
            &self.context.mark(&self.record.key()),
        );
        let end = self.run_quietly(StepCommand::Program(words), env).await?;
        let workspace = self.workspace.clone();
        let answer = self.blocking(move |_| source_tool::take_answer(&workspace)).await?;
        match (end, answer) {
            (StepEnd::Exited(0), Some(Answer::Done(done))) => Ok(Ok(done)),
            (StepEnd::Exited(0), Some(Answer::Refused(problem))) => Ok(Err(problem)),
            (StepEnd::Exited(0), Some(Answer::Failed(problem))) => Err(AttemptError::internal(sentence(&problem))),
            // Exit code 1 is the task's own error report; a crash ends differently.
            (StepEnd::Exited(1), _) => Err(AttemptError::internal(
                "The process that reads the source failed. Check whether the runner's disk is full.",
            )),
            (end, _) => Ok(Err(format!(
                "Cannot use the source: the process that reads it ended with {}. Pack it again with the usual tools.",
                match end {
                    StepEnd::Exited(code) => format!("exit code {code}"),
                    StepEnd::Killed(signal) => format!("signal {signal}"),
                }
            ))),
        }
    }
}

pub(super) fn invalid(problem: String) -> AttemptError {
    AttemptError::Failed(BuildErrorCode::SourceInvalid, problem)
}
