//! Help, completion and usage errors. None of it needs a server or settings.

use insta::assert_snapshot;

use crate::stage::Stage;

#[tokio::test]
async fn the_whole_command_line() {
    assert_snapshot!(Stage::new().run(&["--help"]).await);
}

#[tokio::test]
async fn update() {
    assert_snapshot!(Stage::new().run(&["update", "--help"]).await);
}

#[tokio::test]
async fn commands_on_published_updates() {
    let stage = Stage::new();
    let mut text = String::new();
    for command in ["list", "show", "rollout", "edit", "promote", "rollback"] {
        text.push_str(&stage.run(&["update", command, "--help"]).await);
    }
    assert_snapshot!(text);
}

#[tokio::test]
async fn build() {
    assert_snapshot!(Stage::new().run(&["build", "--help"]).await);
}

#[tokio::test]
async fn commands_on_builds() {
    let stage = Stage::new();
    let mut text = String::new();
    for command in ["list", "show", "cancel", "retry", "delete", "download", "logs", "plan"] {
        text.push_str(&stage.run(&["build", command, "--help"]).await);
    }
    assert_snapshot!(text);
}

#[tokio::test]
async fn device() {
    let stage = Stage::new();
    let mut text = stage.run(&["device", "--help"]).await;
    text.push_str(&stage.run(&["device", "init", "--help"]).await);
    assert_snapshot!(text);
}

#[tokio::test]
async fn submit() {
    assert_snapshot!(Stage::new().run(&["submit", "--help"]).await);
}

#[tokio::test]
async fn commands_on_submissions() {
    let stage = Stage::new();
    let mut text = String::new();
    for command in [
        "list", "show", "logs", "rollout", "halt", "resume", "retry", "cancel", "delete",
    ] {
        text.push_str(&stage.run(&["submit", command, "--help"]).await);
    }
    assert_snapshot!(text);
}

#[cfg(unix)]
#[tokio::test]
async fn runner() {
    let stage = Stage::new();
    let mut text = stage.run(&["runner", "--help"]).await;
    for command in ["list", "revoke", "token"] {
        text.push_str(&stage.run(&["runner", command, "--help"]).await);
    }
    assert_snapshot!(text);
}

#[tokio::test]
async fn login_and_api() {
    let stage = Stage::new();
    assert_snapshot!(stage.run(&["login", "--help"]).await + &stage.run(&["api", "--help"]).await);
}

/// Help of the commands of a resource, each with its arguments.
async fn help_of(resource: &str, commands: &[&str]) -> String {
    let stage = Stage::new();
    let mut text = stage.run(&[resource, "--help"]).await;
    for command in commands {
        text.push_str(&stage.run(&[resource, command, "--help"]).await);
    }
    text
}

#[tokio::test]
async fn apps_keys_and_organizations() {
    let text = help_of("app", &["create", "delete"]).await + &help_of("key", &["list", "create", "revoke"]).await;
    assert_snapshot!(text + &help_of("org", &["use", "show"]).await);
}

#[tokio::test]
async fn moving_in_from_another_service() {
    let text = help_of("deployment-key", &["list", "add", "remove"]).await;
    assert_snapshot!(text + &Stage::new().run(&["import", "--help"]).await);
}

#[tokio::test]
async fn signed_updates() {
    let commands = [
        "init",
        "status",
        "verify",
        "new-key",
        "add-key",
        "remove-key",
        "rotate",
        "sign",
        "push",
        "reset",
    ];
    assert_snapshot!(help_of("trust", &commands).await);
}

#[tokio::test]
async fn environment_variables_and_credentials() {
    let text = help_of("env", &["set", "import", "delete"]).await;
    assert_snapshot!(text + &help_of("credential", &["add", "create"]).await);
}

#[tokio::test]
async fn webhooks_audit_log_and_usage() {
    let text = help_of("webhook", &["create", "update", "deliveries", "redeliver"]).await;
    assert_snapshot!(text + &help_of("audit", &["list"]).await + &help_of("usage", &[]).await);
}

#[tokio::test]
async fn the_project_on_this_machine() {
    let text = help_of("init", &[]).await + &help_of("doctor", &[]).await;
    assert_snapshot!(text + &help_of("man", &[]).await);
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let stage = Stage::new();
    let mut text = String::new();
    let rows: [&[&str]; 8] = [
        &["updat"],
        &["update", "web"],
        &["update", "--dir", "dist"],
        &["update", "ios", "list"],
        &["update", "ios", "--rollout", "101"],
        &["update", "ios", "--version", "one"],
        &["update", "rollback"],
        &["--url", "launchway.example", "whoami"],
    ];
    for arguments in rows {
        text.push_str(&stage.run(arguments).await);
    }
    assert_snapshot!(text);
}

#[tokio::test]
async fn a_completion_for_each_shell_even_with_broken_settings() {
    let mut stage = Stage::new();
    stage
        .set("LAUNCHWAY_API_KEY", "broken")
        .file("launchway.toml", "broken");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = stage
            .command(&["completion", shell])
            .output()
            .await
            .expect("the command starts");
        let script = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(output.status.success() && script.contains("rollback"), "{shell}");
    }
}
