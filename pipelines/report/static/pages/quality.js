// Quality: findings, and published numbers against recomputed ones.
"use strict";
(function () {
  const numbers = () => mbw.table("quality_reconciliation").rows;
  const NAMES = ["weighted_average", "average", "z_score"];
  mbw.page(
    [...mbw.scope(numbers), {key: "severity", label: "Severity", values: () => mbw.distinct(mbw.table("quality_findings").rows, "severity"), all: "all severities"}],
    (state) => {
      const checks = mbw.table("quality_checks").rows;
      const parts = [
        ["n_errors", "errors", mbw.colour("bad")],
        ["n_warnings", "warnings", mbw.colour("warn")],
        ["n_infos", "infos", mbw.colour("tell")],
      ];
      mbw.charts(
        "quality_checks",
        ...(checks.length
          ? [mbw.legend(parts.map(([, text, colour]) => [colour, text])), mbw.stacks("quality_checks", checks, {y: (row) => row.check.replaceAll("_", " "), parts, axis: "findings", label: "Findings of each check by severity"})]
          : [mbw.empty("No check found anything.")]),
      );
      mbw.drawTable("quality_checks", checks, {open: checks.length > 0, wide: ["example"]});
      const findings = mbw.table("quality_findings").rows;
      const shown = mbw.narrow(findings, state, ["severity"]);
      const cut = findings.length ? findings[0].n_in_all - findings.length : 0;
      mbw.note("quality_findings", cut > 0 ? `${cut.toLocaleString("en-US")} more are in the table findings: SELECT * FROM findings.` : null);
      mbw.charts("quality_findings", findings.length ? null : mbw.empty("There are no findings."));
      mbw.drawTable("quality_findings", shown, {open: findings.length > 0, wide: ["message", "group_id"]});
      const rows = mbw.narrow(numbers(), state, ["experiment", "protocol"]);
      const known = rows.filter((row) => Number.isFinite(row.difference));
      const most = d3.max(known, (row) => Math.abs(row.difference));
      mbw.note(
        "quality_reconciliation",
        known.length ? `${known.length.toLocaleString("en-US")} of ${mbw.plural(rows.length, "number")} can be computed again; the largest difference is ${mbw.number(most)}.` : "No published number can be computed again from what is published.",
      );
      const width = Math.max(260, Math.min(330, mbw.width("quality_reconciliation")));
      mbw.charts(
        "quality_reconciliation",
        known.length
          ? mbw.smallGrid(
              ...NAMES.filter((name) => known.some((row) => row.metric === name)).map((name) => {
                const part = known.filter((row) => row.metric === name);
                return mbw.plot(
                  {
                    width,
                    height: width * 0.8,
                    marginLeft: 50,
                    marginBottom: 38,
                    grid: true,
                    x: {label: "published", labelAnchor: "center", labelArrow: "none", ticks: 5, nice: true},
                    y: {label: "recomputed", labelArrow: "none", ticks: 5, nice: true},
                    marks: [
                      Plot.line(d3.extent(part, (row) => row.published).map((v) => [v, v]), {stroke: "currentColor", strokeOpacity: 0.5}),
                      Plot.dot(part, {x: "published", y: "recomputed", r: 3, stroke: (row) => mbw.colour(Math.abs(row.difference) > 1e-6 ? "bad" : "accent"), title: (row) => `${mbw.system(row)}, ${row.collection}: ${mbw.number(row.published)}, recomputed ${mbw.number(row.recomputed)}`}),
                    ],
                  },
                  `Published ${name} of ${part.length} groups against the same recomputed; on the line they are equal`,
                  name.replaceAll("_", " "),
                );
              }),
            )
          : null,
      );
      mbw.drawTable("quality_reconciliation", rows, {hide: ["experiment", "protocol"], wide: ["why_not"]});
    },
  );
})();
