// Puts the page together: filter, views, keys, addresses, theme and print.

const byId = (id) => document.getElementById(id);
const dialog = byId("page");
const panel = byId("panel");
let opener = null;

function go(hash, from) {
  opener = from ?? document.activeElement;
  if (location.hash === hash) route();
  else location.hash = hash;
}
const openPair = (pair, from) => go(pairHash(pair), from);
const openUnit = (unit, from) => go(unitHash(unit), from);

const pairOfTrend = (one) => byKey.get(pairKey(one.caseId, one.agent));

const views = {
  changes: { title: "Changes", make: () => makeChanges(openPair), items: listChanges },
  matrix: { title: "Matrix", make: () => makeMatrix(openPair), items: () => shown.cases, legend: true },
  units: { title: "Units", make: () => makeUnits(openUnit), items: () => shown.units },
  timeline: { title: "Timeline", make: () => makeTimeline(openUnit), items: () => shown.units },
  totals: { title: "Time and cost", make: makeTotals, items: () => shown.units },
  ...(trends.length ? { history: { title: "History", make: () => makeTrends((one, from) => openPair(pairOfTrend(one), from)),
    items: () => trends.filter((one) => pairOfTrend(one).shown) } } : {}),
};
let viewName = "changes";

function showView(name, focus) {
  viewName = name;
  const view = views[name];
  for (const [other, { tab }] of Object.entries(views)) {
    tab.setAttribute("aria-selected", String(other === name));
    tab.setAttribute("tabindex", other === name ? "0" : "-1");
  }
  panel.setAttribute("aria-labelledby", `tab-${name}`);
  view.widget ??= view.make();
  panel.replaceChildren(...(view.legend ? [makeLegend()] : []), view.widget.element);
  view.widget.update(view.items());
  if (focus) view.tab.focus();
  tell();
}

function makeTabs() {
  const names = Object.keys(views);
  for (const name of names) {
    views[name].number = make("span", { class: "number" });
    views[name].tab = make("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "panel", on: { click: () => showView(name) } }, views[name].title, views[name].number);
  }
  const tabs = byId("tabs");
  tabs.append(...names.map((name) => views[name].tab));
  tabs.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1 };
    const here = names.indexOf(viewName);
    if (steps[event.key]) showView(names[(here + steps[event.key] + names.length) % names.length], true);
    else if (event.key === "Home") showView(names[0], true);
    else if (event.key === "End") showView(names.at(-1), true);
    else return;
    event.preventDefault();
  });
}

function tell() {
  const changed = shown.changes.filter((pair) => pair.kind !== "OK").length;
  const more = shown.changes.length - changed;
  const text = `${isFiltered() ? `${shown.pairs.length.toLocaleString("en")} of ` : ""}${count(pairs.length, "pair", "pairs")}, ${count(changed, "change", "changes")}${more ? ` and ${more.toLocaleString("en")} more worth a look` : ""}, ${count(shown.units.length, "unit", "units")}`;
  if (byId("count").textContent !== text) byId("count").textContent = text;
  views.changes.number.textContent = ` ${changed.toLocaleString("en")}`;
  views.units.number.textContent = ` ${shown.units.length.toLocaleString("en")}`;
}

let asked = false;
function refilter() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    filter.words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const name of ["status", "provider", "skill", "mark"]) filter[name] = byId(name).value;
    for (const chip of byId("kinds").children) chip.setAttribute("aria-pressed", String(chip.dataset.kind === filter.kind));
    applyFilter();
    views[viewName].widget.update(views[viewName].items());
    tell();
  });
}

function makeFilter() {
  byId("provider").append(...meta.agents.map((agent) => make("option", { value: agent }, oneLine(agent))));
  const skills = numbered.skills.map((name, number) => [oneLine(name), number]).sort(([one], [other]) => (one < other ? -1 : 1));
  byId("skill").append(...skills.map(([name, number]) => make("option", { value: String(number) }, name)));
  byId("skill").parentElement.hidden = !skills.length;
  for (const id of ["find", "status", "provider", "skill", "mark"]) byId(id).addEventListener("input", refilter);
  for (const kind of Object.keys(meta.counts)) {
    const chip = make("button", { type: "button", class: `chip k-${kind.toLowerCase().replace(" ", "-")}`, "data-kind": kind, "aria-pressed": "false" }, sign(glyphs[kind] ?? "·"), `${kind} `, make("b", {}, meta.counts[kind].toLocaleString("en")));
    chip.addEventListener("click", () => {
      filter.kind = filter.kind === kind ? "" : kind;
      // Rows as expected are no changes: they are seen in the matrix.
      if (filter.kind === "OK" && viewName === "changes") showView("matrix");
      refilter();
    });
    byId("kinds").append(chip);
  }
  byId("clear").addEventListener("click", clearFilter);
  byId("more").addEventListener("click", () => byId("more").setAttribute("aria-expanded", String(byId("more").getAttribute("aria-expanded") !== "true")));
}

function clearFilter() {
  for (const id of ["find", "status", "provider", "skill", "mark"]) byId(id).value = "";
  filter.kind = "";
  refilter();
}

// --- addresses ---------------------------------------------------------------------------------

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function findTarget(hash) {
  const [name, value = ""] = hash.slice(1).split(/=(.*)/s);
  if (name === "unit") return { target: byUnit.get(decode(value)) ?? {} };
  if (name === "pair") {
    const [agent, caseId = ""] = value.split("/");
    return { target: byKey.get(pairKey(decode(caseId), decode(agent))) ?? {} };
  }
  return { view: name === "view" && Object.hasOwn(views, value) ? value : null };
}

let opened = null;
function route() {
  const { target, view } = findTarget(location.hash);
  if (target) {
    opened = target;
    openPage(dialog, target, step, () => dialog.close());
    return;
  }
  if (dialog.open) dialog.close();
  if (view) showView(view);
}

// The next thing of the list that is shown.
function step(by) {
  const ofUnits = viewName === "units" || viewName === "timeline" || viewName === "totals";
  const list = ofUnits ? views.units.widget?.items ?? shown.units : viewName === "changes" ? shown.changes : viewName === "history" ? views.history.widget.items.map(pairOfTrend) : shown.pairs;
  const now = ofUnits ? (opened.units ? opened.units[0] : opened) : opened.units ? opened : opened.pair;
  const next = list[list.indexOf(now) + by];
  if (!next) return;
  history.replaceState(null, "", next.units ? pairHash(next) : unitHash(next));
  route();
}

dialog.addEventListener("close", () => {
  opened = null;
  if (/^#(pair|unit)=/.test(location.hash)) history.replaceState(null, "", location.pathname + location.search + `#view=${viewName}`);
  const back = opener?.isConnected ? opener : panel.querySelector('tbody [tabindex="0"]') ?? views[viewName].tab;
  back.focus();
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
addEventListener("hashchange", route);

// --- keys --------------------------------------------------------------------------------------

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest?.("input, select, textarea");
  if (dialog.open) {
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
    return;
  }
  if (event.key === "/" && !typing) {
    event.preventDefault();
    byId("find").focus();
    byId("find").select();
  } else if (event.key === "Escape" && isFiltered()) {
    clearFilter();
  } else if (event.key === "ArrowDown" && event.target.id === "find") {
    event.preventDefault();
    panel.querySelector('tbody [tabindex="0"]')?.focus();
  }
});

// --- theme -------------------------------------------------------------------------------------

const themes = ["system", "light", "dark"];
function setTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  byId("theme").replaceChildren(make("span", {}, "Theme: "), name);
  views.timeline.widget?.redraw();
}
function loadTheme() {
  let theme = "system";
  try {
    theme = localStorage.getItem("routing-action-theme") ?? theme;
  } catch { /* storage may be refused to a file */ }
  setTheme(themes.includes(theme) ? theme : "system");
  byId("theme").hidden = false;
  byId("theme").addEventListener("click", () => {
    const next = themes[(themes.indexOf(document.documentElement.dataset.theme ?? "system") + 1) % themes.length];
    setTheme(next);
    try {
      localStorage.setItem("routing-action-theme", next);
    } catch { /* then it lasts as long as the page */ }
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => views.timeline.widget?.redraw());
}

// --- print: the changes that match the filter, as a plain table -------------------------

const PRINTED = 400;
function printedRow(group) {
  const first = plainest(group);
  const names = group.isGroup ? group.pairs.map((pair) => `${pair.caseId} on ${pair.agent}`).join(", ") : "";
  return make("tr", {}, make("td", {}, pairBadge(first), ...marksOf(first)),
    make("th", { scope: "row" }, ...(group.isGroup ? [`${count(group.pairs.length, "pair", "pairs")}: `, said(names)]
      : [said(first.caseId), " on ", said(first.agent), make("span", { class: "prompt" }, said(first.prompt))])),
    make("td", {}, said([group.isGroup && first.more.error || first.more.short, ...(first.more.noise ?? [])].join("; "))));
}
addEventListener("beforeprint", () => {
  const rows = shown.groups.flatMap((group) => (group.isGroup ? [group] : group.pairs.map((pair) => ({ pairs: [pair] }))));
  const printed = rows.slice(0, PRINTED);
  const title = printed.length < rows.length ? `The first ${printed.length} of ${rows.length} rows that changed` : "What changed";
  byId("print").replaceChildren(make("table", {}, make("caption", {}, title),
    make("thead", {}, make("tr", {}, ...["What", "Case and provider", "Why"].map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, ...printed.map(printedRow))));
});
addEventListener("afterprint", () => byId("print").replaceChildren());

loadTheme();
makeTabs();
makeFilter();
applyFilter();
byId("app").hidden = false;
showView(shown.changes.length ? "changes" : "matrix");
route();
