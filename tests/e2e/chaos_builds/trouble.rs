//! Faults around builds.

use std::collections::BTreeMap;
use std::time::Duration;

use launchway_testing::postgres::Postgres;
use launchway_testing::wait::pass;
use reqwest::Method;

use super::LIMIT;
use super::watch::Watch;
use crate::api::Api;
use crate::builds::calls::wait;
use crate::builds::runner_process::RunnerProcess;
use crate::deployment::Deployment;
use crate::dice::Dice;
use crate::proxy::Proxy;

/// The maximum time between two faults.
const PAUSE: Duration = Duration::from_millis(1500);
/// The maximum time without a network.
const OUTAGE: Duration = Duration::from_secs(4);

/// Everything that can fail.
pub struct Troubles {
    pub deployment: Deployment,
    /// The database server, if the test may stop it.
    pub postgres: Option<Postgres>,
    pub runners: Vec<RunnerProcess>,
    /// The network between the first server and the runners.
    pub proxy: Proxy,
    pub dice: Dice,
    /// How often each fault was injected.
    pub made: BTreeMap<&'static str, u32>,
}

impl Troubles {
    /// Waits a moment, then injects a fault.
    pub async fn make(&mut self, api: &Api, builds: &[String], watch: &Watch) {
        pass(self.dice.below(PAUSE)).await;
        let trouble = match self.dice.number() % 12 {
            0..=3 => self.kill_a_runner().await,
            4 | 5 => self.kill_a_server(),
            6 | 7 => self.take_a_lease_away().await,
            8 => self.cancel_a_build(api, builds).await,
            9 => self.delete_a_build(api, builds, watch).await,
            10 => self.take_the_network_away().await,
            _ => match &mut self.postgres {
                Some(postgres) => {
                    postgres.restart();
                    "database restarted"
                }
                None => self.kill_everything().await,
            },
        };
        *self.made.entry(trouble).or_default() += 1;
    }

    async fn kill_a_runner(&mut self) -> &'static str {
        let chosen = self.dice.number() as usize % self.runners.len();
        self.runners[chosen].kill9();
        self.forget_leases_of(chosen).await;
        self.runners[chosen].run_again();
        "runner killed"
    }

    fn kill_a_server(&mut self) -> &'static str {
        let chosen = self.dice.number() as usize % self.deployment.nodes.len();
        self.deployment.nodes[chosen].kill9();
        self.deployment.nodes[chosen].restart_same_port();
        "server killed"
    }

    async fn kill_everything(&mut self) -> &'static str {
        self.deployment.nodes[0].kill9();
        for chosen in 0..self.runners.len() {
            self.runners[chosen].kill9();
            self.forget_leases_of(chosen).await;
        }
        self.deployment.nodes[0].restart_same_port();
        self.runners.iter_mut().for_each(RunnerProcess::run_again);
        "everything killed"
    }

    /// The effect of 90 s: the leases of a lost runner expire. Sometimes they are left, so that it returns in time with
    /// what it had finished.
    async fn forget_leases_of(&mut self, chosen: usize) {
        if !self.dice.number().is_multiple_of(4) {
            let name = &self.runners[chosen].name;
            let of = format!("runner_id IN (SELECT id FROM runners WHERE name = '{name}')");
            self.deployment
                .sql(&format!(
                    "UPDATE builds SET lease_until = 0 WHERE status = 'running' AND {of}"
                ))
                .await;
        }
    }

    /// A living runner loses a build, as after a long disconnection, and does not know it yet.
    async fn take_a_lease_away(&mut self) -> &'static str {
        let last = "SELECT MAX(id) FROM builds WHERE status = 'running' AND attempt < 3";
        self.deployment
            .sql(&format!("UPDATE builds SET lease_until = 0 WHERE id = ({last})"))
            .await;
        "lease taken away"
    }

    async fn cancel_a_build(&mut self, api: &Api, builds: &[String]) -> &'static str {
        let id = &builds[self.dice.number() as usize % builds.len()];
        // The build may have ended, or the server may be down.
        let _ = api
            .try_call(Method::POST, &format!("/build/cancel?id={id}"), None, None)
            .await;
        "cancel"
    }

    /// Deletes a build in whatever state it is; the deletion is repeated until a server has answered it.
    async fn delete_a_build(&mut self, api: &Api, builds: &[String], watch: &Watch) -> &'static str {
        let id = &builds[self.dice.number() as usize % builds.len()];
        let path = format!("/build?id={id}");
        wait(LIMIT, "the server answers", async || {
            let answer = api.try_call(Method::DELETE, &path, None, None).await.ok()?;
            matches!(answer.status.as_u16(), 200 | 404).then_some(())
        })
        .await;
        watch.was_deleted(id);
        "delete"
    }

    async fn take_the_network_away(&mut self) -> &'static str {
        self.proxy.is_away(true);
        pass(self.dice.below(OUTAGE)).await;
        self.proxy.is_away(false);
        "network away"
    }

    /// The last fault, which also frees builds that were assigned to a runner that never received them: all runners are
    /// new, and no lease remains. Then everything completes undisturbed.
    pub async fn end_well(&mut self, watch: &Watch) {
        self.runners.iter_mut().for_each(RunnerProcess::kill9);
        let all = "UPDATE builds SET lease_until = 0 WHERE status = 'running'";
        self.deployment.sql(all).await;
        self.runners.iter_mut().for_each(RunnerProcess::run_again);
        wait(LIMIT, "every build ends", async || watch.all_are_over().then_some(())).await;
    }
}
