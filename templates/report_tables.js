// The views that are lists: what changed, and every unit.

const cell = (attributes, ...children) => make("td", { role: "gridcell", ...attributes }, ...children);
const stopCell = (attributes, ...children) => make("th", { scope: "row", role: "rowheader", tabindex: "-1", "data-stop": true, ...attributes }, ...children);

function makeChanges(open) {
  return makeList({
    label: "What changed", height: 40, tall: 84, open,
    empty: "No changed row matches the filter.",
    columns: [
      { title: "Word", class: "c-word", width: 230 }, { title: "Case", class: "c-case", stop: true, width: 240 },
      { title: "Provider", class: "c-agent", width: 120 }, { title: "Expected → got", class: "c-got", width: 155 }, { title: "Why", class: "c-why" },
    ],
    rowOf: (pair) => [
      cell({ class: "c-word" }, pairBadge(pair), ...marksOf(pair)),
      stopCell({ class: "c-case" }, make("a", { href: pairHash(pair), tabindex: "-1" }, said(pair.caseId))),
      cell({ class: "c-agent" }, said(pair.agent)),
      cell({ class: "c-got" }, `${statusWord[pair.was] ?? "–"} → ${statusWord[pair.got] ?? "–"}`),
      cell({ class: "c-why", title: oneLine(pair.more.why ?? "") }, said(pair.more.short ?? pair.more.why ?? "")),
    ],
  });
}

const unitOrders = {
  status: (unit) => ({ fail: 0, infra_error: 1 })[unit.status] ?? 2,
  case: (unit) => unit.caseId, agent: (unit) => unit.agent,
  ms: (unit) => -unit.ms, cost: (unit) => -(unit.cost ?? -1), start: (unit) => (Number.isFinite(unit.start) ? unit.start : Infinity),
};

function makeUnits(open) {
  const order = { by: "ms", down: false };
  const heads = [];
  let given = [];
  const columns = [
    { title: "Status", by: "status", class: "c-word", width: 130 }, { title: "Case", by: "case", class: "c-case", stop: true, width: 290 },
    { title: "Provider", by: "agent", class: "c-agent", width: 120 }, { title: "Trial", class: "number", width: 70 },
    { title: "Time", by: "ms", class: "number", width: 110 }, { title: "Cost", by: "cost", class: "number", width: 100 },
    { title: "Started", by: "start", class: "number", width: 110 }, { title: "How it ended", class: "c-why" },
  ];
  const list = makeList({
    label: "Units", height: 36, tall: 80, open, columns, empty: "No unit matches the filter.",
    head: (column) => {
      const head = make("th", { scope: "col", role: "columnheader", class: column.class, "data-by": column.by }, column.by
        ? make("button", { type: "button", on: { click: () => sort(column.by) } }, column.title)
        : column.title);
      heads.push(head);
      return head;
    },
    rowOf: (unit) => [
      cell({ class: "c-word" }, unitBadge(unit)),
      stopCell({ class: "c-case" }, make("a", { href: unitHash(unit), tabindex: "-1" }, said(unit.caseId))),
      cell({ class: "c-agent" }, said(unit.agent)),
      cell({ class: "number c-trial" }, String(unit.trial)),
      cell({ class: "number c-time" }, duration(unit.ms)),
      cell({ class: "number c-cost" }, money(unit.cost)),
      cell({ class: "number c-start" }, clock(unit.start)),
      cell({ class: "c-why" }, said(unit.failure ?? unit.outcome), unit.late ? make("span", { class: "mark" }, "timed out") : null),
    ],
  });
  function sorted() {
    const value = unitOrders[order.by];
    const sign = order.down ? -1 : 1;
    return given.map((unit) => [value(unit), unit]).sort((a, b) =>
      (a[0] < b[0] ? -sign : a[0] > b[0] ? sign : 0) || a[1].place - b[1].place).map((one) => one[1]);
  }
  function sort(by) {
    order.down = order.by === by && !order.down;
    order.by = by;
    mark();
    update(sorted());
  }
  function mark() {
    // Times and costs start with the largest.
    const falling = (order.by === "ms" || order.by === "cost") !== order.down;
    for (const head of heads) {
      if (head.dataset.by === order.by) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
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
