"use strict";
// Tooltips of charts, by pointer and by keyboard: Tab enters a chart, arrow keys go from mark to
// mark, Escape hides the tooltip. Without the script each mark has a title.
for (const svg of document.querySelectorAll(".qv-chart")) {
  const spots = [...svg.querySelectorAll(".spot")], box = svg.closest(".drawing");
  if (!spots.length || !box) continue;
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  box.append(tip);
  const boxOf = (g) => g.querySelector(".mark, .bar").getBoundingClientRect();
  const point = (g) => {
    tip.textContent = g.getAttribute("aria-label");
    tip.hidden = false;
    const mark = boxOf(g);
    const area = box.getBoundingClientRect(), maxLeft = area.width - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(maxLeft, mark.left - area.left + 14))}px`;
    tip.style.top = `${mark.top - area.top - tip.offsetHeight - 6}px`;
  };
  const away = () => { tip.hidden = true; };
  const spotOf = (event) => event.target.closest?.(".spot");
  const isShown = (g) => !g.hasAttribute("display");
  // Marks from left to right, then from the top: the order of the arrow keys.
  const inOrder = () => spots.filter(isShown).map((g) => [g, boxOf(g)])
    .sort(([, a], [, b]) => a.left + a.right - b.left - b.right || a.top - b.top).map(([g]) => g);
  const enter = (g) => {
    spots.forEach((one) => one.setAttribute("tabindex", one === g ? "0" : "-1"));
    g.focus();
  };
  const step = (event) => {
    const here = spotOf(event);
    if (event.key === "Escape") away();
    if (!here) return;
    const order = inOrder(), at = order.indexOf(here), last = order.length - 1;
    const to = { ArrowRight: Math.min(at + 1, last), ArrowDown: Math.min(at + 1, last),
      ArrowLeft: Math.max(at - 1, 0), ArrowUp: Math.max(at - 1, 0), Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    enter(order[to]);
  };
  spots.forEach((g) => {
    const title = g.querySelector("title");
    g.setAttribute("aria-label", title.textContent);
    g.setAttribute("role", "img");
    g.setAttribute("tabindex", "-1");
    title.remove();
    g.addEventListener("pointerenter", () => point(g));
    g.addEventListener("pointerleave", away);
  });
  // One mark at a time can be reached by Tab; it is always one that is shown.
  svg.addEventListener("spots-changed", () => {
    const shown = spots.filter(isShown);
    if (shown.some((g) => g.getAttribute("tabindex") === "0")) return;
    spots.forEach((g) => g.setAttribute("tabindex", g === shown[0] ? "0" : "-1"));
  });
  svg.dispatchEvent(new Event("spots-changed"));
  // Not on the drawing itself, which a browser would then let Tab stop at.
  box.addEventListener("focusin", (event) => spotOf(event) && point(spotOf(event)));
  box.addEventListener("focusout", away);
  box.addEventListener("keydown", step);
  svg.setAttribute("role", "group");
}
