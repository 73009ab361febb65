// Controls: what is shown is chosen above the exhibits and kept in the address, so that it can be sent to someone.
"use strict";
(function () {
  const {element} = mbw;
  let fields = [];
  let redraw = () => {};

  const read = () => new URLSearchParams(location.hash.slice(1));

  // What is chosen; where the address says nothing, or what there is not, the first or the given choice.
  mbw.state = function () {
    const address = read();
    const state = {};
    for (const field of fields) {
      const values = field.values(state);
      const asked = address.get(field.key);
      if (field.kind === "toggle") state[field.key] = asked === "1";
      else if (asked !== null && values.includes(asked)) state[field.key] = asked;
      else if (field.all) state[field.key] = null;
      else state[field.key] = field.first && values.includes(field.first(state)) ? field.first(state) : (values[0] ?? null);
    }
    return state;
  };

  mbw.go = function (changes) {
    const address = read();
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === false || value === "") address.delete(key);
      else address.set(key, value === true ? "1" : value);
    }
    const text = address.toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
    return draw();
  };

  // A link to another page with choices made.
  mbw.address = (page, choices) => `${page}.html#${new URLSearchParams(Object.entries(choices).filter(([, value]) => value !== null && value !== undefined))}`;

  let turn = 0;
  async function draw() {
    const mine = ++turn;
    const state = mbw.state();
    const form = document.getElementById("controls");
    for (const field of fields) {
      const values = field.values(state);
      const box = form.querySelector(`[data-field="${field.key}"]`);
      const input = box.querySelector("select, input");
      if (field.kind === "toggle") {
        input.checked = state[field.key];
        continue;
      }
      const options = field.all ? ["", ...values] : values;
      const shown = [...input.options].map((option) => option.value);
      if (shown.join("\n") !== options.join("\n")) {
        input.replaceChildren(...options.map((value) => element("option", {value}, value === "" ? field.all : (field.text ? field.text(value) : value))));
      }
      input.value = state[field.key] ?? "";
      box.hidden = values.length <= 1 && !field.always;
    }
    form.hidden = ![...form.children].some((child) => !child.hidden);
    document.documentElement.dataset.drawn = "no";
    await redraw(state);
    if (mine === turn) document.documentElement.dataset.drawn = "yes";
  }

  // Declare the controls of a page and what draws it. A field has a key, a label, its values given what was chosen before
  // it, and `all` where it may be left open.
  mbw.page = function (declared, render) {
    fields = declared;
    redraw = render;
    const form = document.getElementById("controls");
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const field of fields) {
      const id = `field-${field.key}`;
      const input = field.kind === "toggle" ? element("input", {type: "checkbox", id}) : element("select", {id});
      input.addEventListener("change", () => mbw.go({[field.key]: field.kind === "toggle" ? input.checked : input.value}));
      const label = element("label", {for: id}, field.label);
      form.append(element("div", {class: field.kind === "toggle" ? "field toggle" : "field", "data-field": field.key}, ...(field.kind === "toggle" ? [input, label] : [label, input])));
    }
    mbw.redraw = draw;
    addEventListener("hashchange", draw);
  };

  // Experiment and protocol are never mixed: one of each is shown, and chosen where there are more.
  mbw.scope = function (rows) {
    return [
      {key: "experiment", label: "Experiment", values: () => mbw.distinct(rows(), "experiment"), first: () => "off-policy"},
      {
        key: "protocol",
        label: "Scored by",
        values: (state) => mbw.distinct(rows().filter((row) => row.experiment === state.experiment), "protocol"),
        first: () => "metrics",
      },
    ];
  };
  mbw.narrow = (rows, state, keys) => rows.filter((row) => keys.every((key) => state[key] === null || state[key] === undefined || row[key] === state[key]));
  mbw.field = (key, label, rows, above, more = {}) => ({key, label, values: (state) => mbw.distinct(mbw.narrow(rows(), state, above), key), ...more});
  mbw.invalid = {key: "invalid", label: "with invalid groups", kind: "toggle", values: () => ["1"]};
})();
