// Overview: figures, headlines made from rows, coverage.
"use strict";
(function () {
  const {element} = mbw;
  const contents = () => mbw.table("overview_contents").rows[0];
  const leaders = () => mbw.table("overview_leaders").rows;
  const gains = () => mbw.table("overview_gains").rows;
  const coverage = () => mbw.table("overview_coverage").rows;
  const count = (n, one, many) => (n === null ? `no ${many ?? one + "s"}` : mbw.plural(n, one, many));

  function figures(row) {
    const entries = [
      [row.n_groups, "result groups"],
      [row.n_backbones, "backbones"],
      [row.n_baselines, "memory systems"],
      [row.n_collections, "collections"],
      [row.n_responses, "responses"],
      [row.n_scores, "scores"],
      [row.n_invalid, "invalid groups"],
      [row.n_not_published, "not published"],
    ];
    return element("ul", {class: "figures"}, ...entries.map(([n, text]) => element("li", {}, element("b", {}, mbw.show(n)), element("span", {}, text))));
  }

  function headline(title, big, ...texts) {
    return element("div", {class: "headline"}, element("p", {class: "small"}, title), element("p", {class: "big"}, big), ...texts.filter(Boolean).map((text) => element("p", {}, text)));
  }

  function leading(state) {
    return d3.groups(mbw.narrow(leaders(), state, ["experiment", "protocol"]), (row) => row.split).map(([split, rows]) => {
      const first = rows.filter((row) => row.rank === 1);
      const title = `Highest mean in the split ${split}`;
      if (!first.length) return headline(title, "No system is ranked", "No system has a published number in every collection of the split.");
      const {mean_weighted_average: mean, n_ranked: ranked, n_may_be_first: may, rating_pool: pool} = first[0];
      const rated = first[0].rating !== null;
      return headline(
        title,
        first.map((row) => mbw.system(row)).join(", "),
        `Weighted average ${mbw.number(mean)}; ${count(ranked, "system")} ranked.`,
        rated ? `Rating ${mbw.number(first[0].rating)} (95 %: ${mbw.number(first[0].rating_low)} to ${mbw.number(first[0].rating_high)}); by rating, ${count(may, "system")} may be first.` : `No rating: ${pool ?? "nothing to compare"}.`,
      );
    });
  }

  function helping(state) {
    const rows = mbw.narrow(gains(), state, ["experiment", "protocol"]);
    if (!rows.length) return [];
    const sum = (column) => d3.sum(rows, (row) => row[column]);
    const [better, worse, unclear, untold, none] = ["n_better", "n_worse", "n_not_significant", "n_cannot_tell", "n_no_gain"].map(sum);
    if (none === sum("n")) return [headline("Does memory help?", "Cannot be told", "No gain over no memory can be computed: the scores of the samples, or the groups without memory, are not published.")];
    return [
      headline(
        "Does memory help?",
        `Better in ${better} of ${sum("n")}`,
        `Of the memory systems with a backbone in a collection, ${better} do better than no memory, ${worse} worse, and ${unclear} show no significant difference, on these datasets.`,
        `Not told apart: ${untold}. Left out: ${none}. As a claim on other datasets: ${sum("n_better_elsewhere")} better, ${sum("n_worse_elsewhere")} worse.`,
      ),
    ];
  }

  function trusting(row) {
    const bad = row.n_invalid ?? 0;
    return headline(
      "Can it be trusted?",
      bad ? count(bad, "invalid group") : "No group is invalid",
      bad ? "Their responses are mostly error texts, so their numbers mean nothing; they are left out of rankings and gains." : null,
      `${count(row.n_failed ?? 0, "response")} failed; ${count(row.n_suspect, "group")} to be read with care; ${count(row.n_not_complete, "group")} incomplete.`,
      `The checks found ${count(row.n_errors, "error")} and ${count(row.n_warnings, "warning")}.`,
    );
  }

  const STATES = [
    ["complete", "✓", "complete", "seq-mid"],
    ["suspect", "!", "complete, to be read with care", "warn"],
    ["partial", "~", "partial, stale or quarantined", "b3"],
    ["invalid", "×", "invalid: its numbers mean nothing", "bad"],
    ["not_published", "–", "not published", null],
  ];
  const state_of = (row) => {
    if (row.status === "not_published" || row.status === "invalid") return row.status;
    if (row.status !== "complete") return "partial";
    return row.validity === "suspect" ? "suspect" : "complete";
  };

  function matrix(rows, split, collection) {
    const looks = new Map(STATES.map(([name, sign, , colour]) => [name, {sign, fill: colour ? mbw.colour(colour) : "none"}]));
    const ys = mbw.distinct(rows, "baseline").map(mbw.baseline);
    const xs = mbw.distinct(rows, "backbone");
    const fill = (row) => looks.get(state_of(row)).fill;
    const y = (row) => mbw.baseline(row.baseline);
    const {left, cut} = mbw.names(ys, 400);
    return mbw.plot(
      {
        width: left + Math.max(150, xs.length * 46) + 50,
        height: 66 + ys.length * 22,
        marginLeft: left,
        marginTop: 62,
        marginBottom: 4,
        marginRight: 50,
        padding: 0.08,
        x: {domain: xs, axis: "top", label: null, tickSize: 0, tickRotate: -24, tickFormat: (text) => (text.length > 14 ? `${text.slice(0, 13)}…` : text)},
        y: {domain: ys, label: null, tickSize: 0, tickFormat: cut},
        marks: [
          Plot.cell(rows, {x: "backbone", y, fill, stroke: (row) => (fill(row) === "none" ? mbw.colour("line") : "none"), rx: 2}),
          Plot.text(rows, {
            x: "backbone",
            y,
            text: (row) => looks.get(state_of(row)).sign,
            fill: (row) => (fill(row) === "none" ? "currentColor" : mbw.ink(fill(row))),
            title: (row) => `${mbw.system(row)}: ${row.status.replace("_", " ")}${row.validity_reasons ? `; ${row.validity_reasons}` : ""}`,
          }),
        ],
      },
      `Which systems are published in ${split}, ${collection}`,
      `${split} · ${collection}`,
    );
  }

  mbw.page(
    mbw.scope(() => [...leaders(), ...gains()]),
    (state) => {
      const row = contents();
      document.getElementById("headlines").replaceChildren(
        figures(row),
        element("div", {class: "headlines"}, ...leading(state), ...helping(state), trusting(row)),
      );
      const scope = ["experiment", "protocol"];
      const ahead = mbw.narrow(leaders(), state, scope);
      const rated = ahead.filter((row) => row.rating !== null);
      mbw.charts(
        "overview_leaders",
        ahead.length
          ? mbw.grid(
              ...d3.groups(rated, (row) => row.split).map(([split, rows]) =>
                mbw.intervals("overview_leaders", d3.sort(rows, (row) => -row.rating), {
                  y: (row) => mbw.system(row),
                  value: "rating",
                  low: "rating_low",
                  high: "rating_high",
                  width: mbw.width("overview_leaders", {share: innerWidth > 900 ? 0.48 : 1}),
                  caption: `Split ${split}`,
                  axis: "rating, with its 95 % interval",
                  label: `Ratings of the systems that are or may be first in the split ${split}`,
                }),
              ),
            )
          : mbw.empty("No system is ranked or rated in any split."),
      );
      mbw.drawTable("overview_leaders", ahead, {hide: [...scope, "rating_pool"], open: !rated.length});
      const helped = mbw.narrow(gains(), state, scope);
      const parts = [
        ["n_worse", "worse", mbw.colour("div-low")],
        ["n_not_significant", "no significant difference", mbw.colour("tell")],
        ["n_cannot_tell", "cannot tell", mbw.colour("none")],
        ["n_better", "better", mbw.colour("div-high")],
      ];
      const told = helped.filter((row) => row.n > row.n_no_gain);
      mbw.charts(
        "overview_gains",
        ...(told.length
          ? [
              mbw.legend(parts.map(([, text, colour]) => [colour, text])),
              mbw.grid(
                ...d3.groups(told, (row) => row.split).map(([split, rows]) =>
                  mbw.stacks("overview_gains", rows, {
                    y: (row) => mbw.baseline(row.baseline),
                    parts,
                    width: mbw.width("overview_gains", {share: innerWidth > 900 ? 0.48 : 1}),
                    caption: `Split ${split}`,
                    axis: "backbones × collections",
                    label: `Memory systems in the split ${split}: in how many backbones and collections each does better or worse than no memory`,
                  }),
                ),
              ),
            ]
          : [mbw.empty(helped.length ? "No gain can be computed from what is published: see the column n_no_gain." : "There is nothing to compare: no memory system was scored.")]),
      );
      mbw.drawTable("overview_gains", helped, {hide: scope});
      const warned = mbw.table("overview_validity").rows;
      mbw.charts("overview_validity", warned.length ? null : mbw.empty("Every group that can be judged is valid."));
      mbw.drawTable("overview_validity", warned, {open: warned.length > 0, wide: ["validity_reasons"]});
      const there = mbw.narrow(coverage(), state, ["experiment"]);
      mbw.charts(
        "overview_coverage",
        mbw.legend(STATES.map(([, sign, text, colour]) => [colour ? mbw.colour(colour) : "none", `${sign} ${text}`])),
        mbw.smallGrid(...d3.groups(there, (row) => row.split, (row) => row.collection).flatMap(([split, groups]) => groups.map(([collection, rows]) => matrix(rows, split, collection)))),
      );
      mbw.drawTable("overview_coverage", there, {hide: ["experiment"], wide: ["validity_reasons"]});
      mbw.drawTable("reference_baselines", mbw.table("reference_baselines").rows, {open: true, wide: ["description"]});
      mbw.drawTable("overview_contents", mbw.table("overview_contents").rows);
    },
  );
})();
