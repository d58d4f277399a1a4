/* The charts of scheduling: a price curve with jobs below it, savings by month, a run's power. */
(() => {
  "use strict";
  const { kinds, ink, font, rows, number, axis, line, hatch } = charts;

  /* marks that the server chose: [place, text] */
  const timeAxis = (title, { ticks, last }) => {
    const marks = JSON.parse(ticks);
    const texts = new Map(marks);
    return axis(title, {
      type: "linear", min: 0, max: Number(last),
      afterBuildTicks: (scale) => { scale.ticks = marks.map(([value]) => ({ value })); },
      ticks: { callback: (value) => texts.get(value), autoSkip: true },
    });
  };
  const spans = (text) => text.split(" ").filter(Boolean).map((span) => span.split("-").map(Number));

  /* 1 the price curve above, one lane for each job below: a thin line is its window, a thick bar its place ---------- */
  const LANE_NAMES_PX = 700;
  const NAME_LENGTH = 24;
  const short = (name) => (name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH - 1)}…` : name);
  const steps = (prices) => prices.flatMap(({ left, right, price, forecast }, i) => {
    const y = Number(price);
    const points = [{ x: Number(left), y, forecast }, { x: Number(right), y, forecast }];
    const isGap = i > 0 && prices[i - 1].right !== left;
    return isGap ? [{ x: Number(left), y: null }, ...points] : points;
  });
  const drawPrices = ({ ctx, scales: { x, y } }, prices) => {
    const zero = y.getPixelForValue(0);
    for (const { left, right, price, busy } of prices) {
      const from = Math.round(x.getPixelForValue(Number(left)));
      ctx.fillStyle = busy ? ink("money", 0.55) : ink("edge", 0.16);
      ctx.fillRect(from, y.getPixelForValue(Number(price)), Math.round(x.getPixelForValue(Number(right))) - from,
        zero - y.getPixelForValue(Number(price)));
    }
  };
  const drawLane = ({ ctx, scales: { x, lanes } }, lane, i) => {
    const middle = lanes.getPixelForValue(i);
    const [opens, closes] = [x.getPixelForValue(Number(lane.opens)), x.getPixelForValue(Number(lane.closes))];
    ctx.strokeStyle = ink("edge");
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    for (const [fromX, fromY, toX, toY] of [
      [opens, middle, closes, middle], [opens, middle - 5, opens, middle + 5], [closes, middle - 5, closes, middle + 5],
    ]) {
      ctx.moveTo(fromX, fromY);
      ctx.lineTo(toX, toY);
    }
    ctx.stroke();
    ctx.fillStyle = ink("money");
    for (const [start, end] of spans(lane.runs)) {
      const left = x.getPixelForValue(start);
      ctx.beginPath();
      ctx.roundRect(left, middle - 6, Math.max(2, x.getPixelForValue(end) - left), 12, 3);
      ctx.fill();
    }
    if (lane.runs) return;
    const words = lane.misfit ?? "does not fit";
    const fitsRight = closes + ctx.measureText(words).width + 16 < x.right;
    ctx.textBaseline = "middle";
    ctx.textAlign = fitsRight ? "start" : "center";
    const at = fitsRight ? closes + 8 : (opens + closes) / 2;
    ctx.lineWidth = 6;
    ctx.strokeStyle = ink("paper");
    ctx.strokeText(words, at, middle);
    ctx.fillStyle = ink("bad");
    ctx.fillText(words, at, middle);
    ctx.textAlign = "start";
  };
  const drawNow = ({ ctx, scales: { x, y, lanes } }, { now, nowText }) => {
    if (now === undefined) return;
    const at = x.getPixelForValue(Number(now));
    ctx.strokeStyle = ctx.fillStyle = ink("ink");
    ctx.lineWidth = 1.25;
    ctx.setLineDash([3, 3]);
    ctx.beginPath();
    ctx.moveTo(at, y.top);
    ctx.lineTo(at, lanes.bottom);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.textBaseline = "top";
    ctx.fillText(`now ${nowText}`, at + 6, y.top);
  };

  kinds.plan = (figure) => {
    const { table, lanes: jobs, unit, quantity, zone } = figure.dataset;
    const prices = rows(table);
    const lanes = rows(jobs);
    const lowest = Math.min(0, ...prices.map(({ price }) => Number(price)));
    const isWide = figure.clientWidth > LANE_NAMES_PX;
    const inWords = (point) => `${point.y.toFixed(1)} ${unit}${point.forecast ? ", forecast" : ""}`;
    return {
      type: "line",
      data: { datasets: [{
        ...line(steps(prices), ink("ink")),
        borderWidth: 2, pointHitRadius: 6, yAxisID: "y",
        segment: { borderDash: (hit) => (prices.length && hit.p1.raw.forecast ? [5, 4] : undefined) },
      }] },
      options: {
        layout: { padding: { right: 8 } },
        scales: {
          x: timeAxis(`Time (${zone})`, figure.dataset),
          lanes: {
            type: "category", axis: "y", stack: "s", stackWeight: 0.3 * Math.max(1, lanes.length), offset: true, position: "left",
            labels: lanes.map(({ key, name }) => (isWide && name ? `${short(name)}  ${key}` : key)),
            grid: { display: false }, border: { color: ink("edge") },
            ticks: { color: ink("ink"), font: { weight: 600 }, autoSkip: false },
          },
          y: axis(`${quantity} (${unit})`, { stack: "s", stackWeight: 2, min: lowest < 0 ? undefined : 0, grace: "8%", offset: true }),
        },
        plugins: { tooltip: { callbacks: { title: () => "", label: ({ raw }) => inWords(raw) } } },
      },
      plugins: [{ id: "lanes", beforeDatasetsDraw(chart) {
        chart.ctx.save();
        chart.ctx.font = font();
        drawPrices(chart, prices);
        lanes.forEach((lane, i) => drawLane(chart, lane, i));
        drawNow(chart, figure.dataset);
        chart.ctx.restore();
      } }],
    };
  };

  /* 2 savings by month against both baselines: solid and hatched, losses below zero --------------------------------- */
  kinds.months = (figure) => {
    const months = rows(figure.dataset.table);
    const bars = (key) => months.map((row) => number(row[key]));
    return {
      type: "bar",
      data: { labels: months.map(({ month }) => month), datasets: [
        { label: "against starting at once", data: bars("first"), backgroundColor: ink("money") },
        {
          label: "against a random start", data: bars("random"),
          backgroundColor: hatch(ink("money")), borderColor: ink("money"), borderWidth: 1.5,
        },
      ] },
      options: {
        scales: { x: axis("Month", { grid: { display: false } }), y: axis(`Saved (${figure.dataset.currency})`) },
        plugins: { tooltip: { callbacks: { label: ({ dataset, parsed }) => `${dataset.label}: ${parsed.y.toFixed(2)}` } } },
      },
    };
  };

  /* 3 a run's power: solid as measured, dashed as it was predicted -------------------------------------------------- */
  kinds.power = (figure) => {
    const { table, predicted } = figure.dataset;
    const measured = rows(table).map(({ t, w }) => ({ x: Number(t), y: number(w) }));
    const datasets = [{ ...line(measured, ink("energy")), label: "measured" }];
    if (predicted) {
      const expected = rows(predicted).flatMap(({ left, right, w }) => [left, right].map((x) => ({ x: Number(x), y: Number(w) })));
      datasets.push({ ...line(expected, ink("ink"), [6, 4]), label: "predicted" });
    }
    return {
      type: "line",
      data: { datasets },
      options: {
        scales: {
          x: axis("Minutes since the start (min)", { type: "linear", min: Math.min(0, measured[0].x) }),
          y: axis("Power (W)", { min: 0, grace: "10%" }),
        },
        plugins: { tooltip: { callbacks: {
          title: (hit) => `${hit[0].parsed.x.toFixed(1)} min`,
          label: ({ dataset, parsed }) => `${dataset.label} ${parsed.y.toFixed(0)} W`,
        } } },
      },
    };
  };
})();
