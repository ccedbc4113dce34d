// Live parts of pages, by server-sent events. Without its connection a page looks as it did: it says so, since when, and connects again.

// The server says something every 15 seconds. A connection that is silent for longer is dead, even if no error arrives.
const SILENCE = 40_000;
// Streams end every few minutes, and begin again at once: this is not worth a word.
const GRACE = 3_000;
const PAUSES = [500, 2_000, 5_000, 15_000, 30_000];

const connections = new Set();
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const line = document.getElementById("connection");

export class Connection {
  #url; #events; #source = null; #heardAt = Date.now(); #lostAt = null; #tries = 0; #next; #silence;
  isEnded = false;
  // Why the connection is lost, as far as it is known.
  reason = null;

  // Calls the handlers of `events` by the names of the server's events. `url` is asked anew for each connection.
  constructor(url, events) {
    this.#url = url;
    this.#events = events;
    connections.add(this);
    this.open();
  }

  // A stream is open only while somebody looks: browsers allow few connections.
  open() {
    this.#close();
    if (this.isEnded || document.hidden) return;
    const source = this.#source = new EventSource(this.#url());
    const heard = (handle) => (event) => { this.#hear(); handle?.(event); };
    for (const name of ["open", "beat"]) source.addEventListener(name, heard());
    for (const [name, handle] of Object.entries(this.#events)) source.addEventListener(name, heard(handle));
    source.addEventListener("error", () => { if (source === this.#source) this.lose(); });
    this.#listen();
  }

  // There is nothing more to come.
  end() {
    this.#close();
    this.isEnded = true;
    this.#lostAt = null;
    show();
  }

  // Nobody looks, so nothing can be out of date.
  rest() {
    this.#close();
    this.#lostAt = null;
    show();
  }

  lose() {
    this.#close();
    if (this.isEnded || document.hidden) return;
    this.#lostAt ??= Date.now();
    setTimeout(show, GRACE + 50);
    this.#next = setTimeout(() => this.#retry(), PAUSES[Math.min(this.#tries++, PAUSES.length - 1)]);
  }

  // When the server was last heard; null while the connection is good.
  get silentSince() {
    return this.#lostAt !== null && Date.now() - this.#lostAt >= GRACE ? this.#heardAt : null;
  }

  async #retry() {
    // A stream does not tell why it is refused, but the page does.
    this.reason = await askPage();
    show();
    if (!this.reason?.isFinal) this.open();
  }

  #hear() {
    this.#heardAt = Date.now();
    this.#tries = 0;
    this.reason = null;
    if (this.#lostAt !== null) { this.#lostAt = null; show(); }
    this.#listen();
  }

  #listen() {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.lose(), SILENCE);
  }

  #close() {
    clearTimeout(this.#next);
    clearTimeout(this.#silence);
    this.#source?.close();
    this.#source = null;
  }
}

const UNREACHABLE = { text: "The connection is lost" };
const SIGNED_OUT = { text: "Your session has ended", isFinal: true, link: "Sign in again" };
const GONE = { text: "This no longer exists, or you may no longer see it", isFinal: true };

// Why the page cannot be followed: null if the server shows it.
async function askPage() {
  try {
    const answer = await fetch(location.href, { method: "HEAD", redirect: "manual", cache: "no-store", signal: AbortSignal.timeout(10_000) });
    if (answer.type === "opaqueredirect") return SIGNED_OUT;
    return answer.status === 404 || answer.status === 403 ? GONE : null;
  } catch {
    return UNREACHABLE;
  }
}

function show() {
  const silent = [...connections].filter((connection) => connection.silentSince !== null);
  document.body.classList.toggle("out-of-date", silent.length > 0);
  if (!silent.length) { line.replaceChildren(); return; }
  const reasons = silent.map((connection) => connection.reason);
  const lost = reasons.find((reason) => reason?.isFinal) ?? UNREACHABLE;
  const text = `${lost.text}. This page shows the state of ${clock.format(Math.min(...silent.map((connection) => connection.silentSince)))}${lost.isFinal ? "." : ", and connects again by itself."}`;
  if (line.textContent.startsWith(text)) return;
  line.replaceChildren(text);
  if (!lost.link) return;
  const link = document.createElement("a");
  link.href = location.href;
  link.textContent = lost.link;
  line.append(" ", link);
}

document.addEventListener("visibilitychange", () => { for (const one of connections) document.hidden ? one.rest() : one.open(); });
addEventListener("offline", () => { for (const one of connections) one.lose(); });
addEventListener("online", () => { for (const one of connections) one.open(); });

for (const part of document.querySelectorAll("[data-follow]")) {
  const connection = new Connection(() => part.dataset.follow, {
    message: ({ data }) => htmx.swap({ sourceElement: part, target: part, text: data, swap: "innerMorph" }),
    over: () => connection.end(),
  });
}
