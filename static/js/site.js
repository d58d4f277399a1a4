/* Progressive enhancement only: every page is complete without this file.
   1. explanations open on focus and hover as well as on press
   2. answers of the API are shown indented
   3. charts are drawn from the tables beside them, so both show the same numbers */
(() => {
  "use strict";

  /* 1 hints ------------------------------------------------------------------------------ */
  const HOVER_GRACE_MS = 150;
  const TAP_MS = 400;
  let openedAt = 0;
  const opener = (event) => event.target.closest?.("[data-hint]");
  const hintOf = (button) => document.getElementById(button.getAttribute("popovertarget"));
  const show = (button) => {
    const hint = hintOf(button);
    if (!hint || hint.matches(":popover-open")) return;
    hint.showPopover({ source: button });
    openedAt = Date.now();
  };
  const hideUnlessInUse = (hint) => {
    const used = document.querySelector(`[popovertarget="${hint.id}"]:is(:hover, :focus-visible)`);
    if (!used && !hint.matches(":hover, :focus-within")) hint.hidePopover();
  };

  document.addEventListener("focusin", (event) => {
    const button = opener(event);
    if (button?.matches(":focus-visible")) show(button);
  });
  document.addEventListener("focusout", (event) => {
    const button = opener(event);
    const hint = button && hintOf(button);
    if (hint?.matches(":popover-open") && !hint.contains(event.relatedTarget)) hint.hidePopover();
  });
  document.addEventListener("mouseover", (event) => {
    const button = opener(event);
    if (button) show(button);
  });
  document.addEventListener("mouseout", (event) => {
    if (!opener(event) && !document.querySelector(".hint:popover-open")) return;
    setTimeout(() => document.querySelectorAll(".hint:popover-open").forEach(hideUnlessInUse), HOVER_GRACE_MS);
  });
  /* a tap hovers first: its click must not close what it has just opened */
  document.addEventListener("click", (event) => {
    if (opener(event) && Date.now() - openedAt < TAP_MS) event.preventDefault();
  }, true);

  /* 2 answers of the API, indented ------------------------------------------------------- */
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!event.detail.target.matches("[data-json]")) return;
    event.detail.serverResponse = JSON.stringify(JSON.parse(event.detail.serverResponse), null, 2);
    event.detail.shouldSwap = true;
  });

  /* 3 charts ----------------------------------------------------------------------------- */
  if (!window.Chart) return;

  const probe = document.body.appendChild(document.createElement("i"));
  probe.hidden = true;
  const ink = (token, alpha = 1) => {
    probe.style.color = `var(--${token})`;
    const [red, green, blue] = getComputedStyle(probe).color.match(/[\d.]+/g);
    return `rgb(${red} ${green} ${blue} / ${alpha})`;
  };
  const font = () => `12px ${getComputedStyle(document.body).fontFamily}`;
  const rows = (id) => [...document.querySelectorAll(`#${id} tbody tr`)].map((row) => ({ ...row.dataset }));
  const number = (text) => (text === undefined ? null : Number(text));
  const axis = (text, more = {}) => ({
    title: { display: true, text, color: ink("quiet") },
    grid: { color: ink("line"), tickColor: ink("edge") },
    border: { color: ink("edge") },
    ...more,
    ticks: { color: ink("quiet"), maxRotation: 0, padding: 6 },
  });

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

  const line = (points, colour, dash = []) => ({
    data: points, borderColor: colour, borderDash: dash, borderWidth: 1.75, pointRadius: 0, pointHitRadius: 8, spanGaps: false,
  });

  const kinds = {
    /* power over time; `wall` is the second channel where a wall meter was there */
    trace(figure) {
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
    },
  };

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
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("beforeprint", draw);
})();
