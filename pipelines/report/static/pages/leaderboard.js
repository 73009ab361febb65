// Leaderboard: ratings with their intervals, and the sortable table.
"use strict";
(function () {
  const all = () => mbw.table("leaderboard_systems").rows;
  const scope = ["experiment", "protocol", "split"];
  mbw.page(
    [
      ...mbw.scope(all),
      mbw.field("split", "Split", all, ["experiment", "protocol"]),
      mbw.field("backbone", "Backbone", all, ["experiment", "protocol"], {all: "all backbones"}),
      mbw.field("baseline", "Memory system", all, ["experiment", "protocol"], {all: "all memory systems", text: mbw.baseline}),
      mbw.invalid,
    ],
    async (state) => {
      const name = state.invalid ? "leaderboard_systems_all" : "leaderboard_systems";
      const rows = mbw.narrow(await mbw.rows(name), state, [...scope, "backbone", "baseline"]);
      const whole = mbw.narrow(await mbw.rows(name), state, scope);
      const missing = rows.filter((row) => row.rank === null).length;
      mbw.note(
        "leaderboard_systems",
        state.invalid ? "Invalid groups are in the means and ranks, as published: their numbers mean nothing. Ratings are of valid groups only." : null,
        missing ? `${mbw.plural(missing, "system is", "systems are")} not ranked, because a collection is missing or invalid; the column “missing collections” says which.` : null,
      );
      const rated = rows.filter((row) => row.rating !== null);
      const backbones = mbw.distinct(all(), "backbone");
      const colour = (row) => mbw.colour(`b${backbones.indexOf(row.backbone) % 6}`);
      const ends = d3.extent(whole.filter((row) => row.rating !== null).flatMap((row) => [row.rating_low, row.rating_high]));
      mbw.charts(
        "leaderboard_systems",
        ...(rated.length
          ? [
              mbw.legend(backbones.filter((name) => rated.some((row) => row.backbone === name)).map((name) => [colour({backbone: name}), name])),
              mbw.intervals("leaderboard_systems", d3.sort(rated, (row) => -row.rating), {
                y: (row) => mbw.system(row),
                value: "rating",
                low: "rating_low",
                high: "rating_high",
                colour,
                domain: ends,
                axis: "rating, with its 95 % interval",
                label: `Ratings of ${rated.length} systems in the split ${state.split}, highest first`,
                title: (row) => `${mbw.system(row)}\nrating ${mbw.number(row.rating)} (${mbw.number(row.rating_low)} to ${mbw.number(row.rating_high)})\nranks left open: ${row.rank_low} to ${row.rank_high}`,
              }),
            ]
          : [mbw.empty(rows.length ? `No system is rated: ${rows[0].rating_pool ?? "nothing to compare"}.` : "No system was scored.")]),
      );
      mbw.drawTable("leaderboard_systems", rows, {hide: [...scope, "rating_pool"], open: true, wide: ["missing_collections"]});
    },
  );
})();
