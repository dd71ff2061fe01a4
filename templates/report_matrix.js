// The heat map: a row for each case, a column for each provider.

function makeMatrix(open) {
  const agents = meta.agents;
  const cellOf = (pair, agent) => {
    if (!pair) return cell({ class: "heat none", tabindex: "-1", "data-stop": true, "data-agent": agent }, sign("·"), make("span", { class: "sr" }, "not in the delta"));
    return cell({ class: `heat ${toneOf(pair)}${pair.shown ? "" : " dim"}${pair.gates ? " gates" : ""}`, tabindex: "-1", "data-stop": true, "data-agent": agent },
      sign(glyphOf(pair)), wordOf(pair), ...marksOf(pair, "late"),
      pair.kind === "OK" && pair.got !== "pass" ? make("span", { class: "sr" }, " as expected") : null);
  };
  return makeList({
    label: "Matrix of cases and providers", height: 36,
    empty: "No case matches the filter.",
    columns: [{ title: "Case", class: "c-case", width: 280, narrow: 140 },
      ...agents.map((agent) => ({ title: oneLine(agent), class: "heat", stop: true, width: agents.length > 3 ? 210 : null, narrow: 190 }))],
    rowOf: (one) => [
      make("th", { scope: "row", role: "rowheader", class: "c-case", title: oneLine(one.caseId) }, said(one.caseId)),
      ...agents.map((agent) => cellOf(one.cells.get(agent), agent)),
    ],
    open: (one, target) => {
      const agent = target.closest?.("[data-agent]")?.dataset.agent;
      const pair = agent === undefined ? [...one.cells.values()][0] : one.cells.get(agent);
      if (pair) open(pair);
    },
  });
}

// What the colours and signs of the matrix mean.
function makeLegend() {
  const entries = [
    ["pass", glyphs.pass, "pass, as expected"], ["known", glyphs.fail, "fail, as expected"], ["red", glyphs.REGRESSION, "gates: red"],
    ["improvement", glyphs.IMPROVEMENT, "better than expected"], ["new", glyphs.NEW, "new"], ["infra", glyphs.INFRA, "infra error"],
    ["changed", glyphs.CHANGED, "changed"], ["unmeasured", glyphs.UNMEASURED, "not measured"],
  ];
  return make("ul", { class: "legend", "aria-label": "Legend" },
    ...entries.map(([tone, glyph, text]) => make("li", {}, make("span", { class: `swatch ${tone}` }, sign(glyph)), text)));
}
