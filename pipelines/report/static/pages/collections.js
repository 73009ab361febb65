// Collections: a heatmap of memory system by backbone, and the gains over no memory with their intervals.
"use strict";
(function () {
  const all = () => mbw.table("collection_results").rows;
  const scope = ["experiment", "protocol", "split", "collection"];
  const METRICS = {weighted_average: "min-max (weighted average)", z_score: "z"};
  mbw.page(
    [
      ...mbw.scope(all),
      mbw.field("split", "Split", all, ["experiment", "protocol"]),
      mbw.field("collection", "Collection", all, ["experiment", "protocol", "split"], {always: true}),
      {key: "metric", label: "Number", values: () => Object.keys(METRICS), text: (name) => METRICS[name]},
      mbw.invalid,
    ],
    async (state) => {
      const behind = state.invalid ? "_all" : "";
      const rows = mbw.narrow(await mbw.rows(`collection_results${behind}`), state, scope);
      const gains = mbw.narrow(await mbw.rows(`collection_gains${behind}`), state, scope);
      const z = state.metric === "z_score";
      const known = rows.filter((row) => Number.isFinite(row[state.metric]));
      // A number that no mean can be is shown, not ranked, and takes no part in the colours.
      const coloured = known.filter((row) => row.rank !== null);
      const left_out = rows.filter((row) => row.excluded !== null);
      mbw.note(
        "collection_results",
        state.invalid ? "Invalid groups are shown, as published: their numbers mean nothing." : null,
        mbw.explained(known),
        left_out.length ? `Left out: ${left_out.map((row) => `${mbw.system(row)} (${row.excluded})`).join("; ")}.` : null,
      );
      const [low, high] = d3.extent(coloured, (row) => row[state.metric]);
      mbw.charts(
        "collection_results",
        coloured.length
          ? mbw.legend(
              z
                ? [
                    [mbw.colour("div-low"), "below the publisher's mean"],
                    [mbw.colour("div-zero"), "at the mean (0)"],
                    [mbw.colour("div-high"), "above it"],
                  ]
                : [
                    [mbw.colour("seq-low"), `lowest: ${mbw.number(low)}`],
                    [mbw.colour("seq-high"), `highest: ${mbw.number(high)}`],
                  ],
            )
          : null,
        known.length
          ? mbw.heat("collection_results", rows, {
              x: (row) => row.backbone,
              y: (row) => row.baseline,
              value: state.metric,
              kind: z ? "div" : "seq",
              why: "excluded",
              colours: (row) => row.rank !== null,
              marks: mbw.marks,
              label: `${METRICS[state.metric]} of each memory system with each backbone in ${state.collection}`,
              caption: `${state.collection}: ${METRICS[state.metric]}`,
            })
          : mbw.empty("Nothing is published of this number here."),
      );
      mbw.drawTable("collection_results", rows, {hide: scope, wide: ["excluded"], marked: {weighted_average: "", z_score: "", rating: "!"}});
      const told = gains.filter((row) => row.delta !== null);
      const ends = d3.extent([0, ...told.flatMap((row) => [row.delta, row.ci_low ?? row.delta, row.ci_high ?? row.delta])]);
      const colours = {better: "div-high", worse: "div-low"};
      const reasons = mbw.distinct(gains, "excluded");
      mbw.note(
        "collection_gains",
        told.length ? null : gains.length ? `There is no gain to show: ${reasons.join("; ")}.` : "No memory system was scored in this collection.",
        mbw.explained(told),
        told.some((row) => row.ci_low === null) ? "A dot without a line has no interval: one of its datasets has a single sample, or none has any spread." : null,
        told.length && reasons.length ? `Left out: ${gains.filter((row) => row.excluded !== null).map((row) => `${mbw.system(row)} (${row.excluded})`).join("; ")}.` : null,
      );
      mbw.charts(
        "collection_gains",
        told.length
          ? mbw.legend([
              [mbw.colour("div-high"), "better (Holm, 0.05)"],
              [mbw.colour("soft"), "not significant, or cannot tell"],
              [mbw.colour("div-low"), "worse"],
            ])
          : null,
        told.length
          ? mbw.grid(
              ...d3.groups(told, (row) => row.backbone).map(([backbone, group]) =>
                mbw.intervals("collection_gains", d3.sort(group, (row) => -row.delta), {
                  y: (row) => mbw.marked(row.baseline, row),
                  value: "delta",
                  low: "ci_low",
                  high: "ci_high",
                  zero: 0,
                  domain: ends,
                  width: mbw.width("collection_gains", {share: innerWidth > 900 ? 0.48 : 1}),
                  colour: (row) => mbw.colour(colours[row.on_these_datasets] ?? "soft"),
                  caption: backbone,
                  axis: group.some((row) => row.ci_low !== null) ? "gain over no memory (min-max), 95 % interval" : "gain over no memory (min-max)",
                  label: `Gains over no memory with ${backbone} in ${state.collection}`,
                  title: (row) => `${mbw.long_system(row)}\n${mbw.number(row.delta)} (${mbw.range(row.ci_low, row.ci_high)})\non these datasets: ${mbw.show(row.on_these_datasets)}\nto other datasets: ${mbw.show(row.to_other_datasets)}`,
                }),
              ),
            )
          : null,
      );
      mbw.drawTable("collection_gains", gains, {hide: scope, wide: ["excluded"], marked: {delta: ""}});
    },
  );
})();
