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
    const scroll = element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `Chart: ${caption || label}`}, svg);
    return element("figure", {class: "figure"}, caption ? element("figcaption", {}, caption) : null, scroll);
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

  // Names beside a drawing: how much room they get, and how they are cut where that is too little; both ends stay.
  const size = (text) => d3.sum([...String(text)], (c) => (c > "\u2e80" ? 13 : 7.3));
  mbw.names = function (texts, width) {
    const most = Math.max(96, Math.min(330, width * 0.44));
    const left = Math.ceil(Math.min(most, Math.max(40, d3.max(texts, size) ?? 0) + 18));
    const cut = (text) => {
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
    return {left, cut};
  };
  const ticks = (room) => Math.max(2, Math.min(6, Math.floor(room / 70)));

  // A cell for each pair of two names, with its number in it. A number that is not there is an outlined dash.
  mbw.heat = function (name, rows, {x, y, value, kind, label, caption, domain = null, width = null, xs = null, ys = null, why = null}) {
    const known = rows.filter((row) => Number.isFinite(row[value]));
    const [low, high] = domain ?? d3.extent(known, (row) => row[value]);
    const colour = mbw.scale(kind, low ?? 0, high ?? 1);
    const fill = (row) => (Number.isFinite(row[value]) ? colour(row[value]) : "none");
    ys ??= mbw.distinct(rows.map((row) => ({y: y(row)})), "y");
    xs ??= mbw.distinct(rows.map((row) => ({x: x(row)})), "x");
    const there = new Set(rows.map((row) => JSON.stringify([x(row), y(row)])));
    const gaps = d3.cross(xs, ys).filter((pair) => !there.has(JSON.stringify(pair)));
    const {left, cut} = mbw.names(ys, width ?? mbw.width(name));
    const whole = Math.max(left + xs.length * 62, width ?? mbw.width(name));
    const step = (whole - left) / xs.length;
    const level = step >= 110 || xs.every((text) => size(text) < step);
    const most = level ? Math.floor(step / 7.3) : 16;
    const tick = (text) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);
    return mbw.plot(
      {
        width: whole,
        height: (level ? 30 : 62) + ys.length * 30,
        marginLeft: left,
        marginTop: level ? 24 : 56,
        marginBottom: 6,
        marginRight: level ? 10 : 44,
        padding: 0.06,
        x: {domain: xs, axis: "top", label: null, tickFormat: tick, tickSize: 0, tickRotate: level ? 0 : -22},
        y: {domain: ys, label: null, tickSize: 0, tickFormat: cut},
        marks: [
          Plot.cell(gaps, {x: "0", y: "1", fill: "none", stroke: mbw.colour("line"), rx: 3, inset: 0.5}),
          Plot.text(gaps, {x: "0", y: "1", text: () => "–", fill: "currentColor", title: ([one, other]) => `${other}, ${one}: not published`}),
          Plot.cell(rows, {x, y, fill, stroke: (row) => (Number.isFinite(row[value]) ? "none" : mbw.colour("line")), rx: 3, inset: 0.5}),
          Plot.text(rows, {
            x,
            y,
            text: (row) => (Number.isFinite(row[value]) ? row[value].toFixed(kind === "div" ? 2 : 3) : "–"),
            fill: (row) => (Number.isFinite(row[value]) ? mbw.ink(colour(row[value])) : "currentColor"),
            title: (row) => `${y(row)}, ${x(row)}: ${Number.isFinite(row[value]) ? mbw.number(row[value]) : (why && row[why]) || "not published"}`,
          }),
        ],
      },
      label,
      caption,
    );
  };

  // A dot and its interval on each line; a line at `zero` where there is something to compare with.
  mbw.intervals = function (name, rows, {y, value, low, high, label, caption, zero = null, colour = null, domain = null, order = null, title = null, width = null, axis = null}) {
    const ys = order ?? rows.map(y);
    const paint = colour ?? (() => mbw.colour("accent"));
    const known = rows.filter((row) => Number.isFinite(row[value]));
    const whole = width ?? mbw.width(name);
    const {left, cut} = mbw.names(ys, whole);
    const x = domain ? {domain} : {};
    return mbw.plot(
      {
        width: whole,
        height: 54 + ys.length * 22,
        marginLeft: left,
        marginRight: 18,
        marginTop: 8,
        marginBottom: 44,
        x: {grid: true, label: axis, labelAnchor: "center", labelArrow: "none", ticks: ticks(whole - left), nice: true, ...x},
        y: {domain: ys, label: null, tickSize: 0, tickFormat: cut},
        marks: [
          zero === null ? null : Plot.ruleX([zero], {stroke: "currentColor", strokeOpacity: 0.6}),
          Plot.ruleY(known.filter((row) => Number.isFinite(row[low])), {y, x1: low, x2: high, stroke: paint, strokeWidth: 2.5, strokeLinecap: "round"}),
          Plot.dot(known, {y, x: value, fill: paint, r: 4.5, stroke: "var(--paper)", strokeWidth: 1.5}),
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
    const {left, cut} = mbw.names(ys, whole);
    const most = d3.max(rows, (row) => d3.sum(parts, ([column]) => row[column] ?? 0)) ?? 0;
    return mbw.plot(
      {
        width: whole,
        height: 54 + ys.length * 26,
        marginLeft: left,
        marginRight: 18,
        marginTop: 6,
        marginBottom: 44,
        x: {label: axis, labelAnchor: "center", labelArrow: "none", ticks: d3.ticks(0, most, ticks(whole - left)).filter(Number.isInteger), grid: true, tickFormat: "d"},
        y: {domain: ys, label: null, tickSize: 0, tickFormat: cut},
        marks: [
          Plot.barX(pieces, Plot.stackX({y: "y", x: "n", fill: "colour", insetTop: 1, insetBottom: 1, insetRight: 0.5})),
          Plot.text(pieces.filter((piece) => piece.n > 0), Plot.stackX({y: "y", x: "n", text: "n", fill: (piece) => mbw.ink(d3.color(piece.colour) ? piece.colour : "#888"), title: (piece) => `${piece.y}: ${piece.n} ${piece.text}`})),
        ],
      },
      label,
      caption,
    );
  };
})();
