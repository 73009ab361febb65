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

  const names = new Map();
  mbw.baseline = function (key) {
    if (!names.size) for (const row of tables.get("reference_baselines").rows) names.set(row.baseline, row.paper_name || row.baseline);
    return names.get(key) ?? key;
  };
  mbw.system = (row, prefix = "") => `${row[prefix + "backbone"]} · ${mbw.baseline(row[prefix + "baseline"])}`;

  // Numbers as people read them. What is exact is in the CSV.
  mbw.number = function (value) {
    if (!Number.isFinite(value)) return String(value);
    if (Number.isInteger(value)) return Math.abs(value) < 1e15 ? value.toLocaleString("en-US") : value.toExponential(3);
    const size = Math.abs(value);
    if (size >= 1e9 || size < 0.0005) return value.toExponential(1);
    return size >= 1000 ? Math.round(value).toLocaleString("en-US") : value.toFixed(size >= 100 ? 1 : 3);
  };
  mbw.show = (value) => (value === null || value === undefined ? "–" : typeof value === "number" ? mbw.number(value) : String(value));
  mbw.distinct = (rows, name) => [...new Set(rows.map((row) => row[name]).filter((value) => value !== null))].sort(mbw.compare);
  mbw.compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", {numeric: true}));
  mbw.plural = (n, one, many = one + "s") => `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`;
})();
