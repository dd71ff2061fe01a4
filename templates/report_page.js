// The page of a pair, with its trials; opened by a link's hash.

function fact(name, ...values) {
  const shown = values.filter((value) => value !== null && value !== undefined && value !== "");
  return shown.length ? make("div", {}, make("dt", {}, name), make("dd", {}, ...shown)) : null;
}

const words = (list) => (list?.length ? make("span", { class: "words" }, ...list.map(code)) : null);
const loads = (list, inside) => (list?.length ? make("span", { class: "words" },
  ...list.map((name) => (inside?.includes(name) ? make("span", {}, code(name), make("span", { class: "sub" }, " in a sub-agent")) : code(name)))) : null);

function copyButton(label, text, shown) {
  const button = make("button", { type: "button", class: "quiet", "aria-label": `Copy ${label}` }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(shown);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return button;
}

function command(name, text) {
  if (!text) return null;
  const shown = make("code", {}, said(text));
  return make("div", { class: "command" }, make("span", { class: "sub" }, name), make("pre", { tabindex: "0", "aria-label": name }, shown),
    copyButton(`the command: ${name}`, text, shown));
}

// Text with the places of some tokens marked.
function marked(text, tokens) {
  const plain = oneLine(text);
  const lower = plain.toLowerCase();
  const parts = [];
  let at = 0;
  const needles = tokens.map((token) => oneLine(token).split(":").pop().toLowerCase()).filter(Boolean);
  while (at < plain.length && lower.length === plain.length) {
    let [place, size] = [-1, 0];
    for (const needle of needles) {
      const found = lower.indexOf(needle, at);
      if (found >= 0 && (place < 0 || found < place || (found === place && needle.length > size))) [place, size] = [found, needle.length];
    }
    if (place < 0 || parts.length > 80) break;
    parts.push(plain.slice(at, place), make("mark", {}, plain.slice(place, place + size)));
    at = place + size;
  }
  return make("bdi", {}, ...parts.filter((part) => part !== ""), plain.slice(at));
}

const tierWord = { 1: "tier 1, a load", 2: "tier 2, a read", 3: "tier 3, too weak" };

function evidence(hits) {
  if (!hits?.length) return null;
  return make("ul", { class: "evidence" }, ...hits.map(([token, tier, score, place, proof], index) => make("li", {},
    code(token), " ", tier === undefined
      ? make("span", { class: "badge red" }, sign(glyphs.fail), "no hit")
      : make("span", { class: `badge ${tier <= 2 ? "pass" : "infra"}` }, tierWord[tier] ?? `tier ${tier}`),
    tier === undefined ? null : make("span", { class: "sub" }, ` score ${score}, `, said(place)),
    proof && index && proof === hits[index - 1][4] ? make("p", { class: "hint" }, "The same line as above.") : proof ? make("pre", { tabindex: "0", "aria-label": `Proof line for ${oneLine(token)}` }, marked(proof, [token])) : null)));
}

function transcript(lines, tokens) {
  if (!lines?.length) return null;
  let last = null;
  const rows = [];
  for (const [number, text, decisive] of lines) {
    if (last !== null && number > last + 1) rows.push(make("li", { class: "gap" }, "…"));
    last = number;
    rows.push(make("li", { class: decisive ? "decisive" : null }, make("span", { class: "at" }, `${decisive ? "▶ " : ""}${number}`),
      decisive ? marked(text, tokens) : said(text), decisive ? make("span", { class: "sr" }, " (decisive line)") : null));
  }
  return make("div", {}, make("h4", {}, "Transcript around the hits"), make("ol", { class: "lines", tabindex: "0", "aria-label": "Transcript around the hits" }, ...rows));
}

// Where the transcripts lie: a link, and the path for readers who have moved the report.
const streamWord = { stdout: "standard output", stderr: "standard error" };
function transcriptFiles(unit) {
  const [number, ...streams] = unit.transcripts;
  const folder = numbered.folders[number];
  if (!folder) return fact("Transcript", "none is kept: the agent printed nothing, or it was not started");
  const files = streams.map((stream) => {
    const [name, path] = [`${unit.id}.${stream}`, code(`${folder.path}/${unit.id}.${stream}`)];
    return make("li", {}, folder.link ? make("a", { href: `${folder.link}/${encodeURIComponent(name)}` }, streamWord[stream]) : streamWord[stream],
      path, copyButton(`the path of the ${streamWord[stream]}`, `${folder.path}/${name}`, path));
  });
  const list = make("ul", { class: "files" }, ...files);
  if (!folder.artifact) return fact("Transcript", list);
  return fact("Transcript", list, make("p", { class: "hint" }, "These files are in the artifact ", code(folder.artifact),
    " of the run. The links work where this report and that artifact are unpacked side by side."), command("Download both", meta.download));
}

function fold(title, text) {
  return text ? make("details", {}, make("summary", {}, title), make("pre", { tabindex: "0", "aria-label": title }, make("bdi", {}, visible(text)))) : null;
}

function usageText(usage) {
  if (!usage) return null;
  const names = { input_tokens: "in", output_tokens: "out", cached_input_tokens: "cached", reasoning_tokens: "reasoning", premium_requests: "premium requests" };
  return Object.entries(names).filter(([key]) => typeof usage[key] === "number").map(([key, name]) => `${usage[key].toLocaleString("en")} ${name}`).join(", ");
}

const shell = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

function unitSection(unit, isTarget, pair) {
  const more = unit.more ?? {};
  const tokens = (more.hits ?? []).map((hit) => hit[0]);
  return make("section", { class: `unit${isTarget ? " target" : ""}`, id: isTarget ? "target" : null },
    make("h3", {}, `Trial ${unit.trial} `, unitBadge(unit), unit.late ? make("span", { class: "mark" }, "timed out") : null),
    more.error && more.error !== pair?.more.error ? make("p", { class: "error" }, said(more.error)) : null,
    make("dl", { class: "facts" },
      fact("Failure", unit.failure ? code(unit.failure) : null),
      fact("Outcome", said(unit.outcome), make("span", { class: "sub" }, more.ended_by ? oneLine(`; ended by ${more.ended_by}`) : "", typeof unit.exit === "number" ? `; exit code ${unit.exit}` : "")),
      fact("Time", duration(unit.ms), Number.isFinite(unit.start) ? make("span", { class: "sub" }, `; ${clock(unit.start)} to ${clock(unit.end)} UTC`) : null),
      fact("Cost", typeof unit.cost === "number" ? money(unit.cost) : null),
      fact("Tokens", usageText(more.usage)),
      fact("CLI", more.cli_version ? said(more.cli_version) : null), fact("Model", more.model ? said(more.model) : null),
      fact("Category", unit.category ? said(unit.category) : null),
      fact("Missing", words(more.missing)), fact("Disallowed", words(more.disallowed)), fact("Loaded", loads(more.loaded, more.subagent)),
      fact("Survivors", words(more.survivors)), fact("Unit", code(unit.id))),
    make("dl", { class: "facts wide" }, transcriptFiles(unit)),
    more.notes?.length ? make("ul", { class: "notes" }, ...more.notes.map((note) => make("li", {}, said(note)))) : null,
    more.hits?.length ? make("h4", {}, "Evidence") : null, evidence(more.hits),
    transcript(more.lines, tokens),
    fold("Command", more.command?.map(shell).join(" ")),
    fold("End of the output", more.excerpt),
    unit.more ? null : make("p", { class: "hint" }, "This unit passed. A report of this size does not hold its evidence; see results.json."));
}

function describeResult(pair) {
  const more = pair.more;
  const noise = more.noise ?? [];
  return [
    make("p", { class: "why" }, said(more.short ?? (pair.got ? `${statusWord[pair.got]}, as expected` : "has no result"))),
    noise.length ? make("ul", { class: "noise" }, ...noise.map((one) => make("li", {}, said(one)))) : null,
    pair.prompt ? make("blockquote", { class: "prompt", "aria-label": "Prompt" }, said(pair.prompt)) : null,
    make("dl", { class: "facts" },
      fact("Expected", statusWord[pair.was] ?? "nothing: no baseline entry"),
      fact("Got", (pair.kind === "EXPIRED" && pair.trials ? `${pair.passed} of ${pair.trials} passed` : statusWord[pair.got]) ?? (pair.units.length ? "no result that counts" : "no result"), more.failure && pair.kind !== "EXPIRED" ? make("span", { class: "sub" }, ", ", code(more.failure)) : null),
      fact("Gate", pair.gates ? "this row makes it red" : "does not make it red")),
    pair.row ? make("dl", { class: "facts wide" }, fact("Case", sourceLink(pair))) : null,
    more.why && !more.short?.includes(more.why) && !more.why.startsWith("expected ") ? make("p", { class: "hint" }, said(more.why)) : null,
    more.error ? make("p", { class: "error" }, said(more.error)) : null,
  ];
}

function describeSteps(pair) {
  const more = pair.more;
  const steps = [more.fix ? make("p", { class: "fix" }, make("strong", {}, "Fix: "), said(more.fix)) : null,
    command("Run it again", more.rerun), command(pair.kind === "IMPROVEMENT" ? "Lock it in" : "Accept it", more.accept),
    more.accepting ? make("p", { class: "hint" }, said(more.accepting)) : null].filter(Boolean);
  return steps.length ? make("section", {}, make("h3", {}, "What to do"), ...steps) : null;
}

// A report that was made without the results has the delta's own evidence.
function describeAlone(pair) {
  if (pair.units.length) return null;
  const more = pair.more;
  return make("section", {}, more.missing?.length ? make("dl", { class: "facts" }, fact("Missing", words(more.missing))) : null,
    evidence(more.proofs?.map(([token, tier, place, proof]) => [token, tier, "–", place, proof])),
    pair.id ? make("p", { class: "hint" }, "This report was made without the results. The transcript lies beside them: ", code(`transcripts/${pair.id}.stdout`)) : null);
}

const pairSections = (pair) => [...describeResult(pair), describeEdits(pair), describeSteps(pair), describeTrend(pair), describeAlone(pair)];

function openPage(dialog, target, step, close) {
  const pair = target.pair ?? (target.caseId !== undefined && target.units ? target : null);
  const unit = target.units || target.id === undefined ? null : target;
  const trials = pair ? pair.units.slice().sort((a, b) => a.trial - b.trial) : unit ? [unit] : [];
  const one = pair ?? unit;
  const title = one
    ? make("h2", { id: "page-title", tabindex: "-1" }, said(one.caseId), make("span", { class: "on" }, " on ", said(one.agent)))
    : make("h2", { id: "page-title", tabindex: "-1" }, "Not in this report");
  const button = (label, text, act) => make("button", { type: "button", class: "quiet", "aria-label": label, on: { click: act } }, text);
  const head = make("header", {}, make("div", {}, pair ? make("p", {}, pairBadge(pair), ...marksOf(pair)) : null, title),
    make("div", { class: "moves" }, button("Previous", "↑", () => step(-1)), button("Next", "↓", () => step(1)), button("Close", "✕", close)));
  const body = make("div", { class: "body" },
    ...(pair ? pairSections(pair) : one ? [make("p", { class: "hint" }, "This unit's pair has no row in the delta.")] : [make("p", {}, "This report has no pair or unit at this address.")]),
    ...trials.map((trial) => unitSection(trial, trials.length > 1 && trial === unit, pair)));
  dialog.replaceChildren(head, body);
  if (!dialog.open) dialog.showModal();
  title.focus();
  const aim = dialog.querySelector("#target");
  if (aim) aim.scrollIntoView({ block: "start" });
  else body.scrollTop = 0;
}
