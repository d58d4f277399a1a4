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

  /* 2 the readings as they grow: each line is named where it ends, the names kept apart ------------------------ */
  const NAME_PX = 15;
  const drawNames = ({ ctx, chartArea, scales: { y } }, lines) => {
    ctx.save();
    ctx.font = font(600);
    const ends = lines.map(({ label: name, borderColor, data }) => ({ name, borderColor, at: y.getPixelForValue(data.at(-1).y) }));
    let above = -Infinity;
    for (const { name, borderColor, at } of ends.sort((one, other) => one.at - other.at)) {
      above = Math.max(at + 4, above + NAME_PX);
      ctx.fillStyle = borderColor;
      ctx.fillText(name, chartArea.right + 6, above);
    }
    ctx.restore();
  };

  kinds.growth = (figure) => {
    const moments = rows(figure.dataset.table);
    const shown = [["counter", "energy", []], ["integrated", "ink", [6, 4]], ["plug", "ink", [2, 3], "wall"]];
    const datasets = shown.filter(([name]) => moments.at(-1)[name]).map(([name, token, dash, words = name]) => ({
      ...line(moments.map((row) => ({ x: Number(row.since), y: number(row[name]) })), ink(token), dash), label: words,
    }));
    return {
      type: "line",
      data: { datasets },
      options: {
        layout: { padding: { right: 76 } },
        scales: {
          x: axis("Seconds since the first question (s)", { type: "linear", min: 0, max: Number(moments.at(-1).since) }),
          y: axis("Energy (J)", { min: 0 }),
        },
        plugins: { tooltip: { callbacks: {
          title: (hit) => `${hit[0].parsed.x.toFixed(1)} s`,
          label: (hit) => `${hit.dataset.label} ${hit.parsed.y.toFixed(1)} J`,
        } } },
      },
      plugins: [{ id: "context", afterDatasetsDraw(chart) { drawNames(chart, datasets); } }],
    };
  };

  /* 3 accuracy against energy: both intervals, the frontier as a stepped line, numbers key the points to the table -- */
  const label = (ctx, text, x, y, align) => {
    ctx.textAlign = align;
    ctx.lineWidth = 3;
    ctx.strokeStyle = ink("paper");
    ctx.strokeText(text, x, y);
    ctx.fillStyle = ink("ink");
    ctx.fillText(text, x, y);
  };
  const drawBelow = ({ ctx, chartArea, scales: { y } }, least) => {
    const top = Math.max(chartArea.top, y.getPixelForValue(least));
    if (top >= chartArea.bottom) return;
    ctx.save();
    ctx.fillStyle = hatch(ink("line"));
    ctx.fillRect(chartArea.left, top, chartArea.width, chartArea.bottom - top);
    ctx.strokeStyle = ink("edge");
    ctx.beginPath();
    ctx.moveTo(chartArea.left, top);
    ctx.lineTo(chartArea.right, top);
    ctx.stroke();
    ctx.font = font();
    ctx.fillStyle = ink("quiet");
    ctx.textAlign = "end";
    ctx.fillText(`below your minimum of ${least} %`, chartArea.right - 8, chartArea.bottom - 8);
    ctx.restore();
  };
  /* the pick and the frontier are numbered first; a number that finds no free place stays in the table and on hover */
  const PLACES = [[9, -9, "start"], [-9, -9, "end"], [9, 17, "start"], [-9, 17, "end"]];
  const drawNumbers = ({ ctx, scales: { x, y } }, points) => {
    ctx.save();
    ctx.font = font(600);
    const at = points.map((point) => ({ x: x.getPixelForValue(point.x), y: y.getPixelForValue(point.y) }));
    const taken = at.map((dot) => ({ left: dot.x - 6, right: dot.x + 6, top: dot.y - 6, bottom: dot.y + 6 }));
    const weight = (i) => (points[i].pick === "yes" ? 2 : points[i].front === "yes" ? 1 : 0);
    for (const i of [...points.keys()].sort((one, other) => weight(other) - weight(one))) {
      const width = ctx.measureText(points[i].no).width;
      for (const [dx, dy, align] of PLACES) {
        const left = at[i].x + dx - (align === "end" ? width : 0);
        const box = { left, right: left + width, top: at[i].y + dy - 10, bottom: at[i].y + dy };
        if (taken.some((other) => other.left < box.right && box.left < other.right && other.top < box.bottom && box.top < other.bottom)) continue;
        taken.push(box);
        label(ctx, points[i].no, at[i].x + dx, at[i].y + dy, align);
        break;
      }
    }
    ctx.restore();
  };

  kinds.scatter = (figure) => {
    const points = rows(figure.dataset.table).filter((row) => row.j).map((row) => ({
      ...row, x: Number(row.j), y: Number(row.acc),
      left: number(row.lo) ?? undefined, right: number(row.hi) ?? undefined,
      low: number(row.alo) ?? undefined, high: number(row.ahi) ?? undefined,
    }));
    const front = points.filter((point) => point.front === "yes").sort((one, other) => one.x - other.x);
    const colour = (point, other) => (point.pick === "yes" ? ink("energy") : point.front === "yes" ? ink("ink") : ink(other));
    const { least, yMin, ...x } = figure.dataset;
    return {
      type: "scatter",
      data: { datasets: [
        {
          data: points, pointBorderWidth: 2,
          pointRadius: points.map((point) => (point.pick === "yes" ? 9 : 6)),
          pointStyle: points.map((point) => (point.front === "yes" || point.pick === "yes" ? "rectRot" : "circle")),
          pointBackgroundColor: points.map((point) => colour(point, "surface")),
          pointBorderColor: points.map((point) => colour(point, "edge")),
        },
        { ...line(front, ink("ink"), [5, 4]), type: "line", stepped: "before", borderWidth: 1.5, pointHitRadius: 0 },
      ] },
      options: {
        scales: {
          x: logAxis("← less energy    Joules per correct answer (J, log scale)", x),
          y: axis("Accuracy (% right)", { min: Number(yMin), max: 100 }),
        },
        plugins: { tooltip: { filter: (hit) => hit.datasetIndex === 0, callbacks: {
          label: ({ raw }) => `${raw.no}. ${raw.name}: ${raw.x.toPrecision(3)} J, ${raw.y.toFixed(1)} %`,
        } } },
      },
      plugins: [{
        id: "context",
        beforeDatasetsDraw(chart) {
          drawWhiskers(chart, points);
          if (least) drawBelow(chart, Number(least));
        },
        afterDatasetsDraw(chart) { drawNumbers(chart, points); },
      }],
    };
  };

  /* 4 one sweep: whiskers are intervals, the stock setting is ringed, a line joins settings that have an order ------ */
  const drawRings = ({ ctx, scales: { x, y } }, points) => {
    ctx.save();
    ctx.strokeStyle = ink("ink");
    ctx.lineWidth = 1.5;
    for (const point of points.filter(({ stock }) => stock)) {
      ctx.beginPath();
      ctx.arc(x.getPixelForValue(point.x), y.getPixelForValue(point.y), 10, 0, 2 * Math.PI);
      ctx.stroke();
    }
    ctx.restore();
  };

  kinds.sweep = (figure) => {
    const { table, axis: title, quantity, ordered } = figure.dataset;
    const settings = rows(table);
    const points = settings.filter((row) => row.y).map((row) => ({
      x: row.label, y: Number(row.y), low: number(row.low) ?? undefined, high: number(row.high) ?? undefined, stock: row.stock,
    }));
    const highest = Math.max(...points.map((point) => point.high ?? point.y), 0);
    return {
      type: "line",
      data: { labels: settings.map((row) => row.label), datasets: [{
        ...line(points, ink("energy")),
        showLine: Boolean(ordered), borderWidth: 1.25, pointRadius: 5, pointBackgroundColor: ink("energy"),
      }] },
      options: {
        scales: {
          x: axis(title, { type: "category", offset: true, grid: { display: false } }),
          y: axis(quantity, { min: 0, suggestedMax: highest * 1.05 }),
        },
        plugins: { tooltip: { callbacks: { label: ({ raw }) => `${raw.y.toPrecision(3)} J` } } },
      },
      plugins: [{
        id: "context",
        beforeDatasetsDraw(chart) { drawWhiskers(chart, points); },
        afterDatasetsDraw(chart) { drawRings(chart, points); },
      }],
    };
  };

  /* 5 cost of an answer by its length: items as points, the fit as a dashed line --------------------------------- */
  kinds.fit = (figure) => {
    const { table, start, slope } = figure.dataset;
    const items = rows(table).filter((row) => row.j).map((row) => ({ x: Number(row.tokens), y: Number(row.j) }));
    const last = Math.max(...items.map((item) => item.x));
    const at = (tokens) => ({ x: tokens, y: Number(start) + Number(slope) * tokens });
    return {
      type: "scatter",
      data: { datasets: [
        { data: items, pointRadius: 4, pointBackgroundColor: ink("energy", 0.55), pointBorderColor: ink("energy") },
        { ...line([at(0), at(last)], ink("ink"), [5, 4]), type: "line", pointHitRadius: 0 },
      ] },
      options: {
        scales: {
          x: axis("Tokens of the answer", { min: 0 }),
          y: axis("Energy of the item (J)", { min: 0 }),
        },
        plugins: { tooltip: { filter: (hit) => hit.datasetIndex === 0, callbacks: {
          label: ({ raw }) => `${raw.x} tokens, ${raw.y.toFixed(1)} J`,
        } } },
      },
    };
  };
})();
