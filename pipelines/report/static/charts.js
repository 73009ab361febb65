// Charts, drawn by Observable Plot. Every chart is a figure with a text for those who do not see it; its numbers are in
// the table below it. Colours are those of the style sheet, so that they follow light and dark.
"use strict";
(function () {
  const {element} = mbw;
  const root = document.documentElement;

  mbw.colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

  // A scale of colours from the style sheet: `seq` from low to high, `div` from worse through zero to better.
  mbw.scale = function (kind, low, high) {
    const steps = kind === "div" ? ["div-low", "div-zero", "div-high"] : ["seq-low", "seq-mid", "seq-high"];
    const mix = d3.piecewise(d3.interpolateLab, steps.map(mbw.colour));
    if (kind === "div") {
      const most = Math.max(Math.abs(low), Math.abs(high)) || 1;
      return (value) => mix(0.5 + value / most / 2);
    }
    return (value) => mix(high > low ? (value - low) / (high - low) : 0.5);
  };
  mbw.ink = (colour) => (d3.lab(colour).l > 58 ? "#111" : "#fff");

  // The drawing and a figure around it; `label` says what is to be seen.
  mbw.plot = function (options, label, caption = null) {
    const svg = Plot.plot({
      className: "plot",
      ...options,
      style: {background: "transparent", color: "currentColor", fontSize: "12px", fontFamily: "inherit", overflow: "visible"},
    });
    // It is one image with one text: what Plot says of its parts has no role to stand on.
    for (const part of svg.querySelectorAll("[aria-label], [aria-description]")) {
      part.removeAttribute("aria-label");
      part.removeAttribute("aria-description");
    }
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", label);
    return element("figure", {class: "figure"}, caption ? element("figcaption", {}, caption) : null, mbw.scroller(`Chart: ${caption || label}`, svg));
  };

  mbw.charts = function (name, ...figures) {
    document.getElementById(name).querySelector(".chart").replaceChildren(...figures.filter(Boolean));
  };

  mbw.empty = (text) => element("p", {class: "note"}, text);
  mbw.grid = (...figures) => element("div", {class: "grid"}, ...figures);
  mbw.smallGrid = (...figures) => element("div", {class: "grid small-grid"}, ...figures);

  // Colours explained in words; `entries` are [colour, text].
  mbw.legend = function (entries) {
    return element(
      "ul",
      {class: "legend"},
      ...entries.map(([colour, text]) => {
        const swatch = element("span", {class: "swatch", "aria-hidden": "true"});
        swatch.style.background = colour;
        return element("li", {}, swatch, text);
      }),
    );
  };

  // How wide a drawing may be inside an exhibit; never narrower than can be read, rather scrolled.
  mbw.width = function (name, {share = 1, least = 300, most = 1040} = {}) {
    const box = document.getElementById(name).querySelector(".chart");
    return Math.max(least, Math.min(most, Math.floor((box.clientWidth || 700) * share)));
  };

  // Names beside a drawing: how much room they get, how high a row is for them, and how they are cut where the room is
  // too little; both ends stay. In a narrow drawing a backbone and its memory system stand in two lines.
  const pen = document.createElement("canvas").getContext("2d");
  const size = (text) => {
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(String(text)).width;
  };
  mbw.names = function (texts, width) {
    const most = Math.max(96, Math.min(330, width * (width < 480 ? 0.5 : 0.44)));
    const two = width < 480 && texts.some((text) => text.includes(" · ") && size(text) > most - 14);
    const lines = (text) => (two && text.includes(" · ") ? [text.slice(0, text.indexOf(" · ")), text.slice(text.indexOf(" · ") + 3)] : [text]);
    const left = Math.ceil(Math.min(most, Math.max(40, d3.max(texts.flatMap(lines), size) ?? 0) + 18));
    const shorten = (text) => {
      if (size(text) <= left - 14) return text;
      const kept = [...String(text)];
      let head = kept.slice(0, Math.ceil(kept.length / 2));
      let tail = kept.slice(head.length);
      while (head.length > 2 && size([...head, "…", ...tail].join("")) > left - 14) {
        if (head.length > 5) head.pop();
        else if (tail.length > 2) tail.shift();
        else head.pop();
      }
      return [...head, "…", ...tail].join("");
    };
    return {left, cut: (text) => lines(text).map(shorten).join("\n"), row: two ? 36 : 22};
  };
  // The title of the axis below; one that is wider than the axis is set across the whole drawing, in lines.
  function below(text, whole, left, right) {
    const wide = size(text) > whole - left - right;
    const lines = Math.ceil(size(text) / (wide ? whole - 20 : whole));
    const mark = Plot.text([text], {frameAnchor: "bottom", lineAnchor: "top", dy: 28, dx: wide ? (right - left) / 2 : 0, lineWidth: wide ? (whole - 20) / 12 : Infinity, fill: "currentColor"});
    return {mark, room: 30 + lines * 15};
  }
  const ticks = (room) => Math.max(2, Math.min(6, Math.floor(room / 70)));

  // A cell for each pair of two names, with its number in it. A number that is not there is an outlined dash; one that
  // `colours` leaves out is outlined too, with the reason, and does not stretch the scale.
  mbw.heat = function (name, rows, {x, y, value, kind, label, caption, domain = null, width = null, xs = null, ys = null, why = null, marks = () => "", colours = () => true}) {
    const is_coloured = (row) => Number.isFinite(row[value]) && colours(row);
    const known = rows.filter(is_coloured);
    const [low, high] = domain ?? d3.extent(known, (row) => row[value]);
    const colour = mbw.scale(kind, low ?? 0, high ?? 1);
    const fill = (row) => (is_coloured(row) ? colour(row[value]) : "none");
    const shown = (row) => [Number.isFinite(row[value]) ? mbw.number(row[value]) : null, is_coloured(row) ? null : (why && row[why]) || "not published"].filter(Boolean).join(": ");
    ys ??= mbw.distinct(rows.map((row) => ({y: y(row)})), "y");
    xs ??= mbw.distinct(rows.map((row) => ({x: x(row)})), "x");
    const there = new Set(rows.map((row) => JSON.stringify([x(row), y(row)])));
    const gaps = d3.cross(xs, ys).filter((pair) => !there.has(JSON.stringify(pair)));
    const {left, cut} = mbw.names(ys, width ?? mbw.width(name));
    const whole = Math.max(left + xs.length * (46 + 9 * (d3.max(rows, (row) => marks(row).length) ?? 0)) + 56, width ?? mbw.width(name));
    const step = (whole - left) / xs.length;
    const level = step >= 110 || xs.every((text) => size(text) < step);
    const most = level ? step - 6 : 110;
    const tick = (text) => {
      let kept = text;
      while (kept.length > 1 && size(kept === text ? text : `${kept}…`) > most) kept = kept.slice(0, -1);
      return kept === text ? text : `${kept}…`;
    };
    return mbw.plot(
      {
        width: whole,
        height: (level ? 30 : 62) + ys.length * 30,
        marginLeft: left,
        marginTop: level ? 24 : 56,
        marginBottom: 6,
        marginRight: level ? 10 : 56,
        padding: 0.06,
        x: {domain: xs, axis: "top", label: null, tickFormat: tick, tickSize: 0, tickRotate: level ? 0 : -22},
        y: {domain: ys, label: null, tickSize: 0, tickFormat: cut},
        marks: [
          Plot.cell(gaps, {x: "0", y: "1", fill: "none", stroke: mbw.colour("line"), rx: 3, inset: 0.5}),
          Plot.text(gaps, {x: "0", y: "1", text: () => "–", fill: "currentColor", title: ([one, other]) => `${other}, ${one}: not published`}),
          Plot.cell(rows, {x, y, fill, stroke: (row) => (is_coloured(row) ? "none" : mbw.colour("line")), rx: 3, inset: 0.5}),
          Plot.text(rows, {
            x,
            y,
            text: (row) => (Number.isFinite(row[value]) ? `${row[value].toFixed(kind === "div" ? 2 : 3)}${marks(row) && ` ${marks(row)}`}` : "–"),
            fill: (row) => (is_coloured(row) ? mbw.ink(colour(row[value])) : "currentColor"),
            title: (row) => `${y(row)}, ${x(row)}: ${shown(row)}${Number.isFinite(row[value]) && marks(row) ? ` (${mbw.meanings(marks(row)).join("; ")})` : ""}`,
          }),
        ],
      },
      label,
      caption,
    );
  };

  // An axis needs two ends: where all numbers are equal, some room around them.
  function widened([low, high]) {
    if (low === undefined) return [0, 1];
    const room = low === high ? Math.abs(low) * 0.05 || 0.5 : 0;
    return [low - room, high + room];
  }

  // A dot and its interval on each line; a line at `zero` where there is something to compare with. An interval that goes
  // on beyond the ends of `domain` is cut there, with an arrow. `hollow` says which dots are drawn as rings.
  mbw.intervals = function (name, rows, {y, value, low, high, label, caption, zero = null, colour = null, domain = null, order = null, title = null, width = null, axis = null, hollow = () => false}) {
    const ys = order ?? rows.map(y);
    const paint = colour ?? (() => mbw.colour("accent"));
    const known = rows.filter((row) => Number.isFinite(row[value]));
    const whole = width ?? mbw.width(name);
    const {left, cut, row: step} = mbw.names(ys, whole);
    const ends = widened(domain ?? d3.extent([...known.flatMap((row) => [row[value], row[low], row[high]]), zero].filter(Number.isFinite)));
    const under = axis === null ? {mark: null, room: 30} : below(axis, whole, left, 18);
    const [least, most] = d3.nice(...ends, ticks(whole - left));
    const ranged = known.filter((row) => Number.isFinite(row[low]) && Number.isFinite(row[high]));
    const arrows = (beyond, at, text) => Plot.text(ranged.filter(beyond), {y, x: at, text: () => text, fill: paint, fontSize: 15, fontWeight: 700, dx: text === "◂" ? -3 : 3});
    return mbw.plot(
      {
        width: whole,
        height: 10 + under.room + ys.length * step,
        marginLeft: left,
        marginRight: 18,
        marginTop: 8,
        marginBottom: under.room,
        x: {grid: true, label: null, ticks: ticks(whole - left), domain: [least, most]},
        y: {domain: ys, label: null, tickSize: 0, tickFormat: cut},
        marks: [
          under.mark,
          zero === null ? null : Plot.ruleX([zero], {stroke: "currentColor", strokeOpacity: 0.6}),
          Plot.ruleY(ranged, {y, x1: (row) => Math.max(least, row[low]), x2: (row) => Math.min(most, row[high]), stroke: paint, strokeWidth: 2.5, strokeLinecap: "round"}),
          arrows((row) => row[low] < least, least, "◂"),
          arrows((row) => row[high] > most, most, "▸"),
          Plot.dot(known.filter((row) => !hollow(row)), {y, x: value, fill: paint, r: 4.5, stroke: "var(--paper)", strokeWidth: 1.5}),
          Plot.dot(known.filter(hollow), {y, x: value, fill: "var(--paper)", r: 4, stroke: paint, strokeWidth: 2}),
          Plot.text(rows.filter((row) => !Number.isFinite(row[value])), {y, frameAnchor: "left", dx: 6, text: () => "–", fill: "currentColor"}),
          Plot.tip(known, Plot.pointerY({y, x: value, title: title ?? ((row) => `${y(row)}: ${mbw.number(row[value])}`), fill: "var(--paper)", stroke: "var(--line)"})),
        ],
      },
      label,
      caption,
    );
  };

  // Counts side by side on each line; `parts` are [column, text, colour].
  mbw.stacks = function (name, rows, {y, parts, label, caption, order = null, width = null, axis = null}) {
    const ys = order ?? rows.map(y);
    const pieces = rows.flatMap((row) => parts.map(([column, text, colour]) => ({y: y(row), n: row[column] ?? 0, text, colour})));
    const whole = width ?? mbw.width(name);
    const {left, cut, row: step} = mbw.names(ys, whole);
    const under = axis === null ? {mark: null, room: 30} : below(axis, whole, left, 18);
    const most = d3.max(rows, (row) => d3.sum(parts, ([column]) => row[column] ?? 0)) ?? 0;
    return mbw.plot(
      {
        width: whole,
        height: 10 + under.room + ys.length * Math.max(26, step),
        marginLeft: left,
        marginRight: 18,
        marginTop: 6,
        marginBottom: under.room,
        x: {label: null, ticks: d3.ticks(0, most, ticks(whole - left)).filter(Number.isInteger), grid: true, tickFormat: "d"},
        y: {domain: ys, label: null, tickSize: 0, tickFormat: cut},
        marks: [
          under.mark,
          Plot.barX(pieces, Plot.stackX({y: "y", x: "n", fill: "colour", insetTop: 1, insetBottom: 1, insetRight: 0.5})),
          Plot.text(pieces.filter((piece) => piece.n > 0), Plot.stackX({y: "y", x: "n", text: "n", fill: (piece) => mbw.ink(d3.color(piece.colour) ? piece.colour : "#888"), title: (piece) => `${piece.y}: ${piece.n} ${piece.text}`})),
        ],
      },
      label,
      caption,
    );
  };
})();
