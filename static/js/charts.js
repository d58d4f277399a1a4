/* Charts, drawn from the tables beside them, so both show the same numbers. Loads after Chart.js, where a chart is.
   Another script may add a kind to `charts.kinds` before the page has been read. */
const charts = (() => {
  "use strict";

  const probe = document.body.appendChild(document.createElement("i"));
  probe.hidden = true;
  const ink = (token, alpha = 1) => {
    probe.style.color = `var(--${token})`;
    const [red, green, blue] = getComputedStyle(probe).color.match(/[\d.]+/g);
    return `rgb(${red} ${green} ${blue} / ${alpha})`;
  };
  const font = (weight = 400) => `${weight} 12px ${getComputedStyle(document.body).fontFamily}`;
  const rows = (id) => [...document.querySelectorAll(`#${id} tbody tr`)].map((row) => ({ ...row.dataset }));
  const number = (text) => (text === undefined || text === "" ? null : Number(text));
  const axis = (text, more = {}) => ({
    title: { display: true, text, color: ink("quiet") },
    grid: { color: ink("line"), tickColor: ink("edge") },
    border: { color: ink("edge") },
    ...more,
    ticks: { color: ink("quiet"), maxRotation: 0, padding: 6, ...more.ticks },
  });
  /* a logarithmic axis with the marks that the server chose */
  const logAxis = (text, { min, max, ticks }) => {
    const values = ticks.split(" ").map(Number);
    return axis(text, {
      type: "logarithmic", min: Number(min), max: Number(max),
      afterBuildTicks: (scale) => { scale.ticks = values.map((value) => ({ value })); },
      ticks: { callback: (value) => value.toLocaleString("en"), autoSkip: false },
    });
  };
  const line = (points, colour, dash = []) => ({
    data: points, borderColor: colour, borderDash: dash, borderWidth: 1.75, pointRadius: 0, pointHitRadius: 8, spanGaps: false,
  });
  const hatch = (colour) => {
    const tile = Object.assign(document.createElement("canvas"), { width: 6, height: 6 });
    const pen = tile.getContext("2d");
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    for (const [x, y, toX, toY] of [[-1, 7, 7, -1], [-1, 1, 1, -1], [5, 7, 7, 5]]) {
      pen.moveTo(x, y);
      pen.lineTo(toX, toY);
    }
    pen.stroke();
    return pen.createPattern(tile, "repeat");
  };
  /* whiskers from low to high, across the value's own axis where the second pair is given */
  const drawWhiskers = ({ ctx, scales: { x, y } }, points) => {
    ctx.save();
    ctx.lineWidth = 1.25;
    ctx.strokeStyle = ink("edge", 0.85);
    ctx.beginPath();
    for (const point of points) {
      const [atX, atY] = [x.getPixelForValue(point.x), y.getPixelForValue(point.y)];
      if (point.left !== undefined) {
        ctx.moveTo(x.getPixelForValue(point.left), atY);
        ctx.lineTo(x.getPixelForValue(point.right), atY);
      }
      if (point.low !== undefined) {
        ctx.moveTo(atX, y.getPixelForValue(point.low));
        ctx.lineTo(atX, y.getPixelForValue(point.high));
      }
    }
    ctx.stroke();
    ctx.restore();
  };

  const kinds = {};
  let drawn = [];
  const draw = () => {
    drawn.forEach((chart) => chart.destroy());
    Object.assign(Chart.defaults, { animation: false, maintainAspectRatio: false });
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.plugins.legend.display = false;
    drawn = [...document.querySelectorAll("[data-chart]")].map(
      (figure) => new Chart(figure.querySelector("canvas"), kinds[figure.dataset.chart](figure)),
    );
  };
  document.addEventListener("DOMContentLoaded", draw);
  document.addEventListener("htmx:afterSettle", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("beforeprint", draw);
  return { kinds, ink, font, rows, number, axis, logAxis, line, hatch, drawWhiskers };
})();
