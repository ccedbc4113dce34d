//! What strangers sent is read by a process of its own, in the sandbox of the build.

use launchway_api::runner::Lease;
use launchway_domain::build::BuildErrorCode;
use launchway_domain::build::plan::FROM_REQUEST;
use serde::de::DeserializeOwned;

use super::{Attempt, Failure, sentence};
use crate::environment;
use crate::executor::{StepCommand, StepEnd};
use crate::plan::{Resolved, Wish};
use crate::source_tool::{self, Answer, Task};

impl Attempt {
    /// The plan that the source has, which no plan of a request can be mistaken for.
    pub(super) async fn plan_of_source(&self, lease: &Lease) -> Result<Resolved, Failure> {
        let task = Task::Plan {
            source: self.workspace.source(),
            wish: Wish::of(lease),
        };
        let resolved: Resolved = self.read_foreign(&task).await?.map_err(invalid)?;
        match resolved.origin == FROM_REQUEST || resolved.origin.len() > 200 {
            true => Err(invalid(
                "The source cannot be used: its plan comes from nowhere.".to_owned(),
            )),
            false => Ok(resolved),
        }
    }

    /// Does a task in a process of its own, as the user of the build; gives why the source is refused, if it is.
    ///
    /// # Errors
    /// The process ended otherwise, or the build is stopped.
    pub(super) async fn read_foreign<T: DeserializeOwned + Send + 'static>(
        &self,
        task: &Task,
    ) -> Result<Result<T, String>, Failure> {
        let program = self.context.program(self.workspace.user).map_err(Failure::internal)?;
        let words = source_tool::command(&program, &self.workspace, task).map_err(Failure::internal)?;
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
            (StepEnd::Exited(0), Some(Answer::Failed(problem))) => Err(Failure::internal(sentence(&problem))),
            // It says so itself; a defect ends it otherwise.
            (StepEnd::Exited(1), _) => Err(Failure::internal(
                "The process that reads the source failed: see whether the disk of the runner is full.",
            )),
            (end, _) => Ok(Err(format!(
                "The source cannot be used: the process that reads it ended with {}. Pack it again with the usual tools.",
                match end {
                    StepEnd::Exited(code) => format!("exit code {code}"),
                    StepEnd::Killed(signal) => format!("signal {signal}"),
                }
            ))),
        }
    }
}

pub(super) fn invalid(problem: String) -> Failure {
    Failure::Failed(BuildErrorCode::SourceInvalid, problem)
}
