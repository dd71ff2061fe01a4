// What the change did to the skills and the case of a pair that failed.

// The skill that a token speaks of.
const bareName = (token) => {
  const parts = String(token).split(/[/\\]/);
  if (parts.length > 1 && parts.at(-1).toLowerCase() === "skill.md") parts.pop();
  return parts.at(-1).split(":").pop().toLowerCase();
};

// The pieces of two texts, with whether they differ: word by word, by the longest common subsequence.
function compareWords(before, after) {
  const [old, now] = [before, after].map((text) => oneLine(text).split(/(?<=\s)/));
  const most = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) most[i][j] = old[i] === now[j] ? most[i + 1][j + 1] + 1 : Math.max(most[i + 1][j], most[i][j + 1]);
  }
  const [gone, come] = [[], []];
  const put = (parts, text, differs) => {
    if (parts.at(-1)?.[1] === differs) parts.at(-1)[0] += text;
    else parts.push([text, differs]);
  };
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      put(gone, old[i++], false);
      put(come, now[j++], false);
    } else if (j >= now.length || (i < old.length && most[i + 1][j] >= most[i][j + 1])) put(gone, old[i++], true);
    else put(come, now[j++], true);
  }
  return [gone, come];
}

// A text before and after, each on lines of its own, with what differs marked.
function difference(before, after) {
  const [gone, come] = compareWords(before, after);
  const line = (name, tag, word, parts) => parts.length && parts.some(([text]) => text) ? make("p", { class: name }, make("span", { class: "sr" }, word),
    make("bdi", {}, ...parts.flatMap(([text, differs]) => (differs ? [make(tag, {}, text.trimEnd()), text.slice(text.trimEnd().length)] : [text])))) : null;
  return make("div", { class: "diff" }, line("before", "del", "before: ", gone), line("after", "ins", "after: ", come));
}

// What the skills that were wanted, and those that took the prompt, say about when to use them.
function skillsAtStake(pair) {
  const wanted = new Set((pair.more.missing ?? []).map(bareName));
  const used = new Set([...(pair.more.disallowed ?? []), ...(pair.more.loaded ?? [])].map(bareName));
  return meta.skills.map(([name, agents, text, path, before]) => ({ name, agents, text, path, before, wanted: wanted.has(bareName(name)) }))
    .filter((one) => (!one.agents.length || one.agents.includes(pair.agent)) && (one.wanted || used.has(bareName(one.name))))
    .sort((one, other) => other.wanted - one.wanted);
}

function describeSkill(one) {
  const edited = one.before !== null;
  const word = !edited ? "" : one.text === "" ? ", removed by this change" : one.before === "" ? ", added by this change" : ", edited by this change";
  return make("div", { class: "skill" },
    make("h4", {}, one.wanted ? "Wanted: " : "Took the prompt: ", code(one.name), make("strong", {}, word), one.path ? make("span", { class: "sub" }, " in ", code(one.path)) : null),
    edited ? difference(one.before, one.text) : make("p", {}, said(one.text)));
}

function describeCase(pair) {
  const [what, fields] = Object.hasOwn(meta.case_edits, pair.caseId) ? meta.case_edits[pair.caseId] : ["", []];
  if (!what) return null;
  return make("div", { class: "skill" }, make("h4", {}, "The case: ", code(pair.caseId), make("strong", {}, `, ${what} by this change`)),
    ...fields.map(([name, before, after]) => make("div", {}, make("p", { class: "sub" }, said(name)), difference(before, after))));
}

function describeEdits(pair) {
  if (pair.kind === "EXPIRED" || pair.got !== "fail" && pair.kind !== "CASE EDITED") return null;
  const skills = skillsAtStake(pair);
  const ownCase = describeCase(pair);
  const isQuiet = !ownCase && skills.every((one) => one.before === null);
  const texts = skills.length > 1 ? "these descriptions" : "this description";
  const quiet = skills.length ? `This change edits neither ${texts} nor the case.` : "This change does not edit the case.";
  const told = meta.knows_change ? quiet : "What the change edits is not known: there was no commit to compare with.";
  return make("section", {}, make("h3", {}, "What this change edits"), isQuiet ? make("p", {}, told) : null, ownCase, ...skills.map(describeSkill));
}
