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
    ["pass", glyphs.pass, "pass, as expected"], ["known", glyphs.fail, "fail, as expected"], ["red", glyphs.REGRESSION, "regression"],
    ["red", glyphs.EXPIRED, "flaky entry past its date"], ["red", glyphs.MISSING, "no result"], ["red", glyphs.UNDECLARED, "no baseline entry"],
    ["not-proven", glyphs["NOT PROVEN"], "failed, but not proven worse"],
    ["improvement", glyphs.IMPROVEMENT, "better than expected"], ["new", glyphs.NEW, "new"], ["infra", glyphs.INFRA, "infra error"],
    ["changed", glyphs.CHANGED, "changed"], ["case-edited", glyphs["CASE EDITED"], "case edited"], ["removed", glyphs.REMOVED, "removed"],
    ["unmeasured", glyphs.UNMEASURED, "not measured"], ["none", "·", "no pair"],
  ];
  return make("ul", { class: "legend", "aria-label": "Legend" },
    make("li", {}, "What is red makes the gate red, whatever its sign."), ...entries.map(([tone, glyph, text]) => make("li", {}, make("span", { class: `swatch ${tone}` }, sign(glyph)), text)));
}
