// Samples: a list to search, and one sample with the answers of several systems side by side.
"use strict";
(function () {
  const {element} = mbw;
  const all = () => mbw.table("samples").rows;
  const search = document.getElementById("sample-search");
  const scope = ["experiment", "protocol", "split"];
  const FIRST = 4;
  const CHOSEN = {differs: "systems differ most", drawn: "drawn", both: "systems differ most, and drawn"};
  const questions = new Map(mbw.table("sample_questions").rows.map((row) => [row.sample, row.question]));
  const question = (row) => questions.get(row.sample) ?? "";
  const short = (text) => ([...text].length > 90 ? `…${[...text].slice(-88).join("")}` : text);
  let picked = null;
  let current = null;

  const text = (start, end, chars) => {
    const parts = [element("div", {class: "text", tabindex: "0", role: "region", "aria-label": "Text"}, start ?? "")];
    if (end !== null) {
      parts.push(element("p", {class: "cut"}, `${(chars - [...start].length - [...end].length).toLocaleString("en-US")} characters are left out here`));
      parts.push(element("div", {class: "text", tabindex: "0", role: "region", "aria-label": "End of the text"}, end));
    }
    return parts;
  };

  const quote = (value) => `'${String(value).replaceAll("'", "''")}'`;
  const query = (row) =>
    `SELECT backbone, baseline, messages\nFROM prompts\nWHERE split = ${quote(row.split)} AND collection = ${quote(row.collection)}\n    AND dataset = ${quote(row.dataset)} AND test_idx = ${row.test_idx}`;

  function answer(row, parts) {
    const mine = (name) => parts[name].rows.filter((other) => other.backbone === row.backbone && other.baseline === row.baseline);
    const measures = mine("sample_measures");
    const notes = mine("sample_notes");
    const prompt = mine("sample_prompts")[0];
    return element(
      "section",
      {class: "answer", "aria-label": mbw.system(row)},
      element("h4", {}, mbw.system(row)),
      row.validity === "invalid" ? element("p", {class: "word invalid"}, "invalid group: its numbers mean nothing") : row.validity === null ? element("p", {class: "word unknown"}, "validity unknown: nothing is published to judge by") : null,
      element("p", {class: "score"}, row.score === null ? `– (${row.why_not})` : mbw.number(row.score)),
      row.origin === "derived" ? element("p", {class: "small derived"}, "derived, not published: the dataset's main metric") : null,
      element("p", {class: "small"}, `min-max ${mbw.show(row.minmax_score)}, z ${mbw.show(row.z)}; response ${mbw.plural(row.response_chars ?? 0, "character")}, prompt ${mbw.plural(row.prompt_chars ?? 0, "character")}`),
      ...(row.response === null ? [element("p", {class: "note"}, "There is no response.")] : text(row.response, row.response_end, row.response_chars)),
      measures.length ? element("details", {}, element("summary", {}, mbw.plural(measures.length, "metric")), element("dl", {}, ...measures.flatMap((m) => [element("dt", {}, m.metric), element("dd", {}, m.value_text ?? (m.kind === "bool" ? String(m.value === 1) : mbw.show(m.value)))]))) : null,
      notes.length ? element("details", {}, element("summary", {}, mbw.plural(notes.length, "note") + " of the evaluation"), ...notes.flatMap((note) => [element("h5", {}, note.name), ...text(note.value, null, 0), note.value_chars > 1000 ? element("p", {class: "cut"}, `the first 1,000 of ${note.value_chars.toLocaleString("en-US")} characters`) : null]).filter(Boolean)) : null,
      prompt ? element("details", {}, element("summary", {}, "prompt"), element("p", {class: "small"}, `${prompt.role ?? "message"}, ${mbw.plural(prompt.content_chars ?? 0, "character")}; ${mbw.plural(row.n_messages ?? 0, "message")} in all`), ...text(prompt.content, prompt.content_end, prompt.content_chars)) : null,
    );
  }

  async function show(row) {
    const article = document.getElementById("sample");
    if (!row) {
      article.replaceChildren(mbw.empty("No sample matches."));
      return;
    }
    await mbw.load(`sample/${row.sample}`);
    const parts = mbw.parts(`sample/${row.sample}`);
    const answers = parts.sample_responses.rows;
    const names = answers.map((a) => mbw.system(a));
    if (current !== row.sample || !picked) {
      const ranked = d3.sort(answers.filter((a) => a.score !== null), (a) => -a.score).map((a) => mbw.system(a));
      // The two best and the two worst say most; where nothing is scored, the first ones.
      picked = new Set(ranked.length > FIRST ? [...ranked.slice(0, 2), ...ranked.slice(-2)] : [...ranked, ...names].slice(0, FIRST));
      current = row.sample;
    }
    const scored = d3.sort(answers.filter((a) => Number.isFinite(a.score)), (a) => -a.score);
    const prompts = parts.sample_prompts.rows;
    const reference = prompts.find((p) => p.baseline === "wo_memory") ?? prompts[0];
    const side = element("div", {class: "answers"});
    const fill = () => side.replaceChildren(...answers.filter((a) => picked.has(mbw.system(a))).map((a) => answer(a, parts)));
    const picks = element("fieldset", {class: "picks", tabindex: "0"}, element("legend", {}, `Whose answers are shown, of ${mbw.plural(answers.length, "system")}`));
    answers.forEach((a, i) => {
      const box = element("input", {type: "checkbox", id: `pick-${i}`, checked: picked.has(names[i])});
      box.addEventListener("change", () => (box.checked ? picked.add(names[i]) : picked.delete(names[i]), fill()));
      picks.append(element("label", {for: `pick-${i}`}, box, names[i]));
    });
    fill();
    const colour = mbw.scale("seq", d3.min(scored, (a) => a.score), d3.max(scored, (a) => a.score));
    article.replaceChildren(
      ...[
        element("h2", {}, `${row.dataset}, sample ${row.test_idx}`),
        element("p", {class: "small"}, `${row.split} · ${row.collection}; ${CHOSEN[row.chosen]}; ${mbw.plural(row.n_systems, "answer")}, ${mbw.plural(row.n_scores, "score")} of valid systems${row.n_derived ? `, ${row.n_derived === row.n_scores ? "all" : row.n_derived} derived, not published` : ""}`),
        element("h3", {}, "What was asked"),
        ...(reference
          ? [element("p", {class: "small"}, `The last message of the prompt of ${mbw.system(reference)}. Other systems' prompts are beside their answers, for this backbone.`), ...text(reference.content, reference.content_end, reference.content_chars)]
          : [mbw.empty("Its prompt is not published, or not of the backbone whose prompts are shown here; the query below gives it where it is.")]),
        scored.length > 1
          ? mbw.plot(
              {
                width: Math.max(300, Math.min(700, article.clientWidth - 30)),
                height: 50 + 10 * (d3.max(d3.rollups(scored, (group) => group.length, (a) => a.score), ([, n]) => n) ?? 1),
                marginLeft: 20,
                marginRight: 20,
                x: {label: "score", labelAnchor: "center", labelArrow: "none", ticks: 5, nice: true},
                marks: [Plot.dot(scored, Plot.dodgeY({x: "score", fill: (a) => colour(a.score), stroke: "currentColor", r: 4.5, title: (a) => `${mbw.system(a)}: ${mbw.number(a.score)}${a.origin === "derived" ? ", derived" : ""}`}))],
              },
              `Scores of ${scored.length} systems on this sample`,
              `Scores of all ${scored.length} systems that have one`,
            )
          : null,
        element("h3", {}, "What was answered"),
        picks,
        side,
        element("h3", {}, "The whole of it"),
        element("p", {class: "small"}, "Nothing above is left out of the warehouse:"),
        element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Query of the whole sample"}, element("pre", {}, element("code", {}, query(row)))),
      ].filter(Boolean),
    );
    mbw.charts("samples");
  }

  mbw.page(
    [
      ...mbw.scope(all),
      mbw.field("split", "Split", all, ["experiment", "protocol"]),
      mbw.field("collection", "Collection", all, scope, {all: "all collections"}),
      mbw.field("dataset_group", "Dataset", all, [...scope, "collection"], {all: "all datasets"}),
      {key: "chosen", label: "Why it is here", values: () => ["differs", "drawn"], all: "all reasons", text: (value) => CHOSEN[value]},
    ],
    async (state) => {
      const rows = mbw.narrow(all(), state, [...scope, "collection", "dataset_group"]).filter((row) => state.chosen === null || row.chosen === state.chosen || row.chosen === "both");
      const words = search.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
      const found = rows.filter((row) => {
        const line = `${row.dataset} ${row.test_idx} ${row.collection} ${question(row)}`.toLocaleLowerCase();
        return words.every((word) => line.includes(word));
      });
      const asked = Number(new URLSearchParams(location.hash.slice(1)).get("sample"));
      const row = found.find((one) => one.sample === asked) ?? found[0];
      document.getElementById("sample-count").textContent = `${found.length.toLocaleString("en-US")} of ${mbw.plural(rows.length, "sample")}`;
      document.getElementById("sample-list").replaceChildren(
        ...found.map((one) => {
          const button = element("button", {type: "button", "aria-current": one === row ? "true" : null}, `${one.dataset} ${one.test_idx}`, element("small", {}, short(question(one)), one.spread === null ? "" : ` (spread ${mbw.number(one.spread)}, n = ${one.n_scores})`));
          button.addEventListener("click", async () => {
            await mbw.go({sample: String(one.sample)});
            document.querySelector("#sample-list [aria-current]")?.focus();
          });
          return element("li", {}, button);
        }),
      );
      mbw.note("samples", "Three of each dataset in each collection are those on which valid systems differ most; three are drawn by a digest of their names. They are a selection, not the archive.");
      mbw.drawTable("samples", found, {hide: scope});
      await show(row);
    },
  );
  search.addEventListener("input", () => mbw.redraw());
})();
