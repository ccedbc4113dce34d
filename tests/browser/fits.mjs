// What does not fit: run inside a page, returns the beginnings of elements that leave their card or overlap in a row. What scrolls by itself may
// be wider.

export const stickingOut = () => {
  const found = new Set();
  const note = (element) => found.add(element.outerHTML.slice(0, 120));
  const scrolls = (element, card) => {
    for (let one = element; one !== card; one = one.parentElement) if (getComputedStyle(one).overflowX !== "visible") return true;
    return getComputedStyle(card).overflowX === "auto";
  };
  for (const card of document.querySelectorAll("main .panel, main.card")) {
    const { left, right } = card.getBoundingClientRect();
    for (const element of card.querySelectorAll("*")) {
      const box = element.getBoundingClientRect();
      if (!box.width || element.closest(".unseen, thead, svg") || scrolls(element, card)) continue;
      if (box.right > right + 1 || box.left < left - 1) note(element);
    }
  }
  for (const row of document.querySelectorAll(".row")) {
    const [what, how] = [row.querySelector(".what"), row.querySelector(".how")].map((part) => part.getBoundingClientRect());
    const isBeside = what.bottom > how.top + 1 && how.bottom > what.top + 1;
    if (isBeside && what.right > how.left + 1) note(row);
    for (const part of row.querySelectorAll(".how *")) if (part.getBoundingClientRect().right > row.getBoundingClientRect().right + 1) note(part);
  }
  return [...found].slice(0, 5);
};
