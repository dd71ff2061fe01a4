// The views that are lists: what changed, and every unit.

const cell = (attributes, ...children) => make("td", { role: "gridcell", ...attributes }, ...children);
const stopCell = (attributes, ...children) => make("th", { scope: "row", role: "rowheader", tabindex: "-1", "data-stop": true, ...attributes }, ...children);

// A cell of two lines; each is cut where it has no room.
const twoLines = (first, second) => make("div", { class: "lines-2" }, make("div", {}, ...first), make("div", { class: "sub" }, ...second));
const caseCell = (hash, one, second, attributes = {}) => stopCell({ class: "c-case", ...attributes },
  twoLines([make("a", { href: hash, tabindex: "-1" }, said(one.caseId)), make("span", { class: "on" }, " on ", said(one.agent))], second));

// How high lines of text are on a phone, at least one and at most so many.
const phoneLines = (text, most, least = 1) => 20 * Math.min(most, Math.max(least, Math.ceil(text.length / 42)));

const whyTexts = (pair) => [pair.more.short ?? pair.more.why ?? "",
  [...(pair.more.noise ?? []), ...(pair.got === "infra_error" && pair.more.error ? [pair.more.error] : [])].join("; ")];
function changeHeight(item) {
  if (item.isGroup) return 166;
  const [first, second] = whyTexts(item);
  return 84 + phoneLines(first, 3) + phoneLines(second, 6, 0);
}

// The pair of a group that says the cause in the fewest words.
const plainest = (group) => group.pairs.reduce((best, pair) => ((pair.more.error ?? "").length < (best.more.error ?? "").length ? pair : best));

function groupCells(group) {
  const first = plainest(group);
  const names = [...new Set(group.pairs.map((pair) => pair.agent))];
  const many = new Set(group.pairs.map((pair) => pair.caseId)).size;
  const causes = [first.more.error, first.more.short, first.more.why].filter(Boolean);
  return [
    cell({ class: "c-word" }, pairBadge(first)),
    stopCell({ class: "c-case", "aria-expanded": String(group.open) },
      twoLines([make("strong", {}, sign(group.open ? "▾" : "▸"), ` ${count(group.pairs.length, "pair", "pairs")}`)],
        [`${count(many, "case", "cases")} on `, said(names.slice(0, 6).join(", ")), names.length > 6 ? ` and ${names.length - 6} more` : ""])),
    cell({ class: "c-why", title: oneLine(causes[0]) }, twoLines([said(causes[0])], [said(first.more.fix ?? causes[1] ?? "")])),
  ];
}

function makeChanges(open) {
  const list = makeList({
    label: "What changed", height: 68, tall: changeHeight,
    empty: "No changed row matches the filter.",
    columns: [
      { title: "What", class: "c-word", width: 168 }, { title: "Case and provider", class: "c-case", stop: true, part: 0.38 },
      { title: "Why", class: "c-why" },
    ],
    rowOf: (pair) => pair.isGroup ? groupCells(pair) : [
      cell({ class: "c-word" }, pairBadge(pair), ...marksOf(pair)),
      caseCell(pairHash(pair), pair, [said(pair.prompt)]),
      cell({ class: "c-why", title: oneLine(pair.more.why ?? "") }, twoLines(...whyTexts(pair).map((text) => [said(text)]))),
    ],
    open: (item, target) => {
      if (!item.isGroup) return open(item, target);
      item.open = !item.open;
      return list.update(listChanges());
    },
  });
  return list;
}

const unitOrders = {
  status: (unit) => ({ fail: 0, infra_error: 1 })[unit.status] ?? 2,
  case: (unit) => `${unit.caseId}\u0000${unit.agent}`,
  ms: (unit) => -unit.ms, cost: (unit) => -(unit.cost ?? -1), start: (unit) => (Number.isFinite(unit.start) ? unit.start : Infinity),
};

// A list whose heads sort it: `orders` give the value of a column, the first rows those with the least
// of it; in the columns of `falling` that is the largest figure.
function makeSortedList({ orders, by, falling, ...options }) {
  const order = { by, down: false };
  const heads = [];
  let given = [];
  const list = makeList({
    ...options,
    head: (column) => {
      const head = make("th", { scope: "col", role: "columnheader", class: column.class, "data-by": column.by }, column.by
        ? make("button", { type: "button", on: { click: () => sort(column.by) } }, column.title)
        : column.title);
      heads.push(head);
      return head;
    },
  });
  function sorted() {
    const value = orders[order.by];
    const sign = order.down ? -1 : 1;
    return given.map((one) => [value(one), one]).sort((a, b) =>
      (a[0] < b[0] ? -sign : a[0] > b[0] ? sign : 0) || a[1].place - b[1].place).map((one) => one[1]);
  }
  function sort(column) {
    order.down = order.by === column && !order.down;
    order.by = column;
    mark();
    update(sorted());
  }
  function mark() {
    const isFalling = falling.includes(order.by) !== order.down;
    for (const head of heads) {
      if (head.dataset.by === order.by) head.setAttribute("aria-sort", isFalling ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  }
  const update = list.update;
  list.update = (items) => {
    given = items;
    update(sorted());
  };
  list.refresh = () => update(list.items);
  mark();
  return list;
}

function makeUnits(open) {
  return makeSortedList({
    label: "Units", height: 54, tall: () => 102, open, empty: "No unit matches the filter.",
    columns: [
      { title: "Status", by: "status", class: "c-word", width: 190 }, { title: "Case and provider", by: "case", class: "c-case", stop: true },
      { title: "Time", by: "ms", class: "number", width: 126 }, { title: "Cost", by: "cost", class: "number", width: 126 },
      { title: "Started", by: "start", class: "number", width: 126 },
    ],
    rowOf: (unit) => [
      cell({ class: "c-word" }, twoLines([unitBadge(unit), unit.late ? make("span", { class: "mark" }, "timed out") : null].filter(Boolean), [said(unit.failure ?? unit.outcome)])),
      caseCell(unitHash(unit), unit, [`trial ${unit.trial}`]),
      cell({ class: "number c-time" }, duration(unit.ms)),
      cell({ class: "number c-cost" }, money(unit.cost)),
      cell({ class: "number c-start" }, clock(unit.start)),
    ],
    orders: unitOrders, by: "ms", falling: ["ms", "cost"],
  });
}
