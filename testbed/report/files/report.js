"use strict";
(() => {
  const light = ["#0969da", "#bc4c00", "#1a7f37", "#8250df", "#bf3989", "#9a6700", "#1b7c83", "#57606a"];
  const dark = ["#58a6ff", "#f0883e", "#3fb950", "#bc8cff", "#f778ba", "#d29922", "#39c5cf", "#8b949e"];
  const scales = {
    ns: [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]],
    bytes: [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]],
    Bps: [[1e9, "GB/s"], [1e6, "MB/s"], [1e3, "kB/s"], [1, "B/s"]],
    bps: [[1e12, "Tb/s"], [1e9, "Gb/s"], [1e6, "Mb/s"], [1e3, "kb/s"], [1, "b/s"]],
  };
  // The unit for numbers up to `most`.
  const unitFor = (unit, most) =>
    (scales[unit] || [[1, ""]]).find(([size]) => Math.abs(most) >= size) || (scales[unit] || [[1, ""]]).at(-1);
  const digits = (v) => v === 0 ? "0" : Number(v.toPrecision(4)).toString();
  const text = (unit, v) => {
    if (v == null) return "";
    if (unit === "share") return digits(100 * v) + " %";
    const [size, name] = unitFor(unit, v);
    return digits(v / size) + (name ? " " + name : "");
  };
  const largest = (rows) => rows.reduce(
    (m, row) => row.reduce((n, v) => v == null ? n : Math.max(n, Math.abs(v)), m), 0);

  const draw = (box, chart) => {
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const colors = isDark ? dark : light;
    const style = getComputedStyle(document.documentElement);
    const dim = style.getPropertyValue("--dim").trim();
    const line = style.getPropertyValue("--line").trim();
    const axis = (label, unit, rows, side) => {
      const [size, name] = unitFor(unit, largest(rows));
      const shown = unit === "share" ? "%" : name;
      return {
        label: shown ? label + " [" + shown + "]" : label, side, stroke: dim,
        labelFont: "12px system-ui, sans-serif", font: "12px system-ui, sans-serif", labelSize: 20,
        size: side === 3 ? 52 : 36,
        grid: {stroke: line, width: 1}, ticks: {stroke: line, width: 1},
        values: (u, ticks) => ticks.map((v) =>
          v == null ? "" : unit === "share" ? digits(100 * v) : digits(v / size)),
      };
    };
    const options = {
      width: box.clientWidth, height: 260,
      cursor: {points: {size: 6}},
      scales: {
        x: {time: false, distr: chart.xLog ? 3 : 1},
        // From zero, but where points are to be told apart.
        y: chart.points ? {} : {range: (u, low, high) => [0, high > 0 ? 1.05 * high : 1]},
      },
      axes: [axis(chart.xLabel, chart.xUnit, [chart.data[0]], 2),
             axis(chart.yLabel, chart.yUnit, chart.data.slice(1), 3)],
      series: [{label: chart.xLabel, value: (u, v) => text(chart.xUnit, v)}].concat(
        chart.series.map((label, i) => ({
          label, stroke: colors[i % colors.length], width: 2, spanGaps: false,
          points: {show: chart.points, size: 7, fill: colors[i % colors.length]},
          value: (u, v) => text(chart.yUnit, v),
        }))),
    };
    box.replaceChildren();
    return new uPlot(options, chart.data, box);
  };

  const charts = JSON.parse(document.getElementById("charts").textContent);
  const boxes = [...document.querySelectorAll(".chart")];
  let plots = [];
  const drawAll = () => {
    plots.forEach((p) => p.destroy());
    plots = boxes.map((box) => draw(box, charts[Number(box.dataset.chart)]));
  };
  drawAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => plots.forEach(
      (p, i) => p.setSize({width: boxes[i].clientWidth, height: 260})));
  });
  document.documentElement.dataset.drawn = String(plots.length);
})();
