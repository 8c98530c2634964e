"use strict";
// Shows other measures and hides methods. Every place, label and front is computed in the page's
// data: the script only moves, shows and hides what the page has. It runs after charts.js.
for (const box of document.querySelectorAll(".frontier")) {
  const data = JSON.parse(box.querySelector(".data").textContent);
  const { right, bottom } = data.frame;
  const svg = box.querySelector(".scatter"), front = svg.querySelector(".front");
  const marks = [...svg.querySelectorAll(".run")], joins = svg.querySelectorAll(".join");
  const [across, up] = box.querySelectorAll("select");
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
    });
    pair.labels.forEach((labels, size) => showLabels(labels, size));
    joins.forEach((line, i) => line.setAttribute("points", data.strands[i]
      .map((n) => all[n]).filter((p) => seen.includes(p)).map((p) => `${p.h},${p.v}`).join(" ")));
    front.setAttribute("d", best.length ? `M${best[0].h} ${bottom}V${best[0].v}` +
      best.slice(1).map((p) => `H${p.h}V${p.v}`).join("") + `H${right}` : "");
    svg.querySelectorAll(".across").forEach((g, i) => show(g, i === Number(across.value)));
    svg.querySelectorAll(".up").forEach((g, i) => show(g, i === Number(up.value)));
    describe(best, seen, all, pair, x, y);
    svg.dispatchEvent(new Event("spots-changed"));
  };

  const showLabels = (labels, size) => {
    const texts = marks.map((g) => g.querySelectorAll(".at")[size]);
    texts.forEach((one) => { one.textContent = ""; });
    for (const [i, text, x, y, anchor] of labels) {
      texts[i].textContent = text;
      texts[i].setAttribute("x", x);
      texts[i].setAttribute("y", y);
      texts[i].setAttribute("text-anchor", anchor);
    }
  };

  const describe = (best, seen, all, pair, x, y) => {
    const runs = seen.filter((p) => data.runs[p.i].role !== "reference").length;
    box.querySelector(".front-verdict").textContent = `For ${x.title} against ${y.title}, no other run ` +
      `beats ${best.length === 1 ? "this one" : `these ${best.length}`} of ${runs} ` +
      `run${runs === 1 ? "" : "s"}${best.length > 1 ? ", from the lowest risk to the highest utility" : ""}:`;
    box.querySelector("ul.front").replaceChildren(...best.map((p) => {
      const item = document.createElement("li");
      item.textContent = p.text;
      return item;
    }));
    const over = best.filter((p) => pair.over_own.includes(p.i)).map((p) => data.runs[p.i].name);
    box.querySelector(".own b").textContent = !all[data.own] ? "" : !over.length
      ? "No other run beats this release." : `This release is beaten by ${over.join("; ")}.`;
    const missing = data.runs.filter((run, i) => !all[i] && run.role !== "reference");
    const note = box.querySelector(".missing");
    note.hidden = !missing.length;
    note.querySelector("span").textContent = missing.map((run) => run.name).join("; ");
  };

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
  draw();
}
