// The timeline of the units, and time and cost of each provider.

const LANES = 64;
const LANE = 16;

// Lanes: each unit in the first lane of its provider that is free when it starts.
function makeLanes(list) {
  const groups = [];
  for (const agent of [...new Set([...meta.agents, ...list.map((unit) => unit.agent)])]) {
    const own = list.filter((unit) => unit.agent === agent && Number.isFinite(unit.start)).sort((a, b) => a.start - b.start || a.end - b.end);
    const lanes = [];
    for (const unit of own) {
      let lane = lanes.findIndex((end) => end <= unit.start);
      if (lane < 0) lane = lanes.length < LANES ? lanes.push(0) - 1 : lanes.indexOf(Math.min(...lanes));
      lanes[lane] = unit.end;
      unit.lane = lane;
    }
    if (own.length) groups.push({ agent, own, lanes: lanes.length });
  }
  return groups;
}

const GROUP = 24;
const AXIS = 22;

function makeTimeline(open) {
  const caption = make("p", { class: "hint", id: "time-caption" });
  const canvas = make("canvas", { role: "img", tabindex: "0", "aria-describedby": "time-caption" });
  const frame = make("div", { class: "frame" }, canvas);
  const tip = make("p", { class: "tip", "aria-live": "polite" });
  const element = make("div", { class: "timeline" }, caption, frame, tip);
  let groups = [];
  let order = [];
  let current = -1;
  let [from, to, boxes] = [0, 1, []];

  // Only a property such as `color` is resolved for the theme, so that each has an element.
  const paints = Object.fromEntries(["pass", "fail", "infra_error", "text", "grid", "focus"].map((name) => [name, make("i", { class: `paint-${name}` })]));
  element.append(make("span", { hidden: true }, ...Object.values(paints)));
  const colours = () => Object.fromEntries(Object.entries(paints).map(([name, probe]) => [name, getComputedStyle(probe).color]));

  function draw() {
    const width = Math.max(280, frame.clientWidth);
    const height = AXIS + groups.reduce((sum, group) => sum + GROUP + group.lanes * LANE, 8);
    const ratio = devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const tones = colours();
    pen.font = "12px system-ui, sans-serif";
    const x = (time) => 8 + ((time - from) / Math.max(1, to - from)) * (width - 16);
    drawAxis(pen, x, width, height, tones);
    boxes = [];
    let top = AXIS;
    for (const group of groups) {
      pen.fillStyle = tones.text;
      pen.fillText(oneLine(group.agent).slice(0, 60), 8, top + 16);
      top += GROUP;
      for (const unit of group.own) drawUnit(pen, unit, x(unit.start), x(unit.end), top + unit.lane * LANE, tones);
      top += group.lanes * LANE;
    }
    const box = boxes.find((one) => one.unit === order[current]);
    if (box) {
      pen.strokeStyle = tones.focus;
      pen.lineWidth = 2;
      pen.strokeRect(box.left - 1, box.top - 1, box.right - box.left + 2, LANE);
    }
  }

  // A unit that did not pass is taller and crossed by strokes: colour is not its only sign.
  function drawUnit(pen, unit, left, end, top, tones) {
    const right = Math.max(left + 1.5, end - 0.5);
    const bad = unit.status !== "pass";
    pen.fillStyle = tones[unit.status] ?? tones.text;
    pen.fillRect(left, top + (bad ? 0 : 3), right - left, LANE - (bad ? 2 : 7));
    boxes.push({ left, right, top, unit });
    if (!bad || right - left < 6) return;
    pen.save();
    pen.beginPath();
    pen.rect(left, top, right - left, LANE - 2);
    pen.clip();
    pen.strokeStyle = "rgb(255 255 255 / 0.65)";
    pen.lineWidth = 1.5;
    pen.beginPath();
    for (let at = left - LANE; at < right; at += 7) {
      pen.moveTo(at, top + LANE);
      pen.lineTo(at + LANE, top);
    }
    pen.stroke();
    pen.restore();
  }

  function drawAxis(pen, x, width, height, tones) {
    const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 144e5, 432e5, 864e5];
    const most = Math.max(2, Math.floor(width / 110));
    const step = steps.find((one) => (to - from) / one <= most) ?? (to - from) / most;
    pen.lineWidth = 1;
    pen.textAlign = "left";
    for (let time = from; time <= to; time += step) {
      const at = Math.round(x(time)) + 0.5;
      pen.strokeStyle = tones.grid;
      pen.beginPath();
      pen.moveTo(at, 0);
      pen.lineTo(at, height);
      pen.stroke();
      pen.fillStyle = tones.text;
      if (at < width - 56) pen.fillText(`+${duration(time - from)}`, at + 4, 13);
    }
  }

  const describe = (unit) => `${oneLine(unit.caseId)} on ${oneLine(unit.agent)}, trial ${unit.trial}: ${statusWord[unit.status]}${unit.failure ? `, ${oneLine(unit.failure)}` : ""}, ${duration(unit.ms)} from ${clock(unit.start)} UTC`;

  function unitAt(event) {
    const edge = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - edge.left, event.clientY - edge.top];
    return boxes.findLast((box) => x >= box.left - 2 && x <= box.right + 2 && y >= box.top && y < box.top + LANE)?.unit;
  }

  function choose(index) {
    if (!order.length) return;
    current = Math.max(0, Math.min(order.length - 1, index));
    tip.textContent = describe(order[current]);
    draw();
  }

  canvas.addEventListener("mousemove", (event) => {
    const unit = unitAt(event);
    canvas.classList.toggle("hit", Boolean(unit));
    if (unit) tip.textContent = describe(unit);
  });
  canvas.addEventListener("click", (event) => {
    const unit = unitAt(event);
    if (unit) open(unit);
  });
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (moves[event.key] !== undefined && !event.altKey && !event.metaKey) {
      event.preventDefault();
      choose(current + moves[event.key]);
    } else if (event.key === "Enter" && order[current]) open(order[current]);
  });
  new ResizeObserver(draw).observe(frame);

  return {
    element,
    redraw: draw,
    update(list) {
      groups = makeLanes(list);
      const placed = groups.flatMap((group) => group.own);
      order = placed.slice().sort((a, b) => a.start - b.start || a.place - b.place);
      current = -1;
      from = order.length ? order[0].start : 0;
      to = order.reduce((most, unit) => Math.max(most, unit.end), from + 1);
      const bad = placed.filter((unit) => unit.status !== "pass").length;
      const text = order.length
        ? `${count(order.length, "unit", "units")} in ${count(groups.reduce((sum, group) => sum + group.lanes, 0), "lane", "lanes")}, from ${clock(from)} to ${clock(to)} UTC (${duration(to - from)}); ${bad} did not pass and are striped. Each lane ran one unit at a time${groups.some((group) => group.lanes === LANES) ? `; what ran beyond ${LANES} at once shares them` : ""}.`
        : "No unit that matches the filter has a start time.";
      caption.textContent = text;
      canvas.setAttribute("aria-label", `Timeline: ${text}`);
      frame.hidden = !order.length;
      tip.textContent = order.length ? "Point at a bar, or move with the arrow keys; Enter opens its unit." : "";
      draw();
    },
  };
}

// A provider may be called as something that every object has.
const listOf = (lists, name) => (Object.hasOwn(lists, name) ? lists[name] : []);

function median(numbers) {
  const sorted = numbers.slice().sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (!sorted.length) return NaN;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function share(part, whole, ...text) {
  const bar = make("span", { class: "share", "aria-hidden": "true" });
  bar.style.width = `${Math.round((whole ? part / whole : 0) * 72)}px`;
  return make("td", { class: "number" }, ...text, bar);
}

function makeTotals() {
  const element = make("div", { class: "totals" });
  function row(agent, own, most) {
    const of = (status) => own.filter((unit) => unit.status === status).length;
    const times = own.map((unit) => unit.ms);
    const costs = own.filter((unit) => typeof unit.cost === "number").map((unit) => unit.cost);
    const slowest = own.reduce((best, unit) => (best && best.ms >= unit.ms ? best : unit), null);
    const spent = costs.length ? costs.reduce((sum, one) => sum + one, 0) : null;
    const time = times.reduce((sum, one) => sum + one, 0);
    const results = ["pass", "fail", "infra_error"].filter(of).map((status) => `${of(status).toLocaleString("en")} ${statusWord[status]}`);
    return make("tr", {},
      make("th", { scope: "row" }, said(agent),
        make("span", { class: "sub" }, said([...listOf(meta.cli_versions, agent), ...listOf(meta.models, agent)].join(", ")))),
      make("td", {}, count(own.length, "unit", "units"), make("span", { class: "sub" }, results.join(", "))),
      share(time, most.time, make("span", { class: "label" }, "Agent time "), duration(time), make("span", { class: "sub" }, `median ${duration(median(times))}, slowest `, slowest ? make("a", { href: unitHash(slowest) }, duration(slowest.ms)) : "–")),
      share(spent ?? 0, most.cost, make("span", { class: "label" }, "Cost "), money(spent)));
  }
  return {
    element,
    update(list) {
      const groups = new Map();
      for (const unit of list) {
        if (!groups.has(unit.agent)) groups.set(unit.agent, []);
        groups.get(unit.agent).push(unit);
      }
      const sum = (own, pick) => own.reduce((total, unit) => total + (pick(unit) ?? 0), 0);
      const all = [...groups.values()];
      const most = { time: Math.max(0, ...all.map((own) => sum(own, (unit) => unit.ms))), cost: Math.max(0, ...all.map((own) => sum(own, (unit) => unit.cost))) };
      const heads = ["Provider", "Units", "Agent time", "Cost reported"];
      element.replaceChildren(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Time and cost" }, make("table", {},
        make("caption", {}, "Time and cost of each provider, of the units that match the filter"),
        make("thead", {}, make("tr", {}, ...heads.map((title, index) => make("th", { scope: "col", class: index > 1 ? "number" : null }, title)))),
        make("tbody", {}, ...[...groups].map(([agent, own]) => row(agent, own, most))))),
      make("p", { class: "hint" }, "Cost is what the agents' command lines reported; some report none. The Units view sorts by time and cost."));
    },
  };
}
