// Data: what the scripts in data/ hand over, as tables of row objects, and loading more of them.
"use strict";
(function () {
  const mbw = (window.mbw = {});
  const tables = new Map();
  const loading = new Map();

  // Each data script calls this once.
  mbw.put = function (name, data) {
    tables.set(name, data.columns ? table(data) : data);
  };

  function table(data) {
    const rows = Array.from({length: data.n}, () => ({}));
    for (const column of data.columns) {
      const get = column.texts ? (i) => (column.at[i] === null ? null : column.texts[column.at[i]]) : (i) => column.values[i];
      for (let i = 0; i < data.n; i++) rows[i][column.name] = get(i);
    }
    return {columns: data.columns.map(({name, kind}) => ({name, kind})), rows, chunks: data.chunks || null};
  }

  mbw.table = (name) => tables.get(name);

  // The parts of one sample are tables too.
  mbw.parts = (name) => Object.fromEntries(Object.entries(tables.get(name)).map(([key, data]) => [key, table(data)]));

  // Load a data script. Names are the report's own (exhibits and numbers), never the archive's.
  mbw.load = function (name) {
    if (tables.has(name)) return Promise.resolve(tables.get(name));
    if (!loading.has(name)) {
      loading.set(
        name,
        new Promise((resolve, reject) => {
          const script = document.createElement("script");
          script.src = `data/${name}.js`;
          script.onload = () => resolve(tables.get(name));
          script.onerror = () => reject(new Error(`data/${name}.js cannot be loaded; is the folder of the report whole?`));
          document.head.append(script);
        }),
      );
    }
    return loading.get(name);
  };

  // The rows of an exhibit: where it is split into chunks, of those whose keys are as given.
  mbw.rows = async function (name, keys = {}) {
    const whole = await mbw.load(name);
    if (!whole.chunks) return whole.rows;
    const wanted = whole.chunks.filter((chunk) => Object.keys(keys).every((key) => chunk[key] === keys[key]));
    const parts = await Promise.all(wanted.map((chunk) => mbw.load(chunk.name)));
    return parts.flatMap((part) => part.rows);
  };

  mbw.element = function (tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name in element && typeof value !== "string") element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };

  // A box that scrolls sideways where its content is wider, and then says so.
  mbw.scroller = function (label, content) {
    const box = mbw.element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": label}, content);
    const hint = mbw.element("p", {class: "hint", "aria-hidden": "true", hidden: true}, "wider than shown: scroll sideways →");
    const measure = () => (hint.hidden = box.scrollWidth <= box.clientWidth + 1);
    const watch = new ResizeObserver(measure);
    watch.observe(box);
    watch.observe(content);
    return mbw.element("div", {class: "scroller"}, hint, box);
  };

  const names = new Map();
  // A memory system goes by its published key everywhere; the paper's name stands beside it where there is room.
  mbw.with_paper_name = function (key) {
    if (!names.size) for (const row of tables.get("reference_baselines").rows) names.set(row.baseline, row.paper_name);
    const name = names.get(key);
    return name && name !== key ? `${key} (${name})` : key;
  };
  mbw.system = (row, prefix = "") => `${row[prefix + "backbone"]} · ${row[prefix + "baseline"]}`;
  mbw.long_system = (row) => `${row.backbone} · ${mbw.with_paper_name(row.baseline)}`;

  // Numbers as people read them. What is exact is in the CSV.
  mbw.number = function (value) {
    if (!Number.isFinite(value)) return String(value);
    if (Number.isInteger(value)) return Math.abs(value) < 1e15 ? value.toLocaleString("en-US") : value.toExponential(3);
    const size = Math.abs(value);
    if (size >= 1e9 || size < 0.00005) return value.toExponential(1);
    if (size < 0.0005) return value.toFixed(4);
    return size >= 1000 ? Math.round(value).toLocaleString("en-US") : value.toFixed(size >= 100 ? 1 : 3);
  };
  mbw.range = (low, high) => (Number.isFinite(low) && Number.isFinite(high) ? `${mbw.number(low)} to ${mbw.number(high)}` : "no interval");
  mbw.show = (value) => (value === null || value === undefined ? "–" : typeof value === "number" ? mbw.number(value) : String(value));
  mbw.distinct = (rows, name) => [...new Set(rows.map((row) => row[name]).filter((value) => value !== null))].sort(mbw.compare);
  mbw.compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", {numeric: true}));

  // What stands behind a number that must not be taken at face value, as `mbw table` has it, and why. A row is of a group
  // or of a system, which has the number of collections concerned.
  mbw.out_of_scale = "numbers over samples take them as they are, and whether a published one does is not known";
  const MARKS = [
    ["!", "the group is invalid: its numbers mean nothing", (row) => row.validity === "invalid" || row.n_invalid > 0],
    ["?", "validity unknown, as nothing is published to judge it by", (row) => row.validity === null || row.n_unknown > 0],
    ["#", `some scores lie outside of their dataset's range (${mbw.out_of_scale}), or a published mean of min-max scores is outside of 0 to 1`, (row) => row.n_out_of_scale > 0 || row.n_means_out_of_range > 0],
    ["~", "the group is stale: its newest files are bad, and the numbers are those of its last good version", (row) => row.status === "stale"],
  ];
  mbw.marks = (row, without = "") => MARKS.filter(([mark, , holds]) => !without.includes(mark) && holds(row)).map(([mark]) => mark).join("");
  mbw.marked = (text, row, without = "") => [text, mbw.marks(row, without)].filter(Boolean).join(" ");
  mbw.meanings = (marks) => MARKS.filter(([mark]) => marks.includes(mark)).map(([, meaning]) => meaning);
  // The marks that occur in rows, as a note.
  mbw.explained = function (rows, without = "") {
    const occurring = rows.map((row) => mbw.marks(row, without)).join("");
    const found = MARKS.filter(([mark]) => occurring.includes(mark)).map(([mark, meaning]) => `“${mark}”: ${meaning}`);
    return found.length ? `Behind a number, ${found.join("; ")}.` : null;
  };
  mbw.plural = (n, one, many = one + "s") => `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`;
})();
