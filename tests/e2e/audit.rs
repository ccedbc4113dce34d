//! `admin verify-audit` finds a line that was changed, removed or added without the service
//! (`docs/reference/operation.md#chain-of-the-audit-log`).

use reqwest::Method;
use serde_json::json;

use crate::api::Api;
use crate::deployment::{Deployment, Ground, Team};

/// Runs the command; returns its object, or the error line.
fn verify(deployment: &Deployment) -> Result<serde_json::Value, String> {
    let output = deployment
        .node()
        .command()
        .args(["admin", "verify-audit", "--json"])
        .output()
        .unwrap();
    if output.status.success() {
        Ok(serde_json::from_slice(&output.stdout).unwrap())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// An organization with a log of several lines.
async fn busy_team(deployment: &Deployment) -> Team {
    let team = deployment.team();
    let api = Api::new(deployment.node(), &team.key);
    for number in 0..5 {
        let body = json!({"bundleId": format!("com.{}.app{number}", &team.id[4..])});
        api.call(Method::POST, "/apps", Some(body)).await.created();
    }
    team
}

async fn tampering_is_found(ground: Ground) {
    let deployment = Deployment::start(ground).await;
    let untouched = busy_team(&deployment).await;
    let whole = verify(&deployment).unwrap();
    assert_eq!(
        (&whole["ok"], &whole["logs"], &whole["lines"]),
        (&json!(true), &json!(1), &json!(7))
    );
    let columns = "org_id, seq, at, actor, action, resource, before, after, address, request_id, hash";
    let others = "at, actor, action, resource, before, after, address, request_id, hash";
    type Statements = fn(&str, &str, &str) -> Vec<String>;
    let attacks: [(&str, Statements, &str); 14] = [
        (
            "who",
            |org, _, _| {
                vec![format!(
                    "UPDATE audit SET actor = 'user_x' WHERE org_id = '{org}' AND seq = 3"
                )]
            },
            "line 3",
        ),
        (
            "what",
            |org, _, _| {
                vec![format!(
                    "UPDATE audit SET action = 'app.x' WHERE org_id = '{org}' AND seq = 7"
                )]
            },
            "line 7",
        ),
        (
            "when",
            |org, _, _| {
                vec![format!(
                    "UPDATE audit SET at = at + 1 WHERE org_id = '{org}' AND seq = 1"
                )]
            },
            "line 1",
        ),
        (
            "on which",
            |org, _, _| {
                vec![format!(
                    "UPDATE audit SET resource = '' WHERE org_id = '{org}' AND seq = 4"
                )]
            },
            "line 4",
        ),
        (
            "from where",
            |org, _, _| {
                vec![format!(
                    "UPDATE audit SET address = '::1' WHERE org_id = '{org}' AND seq = 5"
                )]
            },
            "line 5",
        ),
        (
            "what it was",
            |org, _, _| {
                vec![format!(
                    "UPDATE audit SET before = '{{}}' WHERE org_id = '{org}' AND seq = 5"
                )]
            },
            "line 5",
        ),
        (
            "what it became",
            |org, _, _| {
                vec![format!(
                    "UPDATE audit SET after = NULL WHERE org_id = '{org}' AND seq = 5"
                )]
            },
            "line 5",
        ),
        (
            "a line removed",
            |org, _, _| vec![format!("DELETE FROM audit WHERE org_id = '{org}' AND seq = 4")],
            "line 4 was removed",
        ),
        (
            "the last line removed",
            |org, _, _| vec![format!("DELETE FROM audit WHERE org_id = '{org}' AND seq = 7")],
            "lines 7 to 7 were removed",
        ),
        (
            "the last line removed and the one before called the last",
            |org, _, _| {
                vec![
                    format!("DELETE FROM audit WHERE org_id = '{org}' AND seq = 7"),
                    format!(
                        "UPDATE audit_heads SET seq = 6, hash = (SELECT hash FROM audit WHERE org_id = '{org}' AND seq = 6) \
                         WHERE org_id = '{org}'"
                    ),
                ]
            },
            "the recorded end at line 6 was changed",
        ),
        (
            "all lines removed",
            |org, _, _| {
                vec![
                    format!("DELETE FROM audit WHERE org_id = '{org}'"),
                    format!("DELETE FROM audit_heads WHERE org_id = '{org}'"),
                ]
            },
            "its log is empty",
        ),
        (
            "a line added",
            |org, columns, others| {
                vec![format!(
                    "INSERT INTO audit ({columns}) SELECT org_id, 8, {others} FROM audit WHERE org_id = '{org}' AND seq = 7"
                )]
            },
            "line 8",
        ),
        (
            "a line added and the end moved",
            |org, columns, others| {
                vec![
                    format!(
                        "INSERT INTO audit ({columns}) SELECT org_id, 8, {others} FROM audit WHERE org_id = '{org}' AND seq = 7"
                    ),
                    format!("UPDATE audit_heads SET seq = 8 WHERE org_id = '{org}'"),
                ]
            },
            "line 8",
        ),
        (
            "two lines swapped",
            |org, _, _| {
                vec![
                    format!("UPDATE audit SET seq = 100 WHERE org_id = '{org}' AND seq = 3"),
                    format!("UPDATE audit SET seq = 3 WHERE org_id = '{org}' AND seq = 4"),
                    format!("UPDATE audit SET seq = 4 WHERE org_id = '{org}' AND seq = 100"),
                ]
            },
            "line 3",
        ),
    ];
    let mut found = Vec::new();
    for (what, statements, named) in attacks {
        let team = busy_team(&deployment).await;
        for statement in statements(&team.id, columns, others) {
            deployment.sql(&statement).await;
        }
        let told = verify(&deployment).expect_err(what);
        found.push(format!("{}: {named}", team.id));
        for problem in &found {
            assert!(told.contains(problem), "{what}: {problem} is not in {told}");
        }
        assert!(!told.contains(&untouched.id), "{what}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tampering_is_found_on_sqlite() {
    tampering_is_found(Ground::SqliteDirectory).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tampering_is_found_on_postgres() {
    tampering_is_found(Ground::PostgresS3).await;
}
