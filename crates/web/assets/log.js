// The log of a build: of a million lines only those in sight are in the page, and loaded by ranges. It follows what is
// printed, searches, folds phases, and shows colours as classes; whatever a build prints stays text.

import { Connection } from "./live.js";

const LINE = 20;
// Browsers bound the height of an element: beyond this, scrolling is scaled.
const TALLEST = 8e6;
const LONGEST = 4000;
const KEPT_BLOCKS = 40;

const box = document.getElementById("log");
if (box) new LogView(box).start();

function LogView(box) {
  const home = box.dataset.home, build = box.dataset.build;
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  let total = 0, size = 0, stride = 500, offsets = [], phases = [];
  const blocks = new Map();
  let loading = new Set();
  let following = box.dataset.live === "true";
  let folded = new Set();
  let found = [], hasMore = false, at = -1, wanted = "";
  let marked = lineOfAddress();
  let unfinished = "", over = !following;
  let rows = null; // visible line numbers when something is folded

  const bar = make("div", "log-bar");
  const search = make("input", "search");
  search.type = "search"; search.placeholder = "Search the log"; search.setAttribute("aria-label", "Search the log");
  const count = make("span", "quiet"); count.setAttribute("role", "status");
  const next = button("Next", () => step(1)), back = button("Previous", () => step(-1));
  next.hidden = back.hidden = true;
  const follow = button("Follow", () => { following = !following; if (following) toEnd(); showFollow(); });
  const jump = make("select", "jump"); jump.setAttribute("aria-label", "Go to a phase");
  const fold = button("Fold phases", toggleAll);
  fold.hidden = jump.hidden = true;
  bar.append(search, back, next, count, jump, fold, follow);
  const view = make("div", "log-view"); view.tabIndex = 0;
  view.setAttribute("role", "region"); view.setAttribute("aria-label", "Log");
  const spacer = make("div", "log-space"), page = make("div", "log-page");
  spacer.append(page); view.append(spacer);

  this.start = async function () {
    try { await readPlaces(); } catch { return; }
    if (total === 0 && over) return;
    box.replaceChildren(bar, view);
    showFollow();
    if (!over && total > 0) {
      // The last line may go on: it stands apart until its end comes. What comes is added to the last block, which must be there.
      unfinished = await lastPiece();
      if (unfinished) total -= 1;
      await fetchBlock(offsets.length - 1);
    }
    layout();
    if (marked !== null) { following = false; toLine(marked); } else if (following || box.dataset.failed === "true") toEnd();
    showFollow();
    if (!over) connect();
  };

  async function readPlaces() {
    const known = await (await load(`${home}/builds/${build}/log/lines`)).json();
    ({ lines: total, size, stride, offsets } = known);
    phases = [];
    for (const [line, name] of known.phases) addPhase(line, name);
  }

  async function lastPiece() {
    const from = offsets[offsets.length - 1] ?? 0;
    const text = await range(from, size);
    return text.slice(text.lastIndexOf("\n") + 1);
  }

  function layout() {
    rows = folded.size ? visibleRows() : null;
    const height = Math.min(shown() * LINE, TALLEST);
    spacer.style.height = `${Math.max(height, LINE)}px`;
    draw();
  }

  const shown = () => (rows ? rows.length : total + (unfinished ? 1 : 0));
  const rowOf = (number) => (rows ? lowerBound(rows, number) : number);
  const lineOf = (row) => (rows ? rows[row] : row);

  function visibleRows() {
    const all = [], end = total + (unfinished ? 1 : 0);
    const first = phases.length ? phases[0].line : end;
    for (let n = 0; n < first; n++) all.push(n);
    phases.forEach((phase, i) => {
      all.push(phase.line);
      if (folded.has(phase.line)) return;
      const stop = phases[i + 1]?.line ?? end;
      for (let n = phase.line + 1; n < stop; n++) all.push(n);
    });
    return all;
  }

  function firstRow() {
    const height = spacer.clientHeight - view.clientHeight;
    const fit = Math.floor(view.clientHeight / LINE);
    if (shown() * LINE <= TALLEST) return Math.floor(view.scrollTop / LINE);
    return height <= 0 ? 0 : Math.round((view.scrollTop / height) * Math.max(0, shown() - fit));
  }

  function scrollToRow(row) {
    const fit = Math.floor(view.clientHeight / LINE);
    const height = spacer.clientHeight - view.clientHeight;
    if (shown() * LINE <= TALLEST) view.scrollTop = row * LINE;
    else view.scrollTop = (row / Math.max(1, shown() - fit)) * height;
  }

  function toLine(number) {
    const phase = [...phases].reverse().find((phase) => phase.line <= number);
    if (phase && folded.delete(phase.line)) layout();
    const fit = Math.floor(view.clientHeight / LINE);
    scrollToRow(Math.max(0, rowOf(number) - Math.floor(fit / 3)));
    draw();
  }

  function toEnd() { view.scrollTop = spacer.clientHeight; draw(); }

  let asked = false;
  function draw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; drawNow(); });
  }

  function drawNow() {
    const fit = Math.ceil(view.clientHeight / LINE) + 2;
    const first = Math.max(0, Math.min(firstRow(), shown() - 1));
    const lines = [];
    for (let row = first; row < Math.min(first + fit, shown()); row++) lines.push(drawLine(lineOf(row)));
    if (!shown()) { const none = make("p", "quiet"); none.textContent = "Nothing is printed yet."; lines.push(none); }
    // At the very end the last line stands at the bottom.
    page.style.top = `${scaledTop(first)}px`;
    page.replaceChildren(...lines);
  }

  const scaledTop = (first) => (shown() * LINE <= TALLEST ? first * LINE : view.scrollTop);

  function drawLine(number) {
    const phase = phases.find((phase) => phase.line === number);
    const line = make("div", phase ? "line phase" : "line");
    if (number === marked) line.classList.add("marked");
    if (at >= 0 && found[at] === number) line.classList.add("found");
    const link = make("a", "number");
    link.href = `#L${number + 1}`; link.textContent = String(number + 1);
    link.setAttribute("aria-label", `Line ${number + 1}`);
    link.addEventListener("click", () => { marked = number; draw(); });
    line.append(link);
    if (phase) {
      const toggle = make("button", "twist"); toggle.type = "button";
      const open = !folded.has(number);
      toggle.textContent = open ? "▾" : "▸";
      toggle.setAttribute("aria-expanded", String(open));
      toggle.setAttribute("aria-label", `Phase ${phase.name}`);
      toggle.addEventListener("click", () => { if (!folded.delete(number)) folded.add(number); layout(); });
      line.append(toggle);
    }
    const text = make("span", "text");
    const content = textOf(number);
    if (content === undefined) text.classList.add("loading");
    else paint(text, content);
    line.append(text);
    return line;
  }

  function textOf(number) {
    if (number === total) return unfinished;
    const block = Math.floor(number / stride);
    const lines = blocks.get(block);
    if (lines) return lines[number % stride] ?? "";
    fetchBlock(block);
    return undefined;
  }

  async function fetchBlock(block) {
    if (loading.has(block) || offsets[block] === undefined) return;
    loading.add(block);
    const until = size;
    try {
      const text = await range(offsets[block], offsets[block + 1] ?? until);
      const lines = text.split("\n");
      const grows = !over && offsets[block + 1] === undefined;
      // Lines came meanwhile: they are not in this answer.
      if (grows && size !== until) { draw(); return; }
      if (grows || lines[lines.length - 1] === "") lines.pop();
      blocks.set(block, lines);
      for (const old of blocks.keys()) {
        if (blocks.size <= KEPT_BLOCKS) break;
        // The newest block grows by what is printed: it stays.
        if (old !== block && old !== offsets.length - 1) blocks.delete(old);
      }
      draw();
    } catch {
      setTimeout(draw, 3000);
    } finally {
      loading.delete(block);
    }
  }

  async function range(from, to) {
    if (to <= from) return "";
    const answer = await load(`${home}/log?id=${build}`, { headers: { Range: `bytes=${from}-${to - 1}` } });
    return decoder.decode(await answer.arrayBuffer());
  }

  function connect() {
    const stream = new Connection(() => `${home}/log/stream?id=${build}&offset=${size}`, {
      log: (event) => {
        const piece = JSON.parse(event.data);
        size = Number(event.lastEventId);
        append(piece.text);
      },
      build: (event) => notePhases(JSON.parse(event.data)),
      end: async (event) => {
        over = true;
        stream.end();
        notePhases(JSON.parse(event.data));
        // What was counted here while it came gives way to what the server counts.
        try { await readPlaces(); unfinished = ""; blocks.clear(); } catch { /* What is there stays. */ }
        layout();
        if (following) toEnd();
        following = false;
        showFollow();
      },
    });
  }

  let names = new Set();
  const waiting = [];
  function notePhases(record) {
    for (const phase of record.phases) names.add(phase.name);
    for (const [line, name] of waiting.splice(0)) {
      if (names.has(name) && !phases.some((phase) => phase.name === name)) addPhase(line, name);
      else if (!names.has(name)) waiting.push([line, name]);
    }
    draw();
  }

  function append(text) {
    const parts = (unfinished + text).split("\n");
    unfinished = parts.pop();
    let end = size - encoder.encode(unfinished).length;
    let start = end;
    for (let i = parts.length - 1; i >= 0; i--) start -= encoder.encode(parts[i]).length + 1;
    for (const line of parts) {
      if (total % stride === 0) { offsets[total / stride] = start; blocks.set(total / stride, []); }
      blocks.get(Math.floor(total / stride))?.push(line);
      if (line.startsWith("==> ")) {
        const name = line.slice(4).trimEnd();
        if (names.has(name) && !phases.some((phase) => phase.name === name)) addPhase(total, name);
        else waiting.push([total, name]);
      }
      start += encoder.encode(line).length + 1;
      total += 1;
    }
    layout();
    if (following) toEnd();
  }

  function addPhase(line, name) {
    phases.push({ line, name });
    phases.sort((one, other) => one.line - other.line);
    fold.hidden = jump.hidden = false;
    jump.replaceChildren(option("", "Go to phase"), ...phases.map((phase) => option(String(phase.line), phase.name)));
  }
  jump.append(option("", "Go to phase"));
  jump.addEventListener("change", () => { if (jump.value) { following = false; showFollow(); toTop(Number(jump.value)); jump.value = ""; } });
  function toTop(number) { scrollToRow(rowOf(number)); draw(); }

  function toggleAll() {
    if (folded.size) folded.clear(); else for (const phase of phases) folded.add(phase.line);
    fold.textContent = folded.size ? "Unfold phases" : "Fold phases";
    following = false; showFollow(); layout();
  }

  let timer;
  search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(find, 300); });
  search.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); step(event.shiftKey ? -1 : 1); } });
  async function find() {
    wanted = search.value;
    found = []; at = -1;
    if (wanted) {
      const asked = wanted;
      try {
        const answer = await (await load(`${home}/builds/${build}/log/search?text=${encodeURIComponent(asked)}`)).json();
        if (asked !== wanted) return;
        found = answer.lines;
        hasMore = answer.more;
        if (!found.length) count.textContent = "Not found";
      } catch { count.textContent = "The search failed"; }
    } else count.textContent = "";
    next.hidden = back.hidden = found.length === 0;
    if (found.length) step(1); else draw();
  }
  function step(by) {
    if (!found.length) return;
    at = (at + by + found.length) % found.length;
    following = false; showFollow();
    // The search ends at a bound: the number is not that of all lines.
    count.textContent = `${at + 1} of ${hasMore ? "the first " : ""}${found.length}${hasMore ? "; there are more" : ""}`;
    toLine(found[at]);
  }

  function showFollow() {
    follow.hidden = over;
    follow.setAttribute("aria-pressed", String(following));
    follow.textContent = following ? "Following" : "Follow";
  }
  let lastTop = 0, lastHeight = 0;
  view.addEventListener("scroll", () => {
    // Who scrolls up wants to read: what comes does not pull the view down. A phone that is turned scrolls, too.
    const turned = view.clientHeight !== lastHeight;
    if (following && !turned && view.scrollTop < lastTop - LINE) { following = false; showFollow(); }
    lastTop = view.scrollTop;
    lastHeight = view.clientHeight;
    draw();
  }, { passive: true });
  addEventListener("resize", () => { if (following) toEnd(); else draw(); });
  addEventListener("hashchange", () => { marked = lineOfAddress(); if (marked !== null) toLine(marked); });

  function paint(element, content) {
    const text = content.length > LONGEST ? `${content.slice(0, LONGEST)}…` : content;
    for (const part of coloured(text)) {
      if (!part.text) continue;
      if (!part.classes) { element.append(part.text); continue; }
      const span = make("span", part.classes);
      span.textContent = part.text;
      element.append(span);
    }
  }
}

// Splits a line at the escape sequences of a terminal. Colours become classes; other sequences and control characters go.
function coloured(line) {
  const parts = [];
  let colour = "", bold = false, from = 0;
  const clean = (text) => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
  const push = (text) => parts.push({ text: clean(text), classes: [colour, bold ? "bold" : ""].filter(Boolean).join(" ") });
  for (const match of line.matchAll(/\u001b(?:\[([0-9;:?]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g)) {
    push(line.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] !== "m") continue;
    const codes = (match[1] || "0").split(";").map(Number);
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i];
      if (code === 0) { colour = ""; bold = false; }
      else if (code === 1) bold = true;
      else if (code === 22) bold = false;
      else if (code === 39) colour = "";
      else if (code >= 30 && code <= 37) colour = `c${code - 30}`;
      else if (code >= 90 && code <= 97) colour = `c${code - 90}`;
      else if (code === 38 || code === 48) i += codes[i + 1] === 5 ? 2 : 4;
    }
  }
  push(line.slice(from));
  return parts;
}

function lineOfAddress() {
  const match = /^#L([1-9][0-9]{0,9})$/.exec(location.hash);
  return match ? Number(match[1]) - 1 : null;
}

function lowerBound(list, value) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

async function load(url, options = {}) {
  const answer = await fetch(url, { credentials: "same-origin", ...options });
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer;
}

function make(name, className) {
  const element = document.createElement(name);
  if (className) element.className = className;
  return element;
}

function option(value, text) {
  const element = make("option");
  element.value = value; element.textContent = text;
  return element;
}

function button(text, act) {
  const element = make("button", "plain");
  element.type = "button"; element.textContent = text;
  element.addEventListener("click", act);
  return element;
}
