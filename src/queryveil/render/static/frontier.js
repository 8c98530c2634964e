"use strict";
// Shows other measures and hides methods. Every place and every front is computed in the page's
// data: the script only moves, shows and hides what the page has.
for (const box of document.querySelectorAll(".frontier")) {
  const data = JSON.parse(box.querySelector(".data").textContent);
  const { right, bottom, far, gap } = data.frame;
  const svg = box.querySelector(".scatter"), step = svg.querySelector(".step");
  const marks = [...svg.querySelectorAll(".run")], joins = svg.querySelectorAll(".join");
  const [across, up] = box.querySelectorAll("select"), tip = box.querySelector(".tip");
  const hidden = new Set();
  const show = (one, shown) => shown ? one.removeAttribute("display")
    : one.setAttribute("display", "none");
  const round = (v) => Math.round(v * 10) / 10;

  const place = (x, y) => data.runs.map((run, i) => {
    const a = x.places[i], b = y.places[i];
    if (!a || !b) return null;
    const [h, left, rightmost, xText] = a, [v, low, high, yText] = b;
    return { i, h, v, text: `${run.name}: ${x.name} ${xText}, ${y.name} ${yText}`,
      reach: `M${round(left - h)} 0H${round(rightmost - h)}M0 ${round(low - v)}V${round(high - v)}` };
  });
  const isShown = (i) => !hidden.has(data.runs[i].group);
  const findFront = (pair) => pair.order.filter((i, n) =>
    isShown(i) && pair.dominated[n].every((group) => hidden.has(group)));

  const draw = () => {
    const x = data.across[across.value], y = data.up[up.value];
    const pair = data.pairs[across.value][up.value];
    const all = place(x, y), seen = all.filter((p) => p && isShown(p.i));
    const best = findFront(pair).map((i) => all[i]);
    marks.forEach((g, i) => {
      const p = all[i];
      show(g, seen.includes(p));
      g.classList.toggle("best", best.includes(p));
      if (!p) return;
      g.setAttribute("transform", `translate(${p.h} ${p.v})`);
      g.setAttribute("aria-label", p.text);
      g.querySelector(".reach").setAttribute("d", p.reach);
      const label = g.querySelector(".at");
      label?.setAttribute("x", p.h > far ? -gap : gap);
      label?.setAttribute("text-anchor", p.h > far ? "end" : "start");
    });
    showLabels([...best, ...seen], pair.conflicts);
    joins.forEach((line, i) => line.setAttribute("points", data.strands[i]
      .map((n) => all[n]).filter((p) => seen.includes(p)).map((p) => `${p.h},${p.v}`).join(" ")));
    step.setAttribute("d", best.length ? `M${best[0].h} ${bottom}V${best[0].v}` +
      best.slice(1).map((p) => `H${p.h}V${p.v}`).join("") + `H${right}` : "");
    svg.querySelectorAll(".across").forEach((g, i) => show(g, i === Number(across.value)));
    svg.querySelectorAll(".up").forEach((g, i) => show(g, i === Number(up.value)));
    describe(best, all, pair.over_own);
  };

  const showLabels = (order, conflicts) => {
    const shown = new Set();
    svg.querySelectorAll(".at").forEach((label) => label.setAttribute("visibility", "hidden"));
    for (const { i } of order) {
      const label = marks[i].querySelector(".at");
      const clash = conflicts.some(([a, b]) => (a === i && shown.has(b)) || (b === i && shown.has(a)));
      if (!label || clash) continue;
      shown.add(i);
      label.setAttribute("visibility", "visible");
    }
  };

  const describe = (best, all, overOwn) => {
    box.querySelector(".front").replaceChildren(...best.map((p) => {
      const item = document.createElement("li");
      item.textContent = p.text;
      return item;
    }));
    const over = best.filter((p) => overOwn.includes(p.i)).map((p) => data.runs[p.i].name);
    box.querySelector(".own b").textContent = !all[data.own] ? "" : !over.length
      ? "No other run dominates this release." : `This release is dominated by ${over.join("; ")}.`;
    const missing = data.runs.filter((run, i) => !all[i]).map((run) => run.name);
    const note = box.querySelector(".missing");
    note.hidden = !missing.length;
    note.querySelector("span").textContent = missing.join("; ");
  };

  const point = (g) => {
    tip.textContent = g.getAttribute("aria-label");
    tip.hidden = false;
    const at = g.querySelector(".mark").getBoundingClientRect(), area = box.getBoundingClientRect();
    const maxLeft = area.width - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(maxLeft, at.left - area.left + 14))}px`;
    tip.style.top = `${at.top - area.top - tip.offsetHeight - 6}px`;
  };
  const away = () => { tip.hidden = true; };
  for (const g of marks) {
    g.querySelector("title").remove();
    g.setAttribute("tabindex", "0");
    g.setAttribute("role", "img");
    for (const name of ["pointerenter", "focus"]) g.addEventListener(name, () => point(g));
    for (const name of ["pointerleave", "blur"]) g.addEventListener(name, away);
  }
  box.querySelectorAll(".key li").forEach((item, group) => {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.append(...item.childNodes);
    item.append(button);
    button.addEventListener("click", () => {
      const gone = !hidden.delete(group);
      if (gone) hidden.add(group);
      button.setAttribute("aria-pressed", String(!gone));
      draw();
    });
  });
  for (const one of [across, up]) one.addEventListener("change", draw);
  box.querySelectorAll(".choice").forEach((one) => { one.hidden = false; });
  svg.setAttribute("role", "group");
  draw();
}
