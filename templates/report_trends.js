// How pairs did over time: a small chart for each, with marks where a CLI, a model or a description
// changed. The blocks come added up; no single run is in the page.

const trendData = document.getElementById("data-trends") ? read("data-trends") : null;
const trendTexts = trendData?.texts ?? [];
const trends = (trendData?.pairs ?? []).map((line, place) => {
  const [caseId, agent, passed, trials, low, high, runs, flips, streak, ms, cost, blocks, marks, change] = line;
  const rate = trials ? passed / trials : null;
  const told = change ? trendTexts[change[1]] : "";
  return { place, caseId, agent, passed, trials, low, high, runs, flips, streak, ms, cost, blocks: [...blocks], marks, change: change?.[0] ?? -1, told, rate, text: `${caseId}\n${agent}\n${told}`.toLowerCase() };
});
const trendOf = new Map(trends.map((one) => [pairKey(one.caseId, one.agent), one]));

function percent(share) {
  const whole = Math.round(100 * share);
  return `${share > 0 && share < 1 ? Math.min(99, Math.max(1, whole)) : whole}%`;
}
const interval = (one) => `${percent(one.low)} to ${percent(one.high)}`;
const streakText = (one) => (one.streak ? `${one.streak > 0 ? "pass" : "fail"} ×${Math.abs(one.streak)}` : "–");

function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// A bar for each block: its height is the pass rate; few blocks are wider. Marks stand before the block
// that they begin at.
const WIDTH = 320;
const levels = "▁▂▃▄▅▆▇";
function drawTrend(one) {
  const step = Math.min(16, Math.floor(WIDTH / one.blocks.length));
  const parts = one.blocks.map((block, index) => {
    const level = levels.indexOf(block);
    const height = level < 0 ? 2 : 4 + level * 3.4;
    const tone = level < 0 ? "none" : level === levels.length - 1 ? "pass" : level ? "some" : "fail";
    return svg("rect", { class: `bar-${tone}`, x: String(index * step), y: String(26 - height), width: String(step - 2), height: String(height) });
  });
  for (const [block, text] of one.marks) {
    parts.push(svg("path", { class: "switch", d: `M${block * step - 1} 0V26m-2.5 -26h5l-2.5 4z` }, svg("title", {}, oneLine(trendTexts[text]))));
  }
  if (one.change >= 0) parts.push(svg("path", { class: "change", d: `M${one.change * step - 1} 0V30` }, svg("title", {}, oneLine(one.told))));
  const title = `${one.passed} of ${count(one.trials, "trial", "trials")} passed, in ${count(one.runs, "run", "runs")}`;
  return svg("svg", { class: "trend", viewBox: `-3 0 ${WIDTH + 6} 30`, role: "img", "aria-label": title, preserveAspectRatio: "xMinYMid meet" }, ...parts);
}

const trendOrders = {
  case: (one) => `${one.caseId}\u0000${one.agent}`,
  rate: (one) => one.rate ?? 2, flips: (one) => -one.flips, ms: (one) => -one.ms,
};

function makeTrends(open) {
  const list = makeSortedList({
    label: "Pairs over time", height: 60, tall: (one) => 114 + (one.told ? 18 * Math.min(4, Math.ceil(one.told.length / 42)) : 0), open: open ?? (() => {}), empty: "No pair with a history matches the filter.",
    columns: [
      { title: "Case and agent", by: "case", class: "c-case", stop: true },
      { title: "Runs, the oldest first", class: "c-trend", width: 350 },
      { title: "Pass rate", by: "rate", class: "number c-rate", width: 130 },
      { title: "Flips", by: "flips", class: "number c-flips", width: 110 },
      { title: "Time and cost", by: "ms", class: "number c-time", width: 130 },
    ],
    rowOf: (one) => [
      open ? caseCell(pairHash(one), one, [said(one.told)], { title: oneLine(one.told) })
        : stopCell({ class: "c-case", title: oneLine(one.told) }, twoLines([make("strong", {}, said(one.caseId)), make("span", { class: "on" }, " on ", said(one.agent))], [said(one.told)])),
      cell({ class: "c-trend" }, drawTrend(one)),
      cell({ class: "number c-rate" }, twoLines([one.rate === null ? "–" : percent(one.rate)], [one.rate === null ? "not measured" : interval(one)])),
      cell({ class: "number c-flips" }, twoLines([count(one.flips, "flip", "flips")], [streakText(one)])),
      cell({ class: "number c-time" }, twoLines([duration(one.ms)], [money(one.cost)])),
    ],
    orders: trendOrders, by: "rate", falling: ["flips", "ms"],
  });
  const { from, to } = trendData ?? {};
  const days = from === to ? `all on ${from}` : `from ${from} to ${to}`;
  const key = (sign, text) => make("li", {}, sign, " ", text);
  const bar = (tone, high = 12) => svg("svg", { class: "key", viewBox: "0 0 6 12", "aria-hidden": "true" },
    svg("rect", { class: `bar-${tone}`, y: String(12 - high), width: "6", height: String(high) }));
  list.element.prepend(make("ul", { class: "legend", "aria-label": "Legend" },
    make("li", {}, `A bar is a run, or several where there are many, ${days}.`), key(bar("pass"), "all passed"),
    key(bar("some", 7), "some passed: the higher, the more"), key(bar("fail", 4), "none passed"), key(bar("none", 2), "not measured"),
    key(sign("▾"), "CLI, model or description changed"), key(sign("┆"), "the rate changed")));
  return list;
}

// What the page of a pair says of its past.
function describeTrend(pair) {
  const one = trendOf.get(pairKey(pair.caseId, pair.agent));
  if (!one) return null;
  return make("section", {}, make("h3", {}, "History"), drawTrend(one),
    make("dl", { class: "facts" }, fact("Passed", `${one.passed} of ${count(one.trials, "trial", "trials")}`, make("span", { class: "sub" }, one.rate === null ? "" : `; ${percent(one.rate)} (95% interval: ${interval(one)})`)),
      fact("Runs", `${one.runs} on the default branch`), fact("Flips", String(one.flips)), fact("Streak", streakText(one))),
    one.told ? make("p", {}, make("strong", {}, "The rate changed: "), said(one.told)) : null,
    one.marks.length ? make("ul", { class: "notes" }, ...one.marks.map(([, text]) => make("li", {}, "changed: ", said(trendTexts[text])))) : null);
}
