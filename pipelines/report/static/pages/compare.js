// Compare: two systems on the samples that both were scored on. Pairs are stored once; the other way round, signs and
// wins change sides.
"use strict";
(function () {
  const {element} = mbw;
  const chunks = () => mbw.table("compare_datasets").chunks;
  const scope = ["experiment", "protocol", "split"];
  const SYSTEM = ["backbone", "baseline"];
  const id = (row, prefix = "") => JSON.stringify(SYSTEM.map((key) => row[prefix + key]));
  const name = (text) => {
    const [backbone, baseline] = JSON.parse(text);
    return mbw.system({backbone, baseline});
  };
  const systems = (state) => {
    const rows = mbw.narrow(mbw.table("overview_coverage").rows, state, ["experiment"]).filter((row) => row.status !== "not_published");
    return [...new Set(rows.map((row) => id(row)))].sort((a, b) => mbw.compare(name(a), name(b)));
  };

  function turned(row) {
    const minus = (value) => (value === null ? null : -value);
    const other = {...row};
    for (const key of SYSTEM) [other[key], other[`other_${key}`]] = [row[`other_${key}`], row[key]];
    if ("wins" in row) [other.wins, other.losses] = [row.losses, row.wins];
    if ("score" in row) [other.score, other.other_score] = [row.other_score, row.score];
    if ("minmax_low" in row) [other.minmax_low, other.minmax_high] = [minus(row.minmax_high), minus(row.minmax_low)];
    for (const key of ["minmax_difference", "difference"]) if (key in row) other[key] = minus(row[key]);
    return other;
  }

  async function pair(exhibit, keys, state) {
    const rows = await mbw.rows(exhibit, keys);
    const [one, two] = [state.one, state.two];
    return rows
      .filter((row) => (id(row) === one && id(row, "other_") === two) || (id(row) === two && id(row, "other_") === one))
      .map((row) => (id(row) === one ? row : turned(row)))
      .filter((row) => state.invalid || !row.is_invalid);
  }

  const parts = () => [
    ["wins", "first is better", mbw.colour("div-high")],
    ["ties", "equal", mbw.colour("tell")],
    ["losses", "second is better", mbw.colour("div-low")],
  ];

  function drawings(exhibit, rows, y, state) {
    const share = {share: innerWidth > 900 ? 0.48 : 1};
    const width = mbw.width(exhibit, share);
    const known = rows.filter((row) => row.minmax_difference !== null);
    const order = rows.map(y);
    return mbw.grid(
      known.length
        ? mbw.intervals(exhibit, known, {
            y,
            order,
            value: "minmax_difference",
            low: "minmax_low",
            high: "minmax_high",
            zero: 0,
            width,
            caption: "Mean difference, first minus second",
            axis: known.some((row) => row.minmax_low !== null) ? "min-max difference ± 1.96 standard errors" : "min-max difference",
            title: (row) => `${y(row)}: ${mbw.number(row.minmax_difference)} (${mbw.range(row.minmax_low, row.minmax_high)}), ${mbw.plural(row.n, "sample")}`,
            label: `Mean differences between ${name(state.one)} and ${name(state.two)}`,
          })
        : mbw.empty("The constants of this protocol are not published: there is no min-max difference."),
      mbw.stacks(exhibit, rows, {y, order, parts: parts(), width, caption: "Samples won, tied and lost by the first", axis: "samples", label: `Wins, ties and losses of ${name(state.one)} against ${name(state.two)}`}),
    );
  }

  // Why two systems have nothing in common here, as far as the coverage tells.
  function nothing(state, elsewhere) {
    const place = elsewhere ? `the collection ${state.collection}` : `the split ${state.split}`;
    const groups = mbw.narrow(mbw.table("overview_coverage").rows, state, elsewhere ? ["experiment", "split", "collection"] : ["experiment", "split"]).filter((row) => row.status !== "not_published");
    const mine = (text) => groups.filter((row) => id(row) === text);
    const [one, two] = [mine(state.one), mine(state.two)];
    const absent = [state.one, state.two].filter((text) => !mine(text).length).map(name);
    if (absent.length) return `Nothing to compare: of ${absent.join(" and of ")} nothing is published in ${place}.`;
    const shared = one.filter((row) => two.some((other) => other.collection === row.collection));
    if (!shared.length) return `Nothing to compare: the two systems have no collection of ${place} in common.`;
    const bad = shared.filter((row) => [row, two.find((other) => other.collection === row.collection)].some((group) => group.validity === "invalid"));
    if (bad.length === shared.length && !state.invalid) return `Nothing to compare: in ${mbw.distinct(bad, "collection").join(", ")} one of the two groups is invalid, so its numbers mean nothing; “with invalid groups” shows them all the same.`;
    return `Nothing to compare: in ${place} there is no sample with a published score of both systems${bad.length && !state.invalid ? ", invalid groups left out" : ""}. Means of each alone are on the page Datasets.`;
  }

  mbw.page(
    [
      ...mbw.scope(chunks),
      mbw.field("split", "Split", chunks, ["experiment", "protocol"]),
      mbw.field("collection", "Collection", chunks, scope),
      {key: "one", label: "First system", values: systems, text: name, always: true},
      {key: "two", label: "Second system", values: (state) => systems(state).filter((text) => text !== state.one), first: (state) => (state.one === null ? null : JSON.stringify([JSON.parse(state.one)[0], "wo_memory"])), text: name, always: true},
      mbw.invalid,
    ],
    async (state) => {
      const top = Object.fromEntries(scope.map((key) => [key, state[key]]));
      const inside = {...top, collection: state.collection};
      const exhibits = ["compare_collections", "compare_datasets", "compare_samples"];
      const there = state.one !== null && state.two !== null && chunks().length > 0;
      const [by_collection, by_dataset, samples] = there
        ? await Promise.all([pair(exhibits[0], top, state), pair(exhibits[1], inside, state), pair(exhibits[2], inside, state)])
        : [[], [], []];
      const hide = [...scope, "is_invalid", "is_unknown", "backbone", "baseline", "other_backbone", "other_baseline"];
      const marked = {minmax_difference: "", difference: ""};
      const why = !chunks().length
        ? "No two systems can be compared: the scores of single samples (summary.details) are not published."
        : !there
          ? "There is one system alone: there is nothing to compare it with."
          : nothing(state, by_collection.length > 0);
      const few = (rows) => (rows.some((row) => row.minmax_difference !== null && row.minmax_low === null) ? "A dot without a line is a mean of fewer than five samples: too few for an interval from standard errors." : null);
      mbw.note(
        "compare_collections",
        there ? `${name(state.one)} (first) against ${name(state.two)} (second), split ${state.split}.` : null,
        by_collection.length ? "Each system was run once, and the samples of one dataset are alike: they are not independent replications of the systems. The interval takes samples for independent, so it is too narrow for a claim. For what memory adds, take the gain on the page Collections." : null,
        few(by_collection),
        mbw.explained(by_collection),
        by_collection.some((row) => row.is_unknown) ? `Validity unknown, as nothing is published to judge by: ${mbw.distinct(by_collection.filter((row) => row.is_unknown), "collection").join(", ")}.` : null,
        by_collection.some((row) => row.is_invalid) ? `One of the groups is invalid, so its numbers mean nothing: ${mbw.distinct(by_collection.filter((row) => row.is_invalid), "collection").join(", ")}.` : null,
      );
      mbw.charts("compare_collections", ...(by_collection.length ? [mbw.legend(parts().map(([, text, colour]) => [colour, text])), drawings("compare_collections", by_collection, (row) => mbw.marked(row.collection, row), state)] : [mbw.empty(why)]));
      mbw.drawTable("compare_collections", by_collection, {hide, marked});
      mbw.note("compare_datasets", state.collection ? `Collection ${state.collection}.` : null, few(by_dataset), mbw.explained(by_dataset));
      mbw.charts("compare_datasets", by_dataset.length ? drawings("compare_datasets", by_dataset, (row) => mbw.marked(row.dataset_group, row), state) : mbw.empty(why));
      mbw.drawTable("compare_datasets", by_dataset, {hide: [...hide, "collection"], marked});
      const shown = new Map(mbw.table("samples").rows.map((row) => [JSON.stringify([...scope, "collection", "dataset", "test_idx"].map((key) => row[key])), row.sample]));
      const link = {
        dataset: (row) => {
          const number = shown.get(JSON.stringify([...scope, "collection", "dataset", "test_idx"].map((key) => row[key])));
          return number === undefined ? document.createTextNode(row.dataset) : element("a", {href: mbw.address("samples", {experiment: row.experiment, protocol: row.protocol, split: row.split, sample: String(number)})}, row.dataset);
        },
      };
      mbw.charts("compare_samples", samples.length ? null : mbw.empty(by_dataset.length ? "They do not differ on any sample." : why));
      mbw.note("compare_samples", samples.length ? "Samples with a link are on the page Samples. For any other, ask the warehouse, with the dataset and the index in place:" : null, mbw.explained(samples));
      const quote = (text) => `'${String(text).replaceAll("'", "''")}'`;
      if (samples.length) {
        const first = samples[0];
        document.querySelector("#compare_samples .notes").append(
          element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Query of a sample"}, element("pre", {}, element("code", {}, `SELECT backbone, baseline, score, response\nFROM sample_results\nWHERE split = ${quote(first.split)} AND collection = ${quote(first.collection)}\n    AND dataset = ${quote(first.dataset)} AND test_idx = ${first.test_idx}`))),
        );
      }
      mbw.drawTable("compare_samples", samples, {hide: [...hide, "collection"], open: samples.length > 0, link, marked});
    },
  );
})();
