//! Migrations since the first release only expand the schema: during an upgrade, nodes of both releases work on one database,
//! and the older must neither fail on it nor lose what it writes.

use std::collections::BTreeSet;
use std::fs;

use crate::schema::{migrations, names, normal};

/// The last migration of the first release, 0.1.0.
const FIRST_RELEASE: u32 = 8;

/// What migrations since the release have added: statements may do more to these.
#[derive(Default)]
struct Added {
    tables: BTreeSet<String>,
    columns: BTreeSet<(String, String)>,
}

/// The statements of a file without comments, with normalized spaces. A trigger is one statement with its body.
fn statements(sql: &str) -> Vec<String> {
    let lines = sql.lines().map(|line| line.split("--").next().unwrap_or_default());
    let text = normal(&lines.collect::<Vec<_>>().join("\n"));
    let all = text
        .split(';')
        .map(|statement| statement.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut found: Vec<String> = Vec::new();
    for statement in all.filter(|statement| !statement.is_empty()) {
        match found.last_mut().filter(|last| is_open_trigger(last)) {
            Some(trigger) => *trigger += &format!("; {statement}"),
            None => found.push(statement),
        }
    }
    found
}

/// Whether a statement is a trigger whose body goes on.
fn is_open_trigger(statement: &str) -> bool {
    statement.starts_with("CREATE TRIGGER ") && statement.contains(" BEGIN ") && !statement.ends_with("; END")
}

/// What is wrong with a statement; `None` if an older program can work with it.
fn fault(statement: &str, added: &mut Added) -> Option<&'static str> {
    let words: Vec<_> = statement.split([' ', '(']).filter(|word| !word.is_empty()).collect();
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    match (word(0), word(1), word(2)) {
        ("CREATE", "TABLE", name) => {
            added.tables.insert(name.to_owned());
            None
        }
        ("CREATE", "UNLOGGED", "TABLE") => {
            added.tables.insert(word(3).to_owned());
            None
        }
        ("CREATE", "INDEX", _) => None,
        ("CREATE", "UNIQUE", "INDEX") if added.tables.contains(word(5)) => None,
        ("CREATE", "UNIQUE", "INDEX") => Some("a unique index refuses what the older release writes"),
        ("ALTER", "TABLE", name) if word(3) == "ADD" && word(4) == "COLUMN" => {
            added.columns.insert((name.to_owned(), word(5).to_owned()));
            column_fault(statement)
        }
        ("CREATE", "TRIGGER", _) if fills_only(statement, added) => None,
        ("CREATE", "TRIGGER", _) => {
            Some("the older release does not know what a trigger does to its tables, or that it may fail")
        }
        ("INSERT", "INTO", name) if added.tables.contains(name) => None,
        ("UPDATE", name, "SET") if sets_only(statement, name, added) => None,
        _ => Some(
            "only CREATE TABLE, CREATE INDEX, ALTER TABLE … ADD COLUMN, and filling what was added are known not to disturb the older release",
        ),
    }
}

/// Whether a trigger follows a write, and does nothing but insert into tables that migrations since the release have added.
fn fills_only(trigger: &str, added: &Added) -> bool {
    let Some((head, body)) = trigger.split_once(" BEGIN ") else {
        return false;
    };
    let Some(body) = body.strip_suffix("; END") else {
        return false;
    };
    let mut inserts = body
        .split("; ")
        .map(|statement| statement.strip_prefix("INSERT INTO ").unwrap_or_default());
    head.contains(" AFTER ")
        && inserts.all(|insert| added.tables.contains(insert.split(' ').next().unwrap_or_default()))
}

fn column_fault(statement: &str) -> Option<&'static str> {
    let has = |word: &str| statement.contains(word);
    if has(" NOT NULL") && !has(" DEFAULT ") {
        return Some("a column that must be given needs a default: the older release does not give it");
    }
    let tightened = [" UNIQUE", " PRIMARY KEY", " CHECK", " REFERENCES "]
        .into_iter()
        .any(has);
    tightened.then_some("the older release does not know the rule of the new column")
}

/// Whether an UPDATE fills only columns that migrations since the release have added.
fn sets_only(statement: &str, table: &str, added: &Added) -> bool {
    let assignments = statement.split_once(" SET ").map_or("", |(_, rest)| rest);
    let assignments = assignments.split(" WHERE ").next().unwrap_or_default();
    // A comma inside a call would be parsed as an assignment too, and be refused: then write the statement differently.
    let mut names = assignments
        .split(", ")
        .map(|one| one.split(" = ").next().unwrap_or_default());
    names.all(|name| added.columns.contains(&(table.to_owned(), name.to_owned())))
}

/// Every fault of the migrations after the first release.
fn faults(files: &[(u32, String)]) -> Vec<String> {
    let mut added = Added::default();
    let mut found = Vec::new();
    for (number, sql) in files.iter().filter(|(number, _)| *number > FIRST_RELEASE) {
        for statement in statements(sql) {
            if let Some(fault) = fault(&statement, &mut added) {
                found.push(format!("{number:04}: `{statement}`: {fault}"));
            }
        }
    }
    found
}

#[test]
fn migrations_since_the_first_release_only_expand_the_schema() {
    for database in ["sqlite", "postgres"] {
        let files: Vec<_> = names(database)
            .into_iter()
            .map(|name| {
                let sql = fs::read_to_string(migrations(database).join(&name)).unwrap();
                (name[..4].parse().unwrap(), sql)
            })
            .collect();
        assert!(files.len() >= FIRST_RELEASE as usize);
        let found = faults(&files);
        assert!(found.is_empty(), "{database}:\n{}", found.join("\n"));
    }
}

#[test]
fn what_an_older_release_would_stumble_on_is_found() {
    for sql in [
        "DROP TABLE apps;",
        "DROP INDEX apps_org;",
        "ALTER TABLE apps DROP COLUMN name;",
        "ALTER TABLE apps RENAME TO programs;",
        "ALTER TABLE apps RENAME COLUMN name TO title;",
        "ALTER TABLE apps ALTER COLUMN name SET NOT NULL;",
        "ALTER TABLE apps ADD CONSTRAINT named CHECK (name <> '');",
        "ALTER TABLE apps ADD COLUMN size BIGINT NOT NULL;",
        "ALTER TABLE apps ADD COLUMN size BIGINT UNIQUE;",
        "ALTER TABLE apps ADD COLUMN owner TEXT REFERENCES users (id);",
        "CREATE UNIQUE INDEX apps_name ON apps (name);",
        "UPDATE apps SET name = 'x';",
        "ALTER TABLE apps ADD COLUMN a BIGINT; UPDATE apps SET a = 1, name = 'x';",
        "DELETE FROM apps;",
        "INSERT INTO apps (id) VALUES ('x');",
        "-- a comment\n drop\n TABLE apps;",
        "CREATE TRIGGER counting AFTER INSERT ON apps FOR EACH ROW BEGIN SELECT 1; END;",
        "CREATE TRIGGER counting AFTER INSERT ON apps FOR EACH ROW BEGIN INSERT INTO users (id) VALUES ('x'); END;",
        "CREATE TRIGGER counting AFTER INSERT ON apps FOR EACH ROW BEGIN UPDATE apps SET name = 'x'; END;",
        "CREATE TRIGGER counting AFTER INSERT ON apps FOR EACH ROW EXECUTE FUNCTION of_another_file();",
    ] {
        assert_eq!(faults(&[(FIRST_RELEASE + 1, sql.to_owned())]).len(), 1, "{sql}");
        assert!(
            faults(&[(FIRST_RELEASE, sql.to_owned())]).is_empty(),
            "the release's own: {sql}"
        );
    }
}

#[test]
fn what_only_expands_is_taken() {
    let sql = "-- DROP TABLE apps; in a comment\n\
        CREATE TABLE stores (id TEXT COLLATE \"C\" PRIMARY KEY,\n name TEXT NOT NULL UNIQUE);\n\
        CREATE UNLOGGED TABLE counts (id TEXT PRIMARY KEY);\n\
        CREATE UNIQUE INDEX stores_name ON stores (name);\n\
        CREATE INDEX apps_name ON apps (name);\n\
        INSERT INTO stores (id, name) VALUES ('a', 'b');\n\
        ALTER TABLE apps ADD COLUMN size BIGINT NOT NULL DEFAULT 0;\n\
        ALTER TABLE apps ADD COLUMN note TEXT;\n\
        UPDATE apps SET size = 1, note = name WHERE size = 0;
        CREATE TRIGGER ours AFTER INSERT ON apps FOR EACH ROW\nBEGIN\n\
        INSERT INTO stores (id, name) VALUES ('c', 'd');\n INSERT INTO counts (id) VALUES (NEW.id);\nEND;\n\
        CREATE FUNCTION theirs() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN\n\
        INSERT INTO counts (id) VALUES (NEW.id);\nRETURN NULL; END $$;\n\
        CREATE TRIGGER theirs AFTER INSERT ON apps FOR EACH ROW\nEXECUTE FUNCTION theirs();";
    assert_eq!(faults(&[(FIRST_RELEASE + 1, sql.to_owned())]), Vec::<String>::new());
}
