// Tables: sorted by their headings, searched by a box, saved as CSV. A missing number is a dash with its reason.
"use strict";
(function () {
  const {element} = mbw;
  const FIRST = 100;

  const LABELS = {
    n: "samples",
    n_scores: "scores",
    n_in_all: null,
    n_invalid: "invalid",
    n_unknown: "validity unknown",
    n_out_of_scale: "out of scale",
    n_means_out_of_range: "means outside of 0 to 1",
    n_collections: "ranked in",
    mean_weighted_average: "weighted average",
    mean_z_score: "z",
    z_score: "z",
    mean_rank: "mean rank",
    minmax_score: "min-max",
    minmax_difference: "difference",
    minmax_low: "low",
    minmax_high: "high",
    mean_prompt_chars: "prompt characters",
    mean_response_chars: "response characters",
    p_stratified_holm: "p (Holm)",
    delta: "gain",
    ci_low: "low",
    ci_high: "high",
    dataset_group: "dataset",
    test_idx: "index",
  };
  mbw.label = (name) => (name in LABELS ? LABELS[name] : name.replace(/^n_/, "").replaceAll("_", " "));

  function meaning(exhibit, name) {
    const entry = exhibit.querySelector(`dt[data-column="${name}"]`);
    return entry ? entry.nextElementSibling.textContent : "";
  }

  // What a column shows of a row: the text that stands in the place of a number, where there is one.
  const shown_value = (row, column) => (column.instead && row[column.instead] !== null ? row[column.instead] : row[column.name]);

  function cell(row, column, reason) {
    const value = shown_value(row, column);
    const td = element("td", {class: column.kind === "integer" || column.kind === "number" ? "number" : column.wide ? `wide ${column.name}` : /backbone/.test(column.name) ? "backbone" : null});
    if (column.name === "validity" && value === null && row.status !== "not_published" && row.excluded !== "not published") {
      td.title = "no responses are published to judge by";
      td.append(element("span", {class: "word unknown"}, "unknown"));
    } else if (value === null || value === undefined) {
      const unrated = /^(rating|rank_)/.test(column.name) ? row.rating_pool : null; // ratings have a reason of their own
      const why = unrated || (reason && reason !== column.name && row[reason]) || (column.kind === "text" ? "none given" : "not published");
      td.title = why;
      td.append(element("span", {"aria-hidden": "true"}, "–"), element("span", {class: "sr"}, `not there: ${why}`));
    } else if (column.link) {
      td.append(column.link(row));
    } else if (column.name === "baseline" || column.name === "other_baseline") {
      td.title = mbw.with_paper_name(value);
      td.append(value);
    } else if (column.kind === "number" && typeof value === "number") {
      td.title = String(value);
      td.append(/^p_/.test(column.name) && value < 0.001 ? "< 0.001" : mbw.number(value));
      const marks = column.marked === undefined ? "" : mbw.marks(row, column.marked);
      if (marks) td.append(" ", element("abbr", {title: mbw.meanings(marks).join("; ")}, marks));
    } else if (["severity", "validity", "status", "on_these_datasets", "to_other_datasets", "change"].includes(column.name)) {
      td.append(element("span", {class: `word ${String(value).replaceAll(/[^a-z]/g, "-")}`}, String(value).replaceAll("_", " ")));
    } else {
      td.append(mbw.show(value));
    }
    return td;
  }

  mbw.csv = function (columns, rows) {
    const quote = (value) => {
      if (value === null || value === undefined) return "";
      const text = String(value);
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return [columns.map((column) => column.name), ...rows.map((row) => columns.map((column) => row[column.name]))]
      .map((line) => line.map(quote).join(",") + "\r\n")
      .join("");
  };

  function save(name, text) {
    // The mark tells spreadsheets that the text is UTF-8.
    const address = URL.createObjectURL(new Blob(["\ufeff", text], {type: "text/csv;charset=utf-8"}));
    const link = element("a", {href: address, download: `${name}.csv`});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  // Draw the table of an exhibit. `hide` names columns that are the same in all rows or stand elsewhere; the CSV has all.
  // `marked` has the columns whose numbers bear the marks of their row, each with the marks that do not concern it;
  // `instead` has columns of numbers, each with the column of the texts that were published for a number.
  mbw.drawTable = function (name, rows, {hide = [], sort = null, open = false, link = {}, wide = [], marked = {}, instead = {}} = {}) {
    const exhibit = document.getElementById(name);
    const reason = exhibit.dataset.reason || null;
    const all = mbw.table(name).columns;
    const columns = all
      .filter((column) => !hide.includes(column.name) && mbw.label(column.name) !== null)
      .map((column) => ({...column, link: link[column.name], wide: wide.includes(column.name), marked: marked[column.name], instead: instead[column.name]}));
    const details = exhibit.querySelector("details.numbers");
    const host = details.querySelector(".table");
    const id = `search-${name}`;
    const kept = document.getElementById(id)?.value ?? "";
    const search = element("input", {type: "search", id, value: kept, autocomplete: "off"});
    const count = element("span", {class: "small count", role: "status"});
    const button = element("button", {type: "button"}, "Save as CSV");
    const more = element("button", {type: "button", class: "more", hidden: true});
    const head = element("tr");
    const body = element("tbody");
    let order = host.order ?? sort;
    let all_shown = false;

    const found = () => {
      const words = search.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
      let shown = rows.filter((row) => {
        const text = columns.map((c) => `${mbw.show(shown_value(row, c))} ${/baseline/.test(c.name) ? mbw.with_paper_name(row[c.name]) : ""}`).join(" ").toLocaleLowerCase();
        return words.every((word) => text.includes(word));
      });
      if (order) {
        const sign = order.down ? -1 : 1;
        shown = shown
          .map((row, i) => [row, i])
          .sort(([a, i], [b, j]) => {
            const [x, y] = [a[order.by], b[order.by]];
            const [no_x, no_y] = [x === null || Number.isNaN(x), y === null || Number.isNaN(y)];
            if (no_x || no_y) return no_x - no_y || i - j; // what is missing is last, whichever way
            return sign * mbw.compare(x, y) || i - j;
          })
          .map(([row]) => row);
      }
      return shown;
    };

    const draw = () => {
      const shown = found();
      const part = all_shown ? shown : shown.slice(0, FIRST);
      body.replaceChildren(...part.map((row) => element("tr", {class: row.validity === "invalid" || row.is_invalid === true || row.severity === "error" ? "bad" : null}, ...columns.map((column) => cell(row, column, reason)))));
      if (!shown.length) body.append(element("tr", {}, element("td", {colSpan: columns.length, class: "none"}, rows.length ? "No row has all these words." : "There are no rows.")));
      count.textContent = shown.length === rows.length ? mbw.plural(rows.length, "row") : `${shown.length.toLocaleString("en-US")} of ${mbw.plural(rows.length, "row")}`;
      more.hidden = part.length === shown.length;
      more.textContent = `Show all ${shown.length.toLocaleString("en-US")} rows`;
      for (const th of head.children) th.setAttribute("aria-sort", order?.by === th.dataset.column ? (order.down ? "descending" : "ascending") : "none");
    };

    for (const column of columns) {
      const heading = element("button", {type: "button", title: meaning(exhibit, column.name)}, mbw.label(column.name));
      heading.addEventListener("click", () => {
        const numeric = column.kind !== "text" && !/rank|^p_|place|index/.test(column.name);
        order = host.order = {by: column.name, down: order?.by === column.name ? !order.down : numeric};
        draw();
      });
      head.append(element("th", {scope: "col", "data-column": column.name, class: column.kind === "text" ? null : "number"}, heading));
    }
    search.addEventListener("input", draw);
    more.addEventListener("click", () => ((all_shown = true), draw()));
    button.addEventListener("click", () => save(name, mbw.csv(all, found())));
    const caption = element("caption", {class: "sr"}, exhibit.querySelector("h2").textContent);
    host.replaceChildren(
      element("p", {class: "tools"}, element("label", {for: id}, "Search"), " ", search, " ", button, " ", count),
      mbw.scroller(`Table: ${caption.textContent}`, element("table", {}, caption, element("thead", {}, head), body)),
      more,
    );
    if (open && !details.dataset.touched) details.open = true;
    details.dataset.touched = "yes";
    draw();
  };

  mbw.note = function (name, ...texts) {
    document.getElementById(name).querySelector(".notes").replaceChildren(...texts.filter(Boolean).map((text) => element("p", {class: "note"}, text)));
  };
})();
