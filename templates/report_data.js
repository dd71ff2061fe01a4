// The data: pairs and units as objects, and which of them match a filter.

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const meta = read("data-meta");
const numbered = read("data-index");
const prompts = new Map(read("data-prompts"));
const statusWord = { pass: "pass", fail: "fail", infra_error: "infra error" };

// C0 and C1 controls, bidi marks, zero-width and other characters that cannot be seen are named,
// so that no text can hide or reorder a part of itself. Lone halves of pairs are named too.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const visible = (text) =>
  String(text ?? "").replace(hidden, (one) => "\\u" + one.charCodeAt(0).toString(16).padStart(4, "0"));
const oneLine = (text) => visible(String(text ?? "").replace(/[\r\n\t]+/g, " "));

const pairKey = (caseId, agent) => `${agent}\u0000${caseId}`;
const byKey = new Map();
const byUnit = new Map();

function makePair(line, place) {
  const [caseId, agent, kind, gates, was, got, row, flaky, late, passed, trials, id, more] = line;
  const pair = {
    place, caseId, agent, kind, gates, was, got, row, flaky, late, passed, trials, id,
    more: more ?? {}, units: [], prompt: prompts.get(caseId) ?? "", skills: more?.skills ?? [],
  };
  pair.unlike = (pair.more.not_alike ?? []).length > 0;
  pair.quiet = kind === "OK" && !pair.flaky && !pair.unlike && !pair.more.before || Boolean(pair.more.skipped);
  byKey.set(pairKey(caseId, agent), pair);
  return pair;
}

function makeUnit(line, place) {
  const [id, caseId, agent, trial, status, outcome, failure, late, category, ms, start, end, cost, exit, transcripts, skills, more] = line;
  const unit = {
    place, id, caseId, agent, trial, status, outcome, failure, late, category, ms, cost, exit, transcripts, skills,
    start: Date.parse(start ?? ""), end: Date.parse(end ?? ""), more: more ?? null,
    pair: byKey.get(pairKey(caseId, agent)) ?? null,
  };
  if (!(unit.end >= unit.start)) unit.end = unit.start + ms;
  if (unit.pair) {
    unit.pair.units.push(unit);
    for (const skill of skills) if (!unit.pair.skills.includes(skill)) unit.pair.skills.push(skill);
  }
  byUnit.set(id, unit);
  return unit;
}

const pairs = read("data-pairs").map(makePair);
const units = read("data-units").map(makeUnit);

function makeHaystack(pair) {
  const words = [pair.caseId, pair.agent, pair.kind, pair.got ?? "", pair.was ? `was:${pair.was}` : "", pair.prompt];
  if (pair.flaky) words.push("flaky");
  if (pair.late) words.push("timed out timeout");
  for (const name of ["why", "short", "failure", "error"]) if (pair.more[name]) words.push(pair.more[name]);
  for (const name of ["missing", "disallowed", "loaded"]) words.push(...(pair.more[name] ?? []));
  for (const skill of pair.skills) words.push(numbered.skills[skill]);
  if (pair.units.length) words.push(pair.units[0].category);
  pair.text = words.join("\n").toLowerCase();
}
pairs.forEach(makeHaystack);

// Cases in the order of their file; those without a line stand last, by name.
const cases = [];
{
  const found = new Map();
  for (const pair of pairs) {
    let one = found.get(pair.caseId);
    if (!one) {
      one = { caseId: pair.caseId, row: pair.row ?? Infinity, cells: new Map() };
      found.set(pair.caseId, one);
      cases.push(one);
    }
    one.cells.set(pair.agent, pair);
  }
  cases.sort((a, b) => a.row - b.row || (a.caseId < b.caseId ? -1 : 1));
}

const filter = { words: [], status: "", provider: "", skill: "", mark: "", kind: "" };
const shown = { pairs: [], changes: [], groups: [], units: [], cases: [] };
const ofSkill = (one) => !filter.skill || one.skills.includes(Number(filter.skill));

function passes(pair) {
  return (
    (!filter.kind || pair.kind === filter.kind) &&
    (!filter.provider || pair.agent === filter.provider) &&
    (!filter.status || (pair.got ?? "none") === filter.status) &&
    (!filter.mark || pair[filter.mark]) &&
    ofSkill(pair) &&
    filter.words.every((word) => pair.text.includes(word))
  );
}

// Units of pairs that are shown; by their own status, where trials disagree.
function passesUnit(unit) {
  if (filter.status && unit.status !== filter.status) return false;
  if (unit.pair) return unit.pair.shown || (filter.status && passesBut(unit.pair));
  return !filter.kind && !filter.mark && (!filter.provider || unit.agent === filter.provider) && ofSkill(unit) &&
    filter.words.every((word) => `${unit.caseId}\n${unit.agent}`.toLowerCase().includes(word));
}

function passesBut(pair) {
  const status = filter.status;
  filter.status = "";
  const answer = passes(pair);
  filter.status = status;
  return answer;
}

const isFiltered = () =>
  Boolean(filter.words.length || filter.status || filter.provider || filter.skill || filter.mark || filter.kind);

// Rows that say the same for the same cause stand together, as one that opens where they are many.
const GROUPED_FROM = 4;
const groups = new Map();
function groupChanges(changes) {
  const found = new Map();
  for (const pair of changes) {
    const key = pair.more.cause || pairKey(pair.caseId, pair.agent);
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(pair);
  }
  return [...found].map(([key, own]) => {
    if (own.length < GROUPED_FROM) return { pairs: own };
    if (!groups.has(key)) groups.set(key, { open: false, isGroup: true });
    return Object.assign(groups.get(key), { pairs: own });
  });
}

// The rows of the list: groups of some size have a row of their own before their pairs.
function listChanges() {
  return shown.groups.flatMap((group) =>
    !group.isGroup ? group.pairs : group.open ? [group, ...group.pairs] : [group]);
}

function applyFilter() {
  for (const pair of pairs) pair.shown = passes(pair);
  shown.pairs = pairs.filter((pair) => pair.shown);
  // Red ones stand first, whatever wrote the delta, and of these what was measured.
  const rank = (pair) => (pair.gates ? Number(pair.kind === "UNMEASURED") : 2);
  shown.groups = groupChanges(shown.pairs.filter((pair) => !pair.quiet).sort((one, other) => rank(one) - rank(other)));
  shown.changes = shown.groups.flatMap((group) => group.pairs);
  shown.units = units.filter(passesUnit);
  shown.cases = cases.filter((one) => {
    for (const pair of one.cells.values()) if (pair.shown) return true;
    return false;
  });
}
