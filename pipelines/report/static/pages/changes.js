// Changes: the numbers that moved with the last refresh that moved any.
"use strict";
(function () {
  const all = () => mbw.table("changes_numbers").rows;
  const SHOWN = 30;
  mbw.page(
    [...mbw.scope(all), mbw.field("metric", "Number", all, ["experiment", "protocol"], {all: "all numbers"}), mbw.field("change", "Change", all, ["experiment", "protocol"], {all: "all changes"})],
    (state) => {
      const rows = mbw.narrow(all(), state, ["experiment", "protocol", "metric", "change"]);
      const refreshes = mbw.table("changes_refreshes").rows;
      const moved = rows.filter((row) => Number.isFinite(row.difference));
      const undrawn = rows.filter((row) => row.change === "changed" && !Number.isFinite(row.difference)).length;
      const refresh = all().length ? refreshes.find((row) => row.refresh_id === all()[0].new_refresh_id) : null;
      const cut = all().length ? all()[0].n_in_all - all().length : 0;
      mbw.note(
        "changes_numbers",
        refresh ? `Refresh ${refresh.refresh_id} (${refresh.ended}), revision ${refresh.revision}: ${mbw.plural(refresh.n_changed, "number")} moved, ${refresh.n_added.toLocaleString("en-US")} came, ${refresh.n_removed.toLocaleString("en-US")} went.` : null,
        cut > 0 ? `${cut.toLocaleString("en-US")} more are in the view revision_changes.` : null,
        undrawn ? `${undrawn.toLocaleString("en-US")} that changed ${undrawn === 1 ? "is" : "are"} not drawn, having no difference that could be: NaN, an infinity or a text, before or after. The table has ${undrawn === 1 ? "it" : "them"}.` : null,
        moved.length > SHOWN ? `The chart has the first ${SHOWN} of ${mbw.plural(moved.length, "number")} that moved.` : null,
      );
      const first = moved.slice(0, SHOWN);
      const y = (row) => `${mbw.system(row)}, ${row.dataset_group ?? row.collection}, ${row.metric.replaceAll("_", " ")}`;
      mbw.charts(
        "changes_numbers",
        first.length
          ? mbw.intervals("changes_numbers", first, {y, value: "difference", low: "none", high: "none", zero: 0, axis: "new − old", label: "Differences of the numbers that moved, new minus old", title: (row) => `${y(row)}\n${mbw.number(row.old_value)} → ${mbw.number(row.new_value)}`})
          : mbw.empty(
              all().length
                ? "No number moved here that is a number before and after; what came and went is in the table."
                : refreshes.length > 1
                  ? "No published number has moved since the first refresh of this warehouse."
                  : "This warehouse was refreshed once: there is nothing before it to compare with.",
            ),
      );
      mbw.drawTable("changes_numbers", rows, {hide: ["new_refresh_id", "experiment", "protocol", "old_text", "new_text"], instead: {old_value: "old_text", new_value: "new_text"}, open: rows.length > 0});
      mbw.drawTable("changes_refreshes", refreshes, {open: true, wide: ["revision", "source"]});
    },
  );
})();
