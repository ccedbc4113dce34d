// Writes what differs natively into the summary of the run, and as one comment on the pull request, which it keeps up to date.
// Arguments: platform, what was compared with, and a file with what `launchway fingerprint diff --json` printed.
import { appendFileSync, readFileSync } from "node:fs";

const [platform, against, file] = process.argv.slice(2);
const env = process.env;
const marker = `<!-- launchway fingerprint ${platform} -->`;

// The texts are of the pull request: they are shown as they are, and mean nothing to Markdown.
function code(text) {
  if (text === null || text === undefined) return "";
  const plain = String(text).replace(/[`|\r\n]/g, " ").slice(0, 200).trim();
  return plain === "" ? "" : "`` " + plain + " ``";
}

const names = { framework: "Framework", platform: "Platform", resources: "App resources", native: "Native source" };

function body(diff) {
  const title = `### Native code on ${platform}`;
  if (diff.same) {
    return `${marker}\n${title}\n\nNothing differs from ${code(against)}: an over-the-air update will do.\n`;
  }
  const lines = [marker, title, "", `It differs from ${code(against)}: **a build for the store is needed.**`, ""];
  if (diff.changes === null) {
    lines.push("What differs is not known: of one side there is only the hash.");
  } else {
    lines.push("| | there | here |", "|---|---|---|");
    for (const change of diff.changes.slice(0, 50)) {
      const what = change.name === null ? names[change.kind] ?? change.kind : code(change.name);
      lines.push(`| ${what} | ${code(change.there)} | ${code(change.here)} |`);
    }
    if (diff.changes.length > 50) lines.push("", `And ${diff.changes.length - 50} more.`);
  }
  return lines.join("\n") + "\n";
}

async function github(method, path, sent) {
  const answer = await fetch(`${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}${path}`, {
    method,
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${env.GITHUB_TOKEN}`,
      "content-type": "application/json",
      "user-agent": "launchway",
      "x-github-api-version": "2022-11-28",
    },
    body: sent === undefined ? undefined : JSON.stringify(sent),
  });
  if (!answer.ok) throw new Error(`GitHub answered ${answer.status} to ${method} ${path}`);
  return answer.json();
}

// The comment of an earlier run, if there is one.
async function earlier(number) {
  for (let page = 1; page <= 30; page += 1) {
    const comments = await github("GET", `/issues/${number}/comments?per_page=100&page=${page}`);
    const own = comments.find((comment) => comment.user?.type === "Bot" && comment.body?.startsWith(marker));
    if (own !== undefined || comments.length < 100) return own;
  }
  return undefined;
}

const text = body(JSON.parse(readFileSync(file, "utf8")));
if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, text);
const event = env.GITHUB_EVENT_PATH ? JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, "utf8")) : {};
const number = event.pull_request?.number;
if (env.COMMENT === "true" && number !== undefined) {
  try {
    const own = await earlier(number);
    if (own === undefined) await github("POST", `/issues/${number}/comments`, { body: text });
    else if (own.body !== text) await github("PATCH", `/issues/comments/${own.id}`, { body: text });
  } catch (error) {
    // Pull requests from forks have a token that may only read.
    console.log(`::warning::The difference could not be commented: ${error.message}. The summary of the run shows it.`);
  }
}
