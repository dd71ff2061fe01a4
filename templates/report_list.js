// Long tables of which only the rows in sight are elements.

const OVERSCAN = 8;
const isNarrow = matchMedia("(max-width: 640px)");

// `columns` are {title, width, narrow, part, class, stop}, widths in pixels or as a part of the
// table, none for what is left;
// `rowOf(item, index)` builds the cells of a row.
// Rows are equally high, but on a phone, where `tall(item)` is the height of each; the header stays in sight. Arrow keys move among rows, Enter opens one.
function makeList({ label, columns, height, rowOf, open, head, empty, tall }) {
  const list = { items: [], active: 0, element: null };
  let tops = [0];
  const body = make("tbody", { role: "rowgroup" });
  const headRow = make("tr", { role: "row", "aria-rowindex": "1" }, ...columns.map((column, index) => head ? head(column, index) : make("th", { scope: "col", role: "columnheader", class: column.class }, column.title)));
  const columnGroup = make("colgroup", {}, ...columns.map(() => make("col")));
  const table = make("table", { role: "grid", "aria-label": label, "aria-colcount": String(columns.length), class: tall ? "cards" : null }, columnGroup,
    make("thead", { role: "rowgroup" }, headRow), body);
  const sizer = make("div", { class: "sizer" }, table);
  const nothing = make("p", { class: "empty", hidden: true }, empty);
  const port = make("div", { class: "port" }, sizer);
  list.element = make("div", { class: "list" }, port, nothing);
  const heightOf = (item) => (tall && isNarrow.matches ? tall(item) : height);
  const place = () => { tops = [0]; for (const item of list.items) tops.push(tops.at(-1) + heightOf(item)); };
  let drawn = "";

  // Widths are given, not measured: the rows in sight change, and the columns must not.
  function layOut() {
    const wide = columns.map((column) => (isNarrow.matches ? column.narrow : null) ?? column.width);
    [...columnGroup.children].forEach((column, index) => { column.style.width = wide[index] ? `${wide[index]}px` : columns[index].part ? `${columns[index].part * 100}%` : "auto"; });
    table.style.minWidth = `${wide.reduce((sum, width) => sum + (width ?? 220), 0)}px`;
    if (tall && isNarrow.matches) table.style.minWidth = "";
  }

  // The row at a height, by halves.
  function rowAt(top) {
    let [low, high] = [0, list.items.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tops[middle + 1] <= top) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function windowNow() {
    const bottom = port.scrollTop + (port.clientHeight || 600);
    return [Math.max(0, rowAt(port.scrollTop) - OVERSCAN), Math.min(list.items.length, rowAt(bottom) + 1 + OVERSCAN)];
  }

  function draw(force) {
    const [first, last] = windowNow();
    if (!force && drawn === `${first}-${last}`) return;
    drawn = `${first}-${last}`;
    const hadFocus = body.contains(document.activeElement);
    table.style.marginTop = `${tops[first]}px`;
    const rows = [];
    for (let index = first; index < last; index += 1) {
      const row = make("tr", { role: "row", "aria-rowindex": String(index + 2), "data-index": String(index) }, ...rowOf(list.items[index], index));
      row.style.height = `${tops[index + 1] - tops[index]}px`;
      rows.push(row);
    }
    body.replaceChildren(...rows);
    point(hadFocus);
  }

  // One cell of the table is in the tab order: that of the active row.
  function point(focus) {
    const row = body.querySelector(`tr[data-index="${list.active}"]`) ?? body.firstElementChild;
    const cells = row ? [...row.querySelectorAll("[data-stop]")] : [];
    const stop = cells[Math.min(list.column ?? 0, cells.length - 1)];
    if (!stop) return;
    body.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    stop.setAttribute("tabindex", "0");
    if (focus) stop.focus({ preventScroll: true });
  }

  function reveal(index) {
    const top = tops[index];
    const header = headRow.offsetHeight;
    if (top < port.scrollTop) port.scrollTop = top;
    const bottom = tops[index + 1] + header;
    if (bottom > port.scrollTop + port.clientHeight) port.scrollTop = bottom - port.clientHeight;
  }

  list.move = (index, focus = true) => {
    if (!list.items.length) return;
    list.active = Math.max(0, Math.min(list.items.length - 1, index));
    reveal(list.active);
    draw(true);
    point(focus);
    const stop = body.querySelector('[tabindex="0"]');
    if (focus && stop) {
      const [left, right] = [stop.offsetLeft, stop.offsetLeft + stop.offsetWidth];
      const pinned = body.querySelector("th")?.offsetWidth ?? 0;
      if (left < port.scrollLeft + pinned) port.scrollLeft = left - pinned;
      if (right > port.scrollLeft + port.clientWidth) port.scrollLeft = right - port.clientWidth;
    }
  };

  list.update = (items) => {
    const kept = list.items[list.active];
    list.items = items;
    place();
    const now = kept === undefined ? -1 : items.indexOf(kept);
    list.active = Math.max(0, now);
    table.setAttribute("aria-rowcount", String(items.length + 1));
    sizer.style.height = items.length ? `${tops.at(-1) + headRow.offsetHeight}px` : "0";
    sizer.hidden = !items.length;
    nothing.hidden = items.length > 0;
    if (now < 0) port.scrollTop = 0;
    draw(true);
  };

  list.refresh = () => list.update(list.items);
  layOut();

  const page = () => Math.max(1, Math.floor(port.clientHeight / rowHeight()) - 2);
  const steps = {
    ArrowDown: () => list.active + 1, ArrowUp: () => list.active - 1,
    PageDown: () => list.active + page(), PageUp: () => list.active - page(),
    Home: () => 0, End: () => list.items.length - 1,
  };
  body.addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey) return;
    const stops = columns.filter((column) => column.stop).length;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      open(list.items[list.active], event.target);
    } else if (stops > 1 && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
      event.preventDefault();
      list.column = Math.max(0, Math.min(stops - 1, (list.column ?? 0) + (event.key === "ArrowRight" ? 1 : -1)));
      list.move(list.active);
    } else if (steps[event.key]) {
      event.preventDefault();
      if (stops > 1 && !event.ctrlKey && (event.key === "Home" || event.key === "End")) {
        list.column = event.key === "Home" ? 0 : stops - 1;
        list.move(list.active);
      } else list.move(steps[event.key]());
    }
  });
  body.addEventListener("click", (event) => {
    if (event.target.closest("a")) return;
    const row = event.target.closest("tr");
    if (!row || String(getSelection() ?? "")) return;
    list.active = Number(row.dataset.index);
    const stops = [...row.querySelectorAll("[data-stop]")];
    const stop = event.target.closest("[data-stop]");
    if (stop) list.column = stops.indexOf(stop);
    point(true);
    open(list.items[list.active], stop ?? row);
  });
  let asked = false;
  port.addEventListener("scroll", () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(false); });
  }, { passive: true });
  isNarrow.addEventListener("change", () => { layOut(); list.refresh(); });
  new ResizeObserver(() => draw(false)).observe(port);
  return list;
}
