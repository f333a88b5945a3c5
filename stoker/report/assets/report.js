"use strict";
// Values under the pointer, and tables that sort. Without scripts the page loses nothing but these.
(() => {
  const format = (value, unit) => {
    if (!Number.isFinite(value)) return "–";
    if (unit === "%") return (100 * value).toFixed(2) + " %";
    const size = Math.abs(value);
    return size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(2) : String(+value.toPrecision(4));
  };
  const numbers = (text) => (text ? text.split(" ").map(Number) : []);

  const readSeries = (svg) => [...svg.querySelectorAll(".series")].map((group) => ({
    name: group.dataset.name, colour: group.dataset.colour, x: numbers(group.dataset.x), y: numbers(group.dataset.y),
  })).filter((series) => series.x.length > 0);

  const nearest = (series, x) => {
    let best = 0;
    for (let i = 1; i < series.x.length; ++i) {
      if (Math.abs(series.x[i] - x) < Math.abs(series.x[best] - x)) best = i;
    }
    return best;
  };

  const addRow = (tip, series, i, unit) => {
    const row = document.createElement("div");
    const dot = document.createElement("i");
    dot.className = series.colour;
    row.append(dot, `${series.name}  ${format(series.y[i], unit)}`);
    tip.append(row);
  };

  document.querySelectorAll(".chart svg[data-area]").forEach((svg) => {
    const [left, top, width, height] = numbers(svg.dataset.area);
    const [low, high] = numbers(svg.dataset.range);
    const log = svg.dataset.log === "1";
    const share = (x) => log ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low);
    const all = readSeries(svg);
    if (all.length === 0) return;
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    svg.parentElement.append(tip);
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    line.setAttribute("class", "cursor");
    line.setAttribute("y1", top);
    line.setAttribute("y2", top + height);
    line.style.display = "none";
    svg.append(line);
    const hide = () => { tip.hidden = true; line.style.display = "none"; };
    const show = (event) => {
      const box = svg.getBoundingClientRect();
      const scale = box.width / svg.viewBox.baseVal.width;
      const part = ((event.clientX - box.left) / scale - left) / width;
      if (part < -0.05 || part > 1.05) return hide();
      const wanted = log ? low * Math.pow(high / low, part) : low + part * (high - low);
      // The series that has a point closest by leads; the others show theirs if it lies at the same place.
      let x = NaN;
      all.forEach((series) => {
        const found = series.x[nearest(series, wanted)];
        if (!(Math.abs(x - wanted) <= Math.abs(found - wanted))) x = found;
      });
      tip.replaceChildren();
      const head = document.createElement("b");
      head.textContent = `${svg.dataset.xname} ${format(x, "")}`;
      tip.append(head);
      const reach = 0.02 * (high - low);
      all.forEach((series) => {
        const i = nearest(series, x);
        if (Math.abs(series.x[i] - x) <= reach) addRow(tip, series, i, svg.dataset.unit);
      });
      const place = (left + share(x) * width) * scale;
      line.setAttribute("x1", place / scale);
      line.setAttribute("x2", place / scale);
      line.style.display = "";
      tip.hidden = false;
      const room = svg.parentElement.clientWidth - tip.offsetWidth;
      tip.style.left = Math.max(0, Math.min(room, place + 12 > room ? place - tip.offsetWidth - 12 : place + 12)) + "px";
      tip.style.top = svg.offsetTop + top * scale + 4 + "px";
    };
    svg.addEventListener("pointermove", show);
    svg.addEventListener("pointerdown", show);
    svg.addEventListener("pointerleave", hide);
  });

  const key = (cell) => cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent;
  const compare = (a, b) => typeof a === "number" && typeof b === "number"
    ? (Number.isNaN(a) ? -Infinity : a) - (Number.isNaN(b) ? -Infinity : b)
    : String(a).localeCompare(String(b), undefined, { numeric: true });

  document.querySelectorAll("table.sortable").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => (up ? 1 : -1) * compare(key(a.cells[column]), key(b.cells[column])));
        table.tBodies[0].append(...rows);
      });
    });
  });
})();
