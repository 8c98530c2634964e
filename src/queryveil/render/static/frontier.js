"use strict";
for (const box of document.querySelectorAll(".frontier")) {
  const data = JSON.parse(box.querySelector(".data").textContent);
  const { left, right, top, bottom, far, letter, tall } = data.frame;
  const svg = box.querySelector(".scatter"), step = svg.querySelector(".step");
  const marks = [...svg.querySelectorAll(".run")], joins = svg.querySelectorAll(".join");
  const [across, up] = box.querySelectorAll("select"), tip = box.querySelector(".tip");
  const hidden = new Set();
  const show = (one, shown) => shown ? one.removeAttribute("display")
    : one.setAttribute("display", "none");
  const share = (scale, v) => {
    const p = (v - scale.low) / (scale.high - scale.low);
    return scale.flip ? 1 - p : p;
  };
  const round = (v) => Math.round(v * 10) / 10;
  const toX = (scale, v) => round(left + share(scale, v) * (right - left));
  const toY = (scale, v) => round(bottom - share(scale, v) * (bottom - top));
  const worth = (scale, v) => scale.flip ? -v : v;

  const unbeaten = (points) => {
    const front = [];
    let bestUse = -Infinity, last = null;
    for (const p of [...points].sort((a, b) => a.risk - b.risk || b.use - a.use)) {
      if (p.use > bestUse || (last && p.risk === last.risk && p.use === last.use)) {
        front.push(p);
        [bestUse, last] = [p.use, p];
      }
    }
    return front;
  };

  const placed = (x, y) => data.runs.map((run, i) => {
    const a = run.values[x.line], b = run.values[y.line];
    if (!a || !b) return null;
    const [h, v] = [toX(x, a.mean), toY(y, b.mean)];
    return { i, h, v, group: run.group, risk: worth(x, a.mean), use: worth(y, b.mean),
      text: `${run.name}: ${x.line} ${a.text}, ${y.line} ${b.text}`,
      reach: `M${round(toX(x, a.low) - h)} 0H${round(toX(x, a.high) - h)}` +
        `M0 ${round(toY(y, b.low) - v)}V${round(toY(y, b.high) - v)}` };
  });

  const draw = () => {
    const x = data.across[across.value], y = data.up[up.value];
    const all = placed(x, y), seen = all.filter((p) => p && !hidden.has(p.group));
    const best = unbeaten(seen);
    marks.forEach((g, i) => {
      const p = all[i];
      show(g, seen.includes(p));
      g.classList.toggle("best", best.includes(p));
      if (!p) return;
      g.setAttribute("transform", `translate(${p.h} ${p.v})`);
      g.setAttribute("aria-label", p.text);
      g.querySelector(".reach").setAttribute("d", p.reach);
      const text = g.querySelector(".at");
      text?.setAttribute("x", p.h > far ? -9 : 9);
      text?.setAttribute("text-anchor", p.h > far ? "end" : "start");
    });
    legible([...best, ...seen]);
    joins.forEach((line, i) => line.setAttribute("points", data.strands[i]
      .map((n) => all[n]).filter((p) => seen.includes(p)).map((p) => `${p.h},${p.v}`).join(" ")));
    step.setAttribute("d", best.length ? `M${best[0].h} ${bottom}V${best[0].v}` +
      best.slice(1).map((p) => `H${p.h}V${p.v}`).join("") + `H${right}` : "");
    svg.querySelectorAll(".across").forEach((g, i) => show(g, i === Number(across.value)));
    svg.querySelectorAll(".up").forEach((g, i) => show(g, i === Number(up.value)));
    tell(best, all);
  };

  const legible = (order) => {
    const boxes = [], shown = new Set();
    svg.querySelectorAll(".at").forEach((text) => text.setAttribute("visibility", "hidden"));
    for (const p of order) {
      const text = marks[p.i].querySelector(".at");
      if (!text || shown.has(p)) continue;
      const width = letter * [...text.textContent].length;
      const left = p.h > far ? p.h - 9 - width : p.h + 9;
      const clear = boxes.every(([other, wide, high]) =>
        left + width < other || other + wide < left || Math.abs(p.v - high) >= tall);
      if (!clear) continue;
      boxes.push([left, width, p.v]);
      shown.add(p);
      text.setAttribute("visibility", "visible");
    }
  };

  const tell = (best, all) => {
    box.querySelector(".told").replaceChildren(...best.map((p) => {
      const item = document.createElement("li");
      item.textContent = p.text;
      return item;
    }));
    const own = all[data.own], over = own && !best.includes(own)
      ? best.filter((p) => p.risk <= own.risk && p.use >= own.use) : [];
    box.querySelector(".own b").textContent = !own ? "" : !over.length
      ? "No other run beats this release."
      : `This release is beaten by ${over.map((p) => data.runs[p.i].name).join("; ")}.`;
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
