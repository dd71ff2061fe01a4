// Building blocks of the page. Text is only ever set as text.

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

// What came from outside: in an element of its own, so that its direction stays its own affair.
const said = (text) => make("bdi", {}, oneLine(text));
const code = (text) => make("code", {}, said(text));

const glyphs = {
  MISSING: "?", UNDECLARED: "!", REMOVED: "−", REGRESSION: "✖", NEW: "+", INFRA: "⚡\ufe0e",
  "CASE EDITED": "✎", EXPIRED: "⌛\ufe0e", "NOT PROVEN": "≈", CHANGED: "≠", IMPROVEMENT: "▲", UNMEASURED: "○", OK: "✓",
  pass: "✓", fail: "✗", infra_error: "⚡\ufe0e",
};

function toneOf(pair) {
  if (pair.gates) return "red";
  if (pair.kind !== "OK") return pair.kind.toLowerCase().replace(" ", "-");
  return pair.got === "pass" ? "pass" : pair.got === "fail" ? "known" : "infra";
}

// The word of a cell: the status where it is as expected, else the delta's word.
const wordOf = (pair) => (pair.kind === "OK" ? statusWord[pair.got] ?? "" : pair.kind);
const glyphOf = (pair) => glyphs[pair.kind === "OK" ? pair.got : pair.kind] ?? "·";
const sign = (glyph) => make("span", { class: "glyph", "aria-hidden": "true" }, glyph);

function marksOf(pair, late = "timed out") {
  const marks = [];
  if (pair.flaky) marks.push(make("span", { class: "mark" }, `flaky ${pair.passed}/${pair.trials}`));
  if (pair.late) marks.push(make("span", { class: "mark" }, late));
  if (pair.unlike) marks.push(make("span", { class: "mark" }, "other CLI or model"));
  return marks;
}

const badge = (tone, glyph, word) => make("span", { class: `badge ${tone}` }, sign(glyph), word);
const pairBadge = (pair) => badge(toneOf(pair), glyphOf(pair), wordOf(pair));
const unitTone = { pass: "pass", fail: "red", infra_error: "infra" };
const unitBadge = (unit) => badge(unitTone[unit.status] ?? "", glyphs[unit.status] ?? "·", statusWord[unit.status] ?? "");

function duration(ms) {
  if (!Number.isFinite(ms)) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return hours ? `${hours} h ${minutes} min` : `${minutes} min ${seconds % 60} s`;
}

const money = (usd) => (typeof usd === "number" ? `$${usd.toFixed(usd < 1 ? 4 : 2)}` : "–");
const clock = (time) => (Number.isFinite(time) ? new Date(time).toISOString().slice(11, 19) : "–");
const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
const isLink = (text) => /^https?:\/\//.test(text);

function sourceLink(pair) {
  if (!pair.row) return null;
  const place = `${meta.cases_file}:${pair.row}`;
  return isLink(meta.cases_url) ? make("a", { href: `${meta.cases_url}#L${pair.row}` }, said(place)) : code(place);
}

const pairHash = (pair) => `#pair=${encodeURIComponent(pair.agent)}/${encodeURIComponent(pair.caseId)}`;
const unitHash = (unit) => `#unit=${encodeURIComponent(unit.id)}`;
