// What every page gets on top: times in the reader's zone, copying, menus that close, values of sliders, and the way to what
// was refused.

const zoned = new Intl.DateTimeFormat(undefined, {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
});
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

function showTimes(root) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const text = zoned.format(at);
    if (element.textContent !== text) {
      element.textContent = text;
      element.title = whole.format(at);
    }
  }
}

function showCopyButtons(root) {
  for (const button of root.querySelectorAll("button.copy[hidden]")) button.hidden = false;
}

// The field beside a list is for a value that the list lacks.
function showOthers(root) {
  for (const field of root.querySelectorAll("[data-other-of]")) {
    const isHidden = field.form.elements[field.dataset.otherOf].value !== "+other";
    // The observer below calls this for each change of the attribute, also for one to the same value.
    if (field.hidden !== isHidden) field.hidden = isHidden;
  }
}

function refresh() {
  showTimes(document);
  showCopyButtons(document);
  showOthers(document);
}

for (const button of document.querySelectorAll("button.print")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  const text = source.value ?? source.textContent;
  try {
    await navigator.clipboard.writeText(text);
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 2000);
  } catch {
    // Without permission the text is at least selected: the reader copies it by hand.
    getSelection().selectAllChildren(source);
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (button) copy(button);
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

document.addEventListener("change", (event) => {
  const field = event.target.form?.querySelector(`[data-other-of="${event.target.name}"]`);
  if (!field) return;
  showOthers(event.target.form);
  if (!field.hidden) field.focus();
});

document.addEventListener("input", (event) => {
  const output = event.target.matches?.("input[type=range]") && document.querySelector(`output[for="${event.target.id}"]`);
  if (output) output.textContent = `${event.target.value} %`;
});

// A double click sends a form once. The server tells the two apart by itself; this spares the second request.
const PAUSE = 3000;
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  setTimeout(() => { delete form.dataset.sent; }, PAUSE);
});

// Live parts that are replaced contain times and copy buttons, too.
new MutationObserver(refresh).observe(document.body, { childList: true, characterData: true, subtree: true, attributes: true, attributeFilter: ["hidden"] });
refresh();

// The first wrong field, or the message of the refusal, is in sight and has the focus. On a phone it is far below the top.
function showRefusal(root) {
  const target = root.querySelector("[autofocus]");
  if (!target) return false;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.focus({ preventScroll: true });
  (target.closest(".field") ?? target).scrollIntoView({ block: "center" });
  return true;
}
showRefusal(document);

// On a phone the settings are a row that scrolls: the present one is in sight.
document.querySelector(".side .settings [aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });

// A package is sent with its progress shown; without this script the form does the same without.
document.addEventListener("submit", (event) => {
  const form = event.target.closest("form.upload");
  if (!form) return;
  event.preventDefault();
  const line = form.querySelector(".progress"), bar = line.querySelector("progress"), text = line.querySelector("span");
  const button = form.querySelector("button"), files = form.elements.file.files;
  const request = new XMLHttpRequest();
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    bar.value = loaded / total;
    text.textContent = loaded < total ? `${Math.floor((100 * loaded) / total)} %` : "Looking into the package…";
  });
  request.addEventListener("load", () => {
    // Success has led to the update's page; a refusal is this page again, with what is wrong.
    if (new URL(request.responseURL).pathname !== new URL(form.action).pathname) {
      location.assign(request.responseURL);
      return;
    }
    const answer = new DOMParser().parseFromString(request.responseText, "text/html").querySelector("main");
    document.querySelector("main").replaceWith(answer);
    const again = answer.querySelector("form.upload");
    if (again) again.elements.file.files = files;
    if (!showRefusal(answer)) answer.focus();
  });
  request.addEventListener("error", () => {
    text.textContent = "The connection broke; send it again.";
    button.disabled = false;
  });
  request.open("POST", form.action);
  button.disabled = true;
  line.hidden = false;
  request.send(new FormData(form));
});
