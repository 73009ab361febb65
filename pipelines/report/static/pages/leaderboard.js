// Leaderboard: ratings with their intervals, and the sortable table.
"use strict";
(function () {
  const all = () => mbw.table("leaderboard_systems").rows;
  const scope = ["experiment", "protocol", "split"];
  const why = (pool) => (pool ?? "there is nothing to compare").replace(/^not rated: /, "");
  mbw.page(
    [
      ...mbw.scope(all),
      mbw.field("split", "Split", all, ["experiment", "protocol"]),
      mbw.field("backbone", "Backbone", all, ["experiment", "protocol"], {all: "all backbones"}),
      mbw.field("baseline", "Memory system", all, ["experiment", "protocol"], {all: "all memory systems", text: mbw.with_paper_name}),
      mbw.invalid,
    ],
    async (state) => {
      const name = state.invalid ? "leaderboard_systems_all" : "leaderboard_systems";
      const rows = mbw.narrow(await mbw.rows(name), state, [...scope, "backbone", "baseline"]);
      const whole = mbw.narrow(await mbw.rows(name), state, scope);
      const missing = rows.filter((row) => row.rank === null).length;
      const rated = rows.filter((row) => row.rating !== null);
      const unknown = rows.filter((row) => row.n_unknown > 0);
      const bare = rated.filter((row) => row.rating_low === null);
      mbw.note(
        "leaderboard_systems",
        state.invalid ? "Invalid groups are in the means and ranks, as far as their numbers can be ranked: they mean nothing. Ratings are of valid groups only." : null,
        missing ? `${mbw.plural(missing, "system is", "systems are")} not ranked, because a collection is missing, invalid or without a mean to rank by; the column “missing collections” says which.` : null,
        unknown.length ? `Of ${mbw.plural(unknown.length, "system")} the validity is unknown in a collection or more: nothing is published there to judge by, so the numbers are not known to be good. ${unknown.some((row) => row.rating !== null) ? "They have a ring for a dot, and the" : "The"} column “validity unknown” counts the collections.` : null,
        mbw.explained(rows.filter((row) => row.mean_weighted_average !== null || row.rating !== null), state.invalid ? "" : "!"),
        bare.length ? `A dot without a line is a rating without an interval, so which ranks it leaves open cannot be told: ${mbw.distinct(bare, "rating_pool").join("; ")}.` : null,
      );
      const backbones = mbw.distinct(all(), "backbone");
      const colour = (row) => mbw.colour(`b${backbones.indexOf(row.backbone) % 6}`);
      const ends = d3.extent(whole.flatMap((row) => [row.rating, row.rating_low, row.rating_high]).filter(Number.isFinite));
      mbw.charts(
        "leaderboard_systems",
        ...(rated.length
          ? [
              mbw.legend(backbones.filter((name) => rated.some((row) => row.backbone === name)).map((name) => [colour({backbone: name}), name])),
              mbw.intervals("leaderboard_systems", d3.sort(rated, (row) => -row.rating), {
                y: (row) => mbw.marked(mbw.system(row), row, "!"),
                value: "rating",
                low: "rating_low",
                high: "rating_high",
                colour,
                hollow: (row) => row.n_unknown > 0,
                domain: ends,
                axis: bare.length === rated.length ? "rating" : "rating, with its 95 % interval",
                label: `Ratings of ${mbw.plural(rated.length, "system")} in the split ${state.split}, highest first`,
                title: (row) => `${mbw.long_system(row)}\nrating ${mbw.number(row.rating)} (${mbw.range(row.rating_low, row.rating_high)})\nranks left open: ${row.rank_low === null ? "cannot tell" : `${row.rank_low} to ${row.rank_high}`}${row.n_unknown ? `\nvalidity unknown in ${mbw.plural(row.n_unknown, "collection")}` : ""}${row.n_out_of_scale ? `\nscores or means out of range in ${mbw.plural(row.n_out_of_scale, "collection")}` : ""}`,
              }),
            ]
          : [mbw.empty(rows.length ? `No system is rated: ${why(rows[0].rating_pool)}.` : "No system was scored.")]),
      );
      mbw.drawTable("leaderboard_systems", rows, {hide: [...scope, "rating_pool"], open: true, wide: ["missing_collections"], marked: {mean_weighted_average: "", mean_z_score: "", mean_rank: "", rating: "!"}});
    },
  );
})();
