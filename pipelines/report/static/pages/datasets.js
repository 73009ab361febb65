// Datasets: how scores are spread, and their means.
"use strict";
(function () {
  const all = () => mbw.table("dataset_means").rows;
  const keys = ["experiment", "protocol", "split", "collection"];
  const scope = [...keys, "dataset_group"];
  const FEW = 5; // as the page Compare has it, in SQL
  const SMALL = 20; // below, one score is more than 5 percent of all
  const sized = (name, n) => (n < SMALL ? `${name} (n = ${n})` : name);
  const origin = (row) => (row.origin === "derived" ? ", derived" : "");
  mbw.page(
    [
      ...mbw.scope(all),
      mbw.field("split", "Split", all, ["experiment", "protocol"]),
      mbw.field("collection", "Collection", all, ["experiment", "protocol", "split"]),
      mbw.field("dataset_group", "Dataset", all, keys, {always: true}),
      mbw.field("backbone", "Backbone", all, keys, {all: "all backbones"}),
      mbw.invalid,
    ],
    async (state) => {
      const chosen = Object.fromEntries(keys.map((key) => [key, state[key]]));
      const within = [...scope, "backbone"];
      const means = mbw.narrow(all(), state, within).filter((row) => state.invalid || row.validity !== "invalid");
      const spread = mbw.narrow(await mbw.rows("dataset_distributions", chosen), state, within).filter((row) => state.invalid || !row.is_invalid);
      const reference = mbw.table("reference_datasets").rows;
      const about = reference.find((row) => row.dataset_group === state.dataset_group);
      const dropped = mbw.narrow(all(), state, within).length - means.length;
      const scored = means.filter((row) => row.origin !== null);
      const derived = scored.filter((row) => row.origin === "derived");
      const not_published = derived.length ? `${derived.length === scored.length ? "All scores here are" : `The scores of ${derived.map((row) => mbw.system(row)).join(", ")} are`} derived, not published: they are the dataset's main metric, as there are no published scores.` : null;
      mbw.note(
        "dataset_distributions",
        about ? `${about.description ?? "No description."} Scored by ${about.main_metric ?? "a merged score"}${about.score_min === null ? "" : `, ${about.score_min} to ${about.score_max}`}; language: ${about.language ?? "not known"}.` : null,
        dropped ? `${mbw.plural(dropped, "invalid group is", "invalid groups are")} left out.` : null,
        not_published,
        spread.some((row) => row.n_scores < SMALL) ? `Where a system has fewer than ${mbw.plural(SMALL, "score")}, n says how many behind its name.` : null,
      );
      const known = d3.sort(means.filter((row) => Number.isFinite(row.mean)), (row) => -row.mean);
      const order = known.map((row) => mbw.system(row));
      const rest = [...new Set(spread.map((row) => mbw.system(row)))].filter((name) => !order.includes(name));
      const bins = d3.sort(d3.rollups(spread, (rows) => rows[0], (row) => row.bin).map(([, row]) => row), (row) => row.bin);
      const bin = (row) => mbw.number(row.bin_low) + (row.bin_low === row.bin_high ? "" : "…");
      const names = new Map(bins.map((row) => [row.bin, bin(row)]));
      const few = bins.every((row) => row.bin_low === row.bin_high);
      const colour = mbw.scale("seq", 0, d3.max(spread, (row) => row.share) ?? 1);
      const ys = [...order, ...rest];
      const sizes = new Map(spread.map((row) => [mbw.system(row), row.n_scores]));
      const label = (name) => sized(name, sizes.get(name));
      const {left, cut, row: step} = mbw.names(ys.map(label), mbw.width("dataset_distributions"));
      mbw.charts(
        "dataset_distributions",
        spread.length
          ? mbw.plot(
              {
                width: Math.max(mbw.width("dataset_distributions"), left + bins.length * 46),
                height: 60 + ys.length * step,
                marginLeft: left,
                marginTop: 40,
                marginBottom: 6,
                marginRight: 8,
                padding: 0.05,
                x: {domain: bins.map((row) => row.bin), axis: "top", tickFormat: (n) => names.get(n), tickSize: 0, label: few ? "score" : "score, from …", labelAnchor: "left", labelArrow: "none"},
                y: {domain: ys, label: null, tickSize: 0, tickFormat: (name) => cut(label(name))},
                marks: [
                  Plot.cell(spread, {x: "bin", y: (row) => mbw.system(row), fill: (row) => colour(row.share), inset: 0.5, rx: 2}),
                  Plot.text(spread, {
                    x: "bin",
                    y: (row) => mbw.system(row),
                    text: (row) => (row.share >= 0.005 ? `${Math.round(row.share * 100)}` : "<1"),
                    fontSize: 10.5,
                    fill: (row) => mbw.ink(colour(row.share)),
                    title: (row) => `${mbw.system(row)}: ${row.n.toLocaleString("en-US")} of ${mbw.plural(row.n_scores, "score")} (${(row.share * 100).toFixed(1)} %)${origin(row)}, ${row.bin_low === row.bin_high ? `of ${mbw.number(row.bin_low)}` : `from ${mbw.number(row.bin_low)} to ${mbw.number(row.bin_high)}`}`,
                  }),
                ],
              },
              `How the scores of ${ys.length} systems on ${state.dataset_group} are spread`,
              `${state.dataset_group}: share of each system's scores, in percent; systems by mean, the highest first`,
            )
          : mbw.empty(means.length ? "No score of a single sample is published here; the means below are the publisher's." : "Nothing was scored here."),
      );
      mbw.drawTable("dataset_distributions", spread, {hide: [...scope, "is_invalid"]});
      const reach = (row) => (row.n >= FEW && row.standard_error !== null ? 1.96 * row.standard_error : null);
      const bars = known.map((row) => ({...row, low: reach(row) === null ? null : row.mean - reach(row), high: reach(row) === null ? null : row.mean + reach(row)}));
      const scale = about && about.score_min !== null && about.score_max !== null ? [about.score_min, about.score_max] : [-Infinity, Infinity];
      const inside = ([low, high]) => [Math.min(Math.max(low, scale[0]), d3.min(bars, (row) => row.mean)), Math.max(Math.min(high, scale[1]), d3.max(bars, (row) => row.mean))];
      const reached = inside(d3.extent(bars.flatMap((row) => [row.mean, row.low, row.high]).filter(Number.isFinite)));
      const bare = bars.filter((row) => row.low === null).length;
      mbw.note(
        "dataset_means",
        bare ? `${bare === bars.length ? "Dots have" : "A dot without a line has"} no interval: ${mbw.plural(FEW, "score")} or more are needed for one from standard errors, and ${bare === 1 ? "one mean is" : `${bare} means are`} over fewer.` : null,
        bars.some((row) => row.low !== null && (row.low < reached[0] || row.high > reached[1])) ? `An arrow marks an interval that goes on beyond the scale of the score (${mbw.number(scale[0])} to ${mbw.number(scale[1])}).` : null,
        not_published,
        mbw.explained(known),
        known.some((row) => row.validity === null) ? "A ring for a dot is a group whose validity is unknown: nothing is published to judge it by." : null,
      );
      mbw.charts(
        "dataset_means",
        bars.length
          ? mbw.intervals("dataset_means", bars, {
              y: (row) => mbw.marked(sized(mbw.system(row), row.n), row),
              value: "mean",
              low: "low",
              high: "high",
              domain: reached,
              hollow: (row) => row.validity === null,
              axis: bare === bars.length ? "mean score" : "mean score ± 1.96 standard errors",
              label: `Mean scores on ${state.dataset_group} with 1.96 standard errors`,
              title: (row) => `${mbw.system(row)}\nmean ${mbw.number(row.mean)}, standard error ${mbw.show(row.standard_error)}, ${mbw.plural(row.n, "score")}${origin(row)}`,
            })
          : mbw.empty("No mean can be computed from the samples; what is published is in the table."),
      );
      mbw.drawTable("dataset_means", means, {hide: [...scope], open: !bars.length, marked: {mean: "", average: "", minmax_average: "", z_average: ""}});
      mbw.drawTable("reference_datasets", reference, {wide: ["description"]});
    },
  );
})();
