/* The charts of the corpus: one run's power, candidates of the picker, sweeps. */
(() => {
  "use strict";
  const { kinds, ink, font, rows, number, axis, logAxis, line, hatch, drawWhiskers } = charts;

  /* 1 power over time -------------------------------------------------------------------- */
  const LABEL_PX = 18;
  /* dashed lines for the card empty, and loaded and waiting; labels below, unless the next line is close */
  const drawLevels = ({ ctx, chartArea, scales: { y } }, levels) => {
    ctx.font = font();
    ctx.lineWidth = 1.25;
    ctx.strokeStyle = ctx.fillStyle = ink("quiet");
    const heights = levels.map(({ level }) => y.getPixelForValue(Number(level)));
    levels.forEach(({ text }, i) => {
      const at = heights[i];
      const isClose = i > 0 && heights[i - 1] - at < LABEL_PX;
      ctx.setLineDash(i ? [6, 4] : [2, 3]);
      ctx.beginPath();
      ctx.moveTo(chartArea.left, at);
      ctx.lineTo(chartArea.right, at);
      ctx.stroke();
      ctx.fillText(text, chartArea.left + 8, isClose ? at - 6 : at + 15);
    });
    ctx.setLineDash([]);
  };

  /* one mark on the axis for each answer: tall and blue is right, short and grey is not */
  const drawAnswers = ({ ctx, chartArea, scales: { x } }, items) => {
    for (const { start, seconds, answer } of items) {
      const left = x.getPixelForValue(Number(start));
      const width = x.getPixelForValue(Number(start) + Number(seconds)) - left;
      const height = answer === "right" ? 14 : 6;
      ctx.fillStyle = answer === "right" ? ink("accuracy") : ink("edge", 0.55);
      ctx.fillRect(left + 0.5, chartArea.bottom - height, Math.max(1, width - 1), height);
    }
  };

  /* `wall` is the second channel where a wall meter was there */
  kinds.trace = (figure) => {
    const samples = rows(figure.dataset.table);
    const items = rows(figure.dataset.items);
    const levels = rows(figure.dataset.levels).filter((row) => row.level);
    const series = (key) => samples.map((row) => ({ x: Number(row.t), y: number(row[key]) }));
    const datasets = [{ ...line(series("w"), ink("energy")), label: "GPU" }];
    if (samples.some((row) => row.wall)) datasets.push({ ...line(series("wall"), ink("ink"), [5, 3]), label: "wall" });
    return {
      type: "line",
      data: { datasets },
      options: {
        scales: {
          x: axis("Seconds since the recording began (s)", { type: "linear", min: 0, max: Number(samples.at(-1).t) }),
          y: axis("Power (W)", { min: 0, suggestedMax: Math.max(0, ...levels.map((row) => Number(row.level))) * 1.1, grace: "10%" }),
        },
        plugins: { tooltip: { callbacks: {
          title: (hit) => `${hit[0].parsed.x.toFixed(1)} s`,
          label: (hit) => `${hit.dataset.label} ${hit.parsed.y.toFixed(1)} W`,
        } } },
      },
      plugins: [{ id: "context", beforeDatasetsDraw(chart) {
        chart.ctx.save();
        drawLevels(chart, levels);
        drawAnswers(chart, items);
        chart.ctx.restore();
      } }],
    };
  };
})();
