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
      [row.n_groups, "result group"],
      [row.n_summary_only, "of them with a summary only", "of them with a summary only"],
      [row.n_backbones, "backbone"],
      [row.n_baselines, "memory system"],
      [row.n_collections, "collection"],
      [row.n_responses, "response"],
      row.n_derived ? [row.n_scores, "score, derived", `scores, ${mbw.show(row.n_derived)} of them derived`] : [row.n_scores, "score"],
      [row.n_invalid, "invalid group"],
      [row.n_unknown, "group of unknown validity", "groups of unknown validity"],
      [row.n_not_published, "not published", "not published"],
    ];
    return element("ul", {class: "figures"}, ...entries.map(([n, one, many = one + "s"]) => element("li", {}, element("b", {}, mbw.show(n)), element("span", {}, n === 1 ? one : many))));
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
      const {rating, rating_low: low, rating_high: high} = first[0];
      const marks = [...new Set(first.map((row) => mbw.marks(row)).join(""))].join("");
      const of = (row) => (first.length > 1 ? ` of ${mbw.system(row)}` : "");
      return headline(
        title,
        first.map((row) => mbw.system(row)).join(", "),
        `Weighted average ${mbw.number(mean)}${marks && ` ${marks}`}; ${count(ranked, "system")} ranked.`,
        ...first.map((row) => (row.n_unknown ? `? The validity${of(row)} is unknown in ${count(row.n_unknown, "collection")}: nothing is published there to judge by.` : null)),
        ...first.map((row) => (row.n_out_of_scale ? `# In ${count(row.n_out_of_scale, "collection")}, scores${of(row)} lie outside of their dataset's range (${mbw.out_of_scale}), or a published mean is outside of 0 to 1.` : null)),
        rating === null
          ? `No rating: ${(pool ?? "there is nothing to compare").replace(/^not rated: /, "")}.`
          : low === null
            ? `Rating ${mbw.number(rating)}, without an interval: which systems may be first by rating cannot be told (${pool}).`
            : `Rating ${mbw.number(rating)} (95 %: ${mbw.range(low, high)}); by rating, ${may === null ? "which systems may be first cannot be told" : `${count(may, "system")} may be first`}.`,
      );
    });
  }

  function helping(state) {
    const rows = mbw.narrow(gains(), state, ["experiment", "protocol"]);
    if (!rows.length) return [];
    const sum = (column) => d3.sum(rows, (row) => row[column]);
    const share = (n) => n.toLocaleString("en-US");
    const [better, worse, unclear, untold, none] = ["n_better", "n_worse", "n_not_significant", "n_cannot_tell", "n_no_gain"].map(sum);
    if (none === sum("n")) return [headline("Does memory help?", "Cannot be told", "No gain over no memory can be computed: the scores of the samples, or the groups without memory, are not published.")];
    return [
      headline(
        "Does memory help?",
        better + worse + unclear ? `Better in ${share(better)} of ${share(better + worse + unclear)} that could be tested` : "Cannot be told: none could be tested",
        `A case is a memory system with a backbone in a collection. Of ${mbw.plural(sum("n"), "case")}, ${share(better + worse + unclear)} could be tested on these datasets: ${share(better)} better than no memory, ${share(worse)} worse, ${share(unclear)} without a significant difference.`,
        `No test was possible: ${share(untold)}. Left out, as a group is invalid or missing: ${share(none)}. As a claim on other datasets: ${sum("n_better_elsewhere")} better, ${sum("n_worse_elsewhere")} worse.`,
      ),
    ];
  }

  function trusting(row) {
    const bad = row.n_invalid ?? 0;
    const judged = row.n_groups - row.n_unknown;
    return headline(
      "Can it be trusted?",
      bad ? count(bad, "invalid group") : judged === 0 ? "Cannot be told" : row.n_unknown ? `No group of the ${judged.toLocaleString("en-US")} that can be judged is invalid` : "No group is invalid",
      bad ? `${bad === 1 ? "Its" : "Their"} responses are mostly error texts, so ${bad === 1 ? "its" : "their"} numbers mean nothing; ${bad === 1 ? "it is" : "they are"} left out of rankings and gains.` : null,
      row.n_derived ? `${count(row.n_derived, "score")} of ${count(row.n_scores, "score")} ${row.n_derived === 1 ? "is" : "are"} derived: the dataset's main metric, where no score is published. Ratings and gains are of published scores only.` : null,
      row.n_unknown ? `${count(row.n_unknown, "group")} of unknown validity: no samples are published to judge by.` : null,
      `${[
        row.n_failed === null ? "Whether responses failed is not known" : `${count(row.n_failed, "response")} failed`,
        ...[
          [row.n_suspect, "to be read with care"],
          [row.n_not_complete, "incomplete"],
          [row.n_summary_only, "with a summary only, without answers"],
        ].filter(([n]) => n > 0).map(([n, text]) => `${count(n, "group")} ${text}`),
      ].join("; ")}.`,
      `The checks found ${count(row.n_errors, "error")} and ${count(row.n_warnings, "warning")}.`,
    );
  }

  const STATES = [
    ["complete", "✓", "complete, with answers", "seq-mid"],
    ["unknown", "?", "complete, validity unknown", "tell"],
    ["summary", "Σ", "summary only, no answers: validity unknown", "seq-low"],
    ["suspect", "!", "complete, to be read with care", "warn"],
    ["partial", "~", "partial, stale or quarantined", "b3"],
    ["invalid", "×", "invalid: its numbers mean nothing", "bad"],
    ["not_published", "–", "not published", null],
  ];
  const summary_only = (row) => row.has_summary && !row.has_predictions;
  const state_of = (row) => {
    if (row.status === "not_published" || row.status === "invalid") return row.status;
    if (row.status !== "complete") return "partial";
    if (row.validity === "suspect") return "suspect";
    if (summary_only(row)) return "summary";
    return row.validity === null ? "unknown" : "complete";
  };

  function matrix(rows, split, collection) {
    const looks = new Map(STATES.map(([name, sign, , colour]) => [name, {sign, fill: colour ? mbw.colour(colour) : "none"}]));
    const ys = mbw.distinct(rows, "baseline");
    const xs = mbw.distinct(rows, "backbone");
    const fill = (row) => looks.get(state_of(row)).fill;
    const y = (row) => row.baseline;
    const {left, cut} = mbw.names(ys, 400);
    return mbw.plot(
      {
        width: left + Math.max(130, xs.length * 32) + 62,
        height: 66 + ys.length * 22,
        marginLeft: left,
        marginTop: 62,
        marginBottom: 4,
        marginRight: 62,
        padding: 0.08,
        x: {domain: xs, axis: "top", label: null, tickSize: 0, tickRotate: -24, tickFormat: (text) => (text.length > 14 ? `${text.slice(0, 13)}…` : text)},
        y: {domain: ys, label: null, tickSize: 0, tickFormat: cut},
        marks: [
          Plot.cell(rows, {x: "backbone", y, fill, stroke: (row) => (["summary", "not_published"].includes(state_of(row)) ? mbw.colour("line") : "none"), rx: 2}),
          Plot.text(rows, {
            x: "backbone",
            y,
            text: (row) => looks.get(state_of(row)).sign,
            fill: (row) => (fill(row) === "none" ? "currentColor" : mbw.ink(fill(row))),
            title: (row) => `${mbw.long_system(row)}: ${summary_only(row) ? "summary only, " : ""}${row.validity === null && row.status !== "not_published" ? "validity unknown, " : ""}${row.status.replace("_", " ")}${row.validity_reasons ? `; ${row.validity_reasons}` : ""}`,
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
                  y: (row) => mbw.marked(mbw.system(row), row),
                  value: "rating",
                  low: "rating_low",
                  high: "rating_high",
                  width: mbw.width("overview_leaders", {share: innerWidth > 900 ? 0.48 : 1}),
                  caption: `Split ${split}`,
                  axis: rows.every((row) => row.rating_low === null) ? "rating, without an interval" : "rating, with its 95 % interval",
                  title: (row) => `${mbw.long_system(row)}\nrating ${mbw.number(row.rating)} (${mbw.range(row.rating_low, row.rating_high)})`,
                  label: `Ratings of the systems that are or may be first in the split ${split}`,
                }),
              ),
            )
          : mbw.empty("No system is ranked or rated in any split."),
      );
      mbw.note("overview_leaders", mbw.explained(ahead));
      mbw.drawTable("overview_leaders", ahead, {hide: [...scope, "rating_pool"], open: !rated.length, marked: {mean_weighted_average: "", rating: ""}});
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
                    y: (row) => row.baseline,
                    parts,
                    width: mbw.width("overview_gains", {share: innerWidth > 900 ? 0.48 : 1}),
                    caption: `Split ${split}`,
                    axis: "backbones × collections",
                    label: `Memory systems in the split ${split}: in how many backbones and collections each does better or worse than no memory`,
                  }),
                ),
              ),
            ]
          : [mbw.empty(helped.length ? "No gain can be computed from what is published: the scores of the samples, or the groups without memory, are missing." : "There is nothing to compare: no memory system was scored.")]),
      );
      mbw.drawTable("overview_gains", helped, {hide: scope});
      const warned = mbw.table("overview_validity").rows;
      const groups = row.n_groups;
      const unknown = row.n_unknown - warned.filter((row) => row.validity === null).length;
      mbw.note("overview_validity", unknown ? `Of ${mbw.plural(groups, "group")}, ${unknown.toLocaleString("en-US")} ${unknown === 1 ? "is" : "are"} neither valid nor warned of: no samples are published to judge by. The table of coverage marks them as unknown.` : null);
      mbw.charts("overview_validity", warned.length ? null : mbw.empty(unknown === groups ? "No group can be judged." : "Every group that can be judged is valid."));
      mbw.drawTable("overview_validity", warned, {hide: mbw.distinct(coverage(), "experiment").length > 1 ? [] : ["experiment"], open: warned.length > 0, wide: ["validity_reasons"]});
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
