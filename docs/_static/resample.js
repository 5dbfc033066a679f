// The figure of "How BBC works": draws resamples of a small table, step by step, in the page. Loads nothing, keeps nothing.
(() => {
  const place = document.getElementById("resample");
  if (!place) return;
  const N = 16, C = 8, TRUE_SCORE = 0.65;

  // A small generator with a seed, so that every reader sees the same figure (mulberry32).
  let state = 11;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const right = Array.from({ length: N }, () => Array.from({ length: C }, () => (random() < TRUE_SCORE ? 1 : 0)));
  const score = (counts, c) => {
    let sum = 0, n = 0;
    counts.forEach((k, i) => { sum += k * right[i][c]; n += k; });
    return sum / n;
  };
  const best = (counts) => {
    let winner = 0;
    for (let c = 1; c < C; c++) if (score(counts, c) > score(counts, winner) + 1e-12) winner = c;
    return winner;
  };
  const ones = Array(N).fill(1);
  const naiveWinner = best(ones), naive = score(ones, naiveWinner);
  const draws = [];
  const percent = (x) => (100 * x).toFixed(0) + " %";

  place.innerHTML = `
    <div><button data-n="1">Draw one resample</button><button data-n="100">Draw 100</button><button data-n="0">Start again</button></div>
    <p id="resample-words" aria-live="polite"></p>
    <div style="overflow-x:auto"><table aria-label="Right and wrong predictions of eight models" id="resample-table"></table></div>
    <svg id="resample-draws" viewBox="0 0 640 125" role="img" aria-label="Scores of all resamples so far"></svg>
    <p id="resample-legend"></p>`;
  const words = place.querySelector("#resample-words");

  function table(counts, winner) {
    const cell = (i, c) => {
      const judged = counts && counts[i] === 0 && c === winner ? " judged" : "";
      return `<td class="${right[i][c] ? "right" : "wrong"}${judged}">${right[i][c] ? "✓" : "✗"}</td>`;
    };
    const heads = right[0].map((_, c) => `<th class="${c === winner ? "winner" : ""}">${c + 1}</th>`).join("");
    const rows = right.map((row, i) =>
      `<tr class="${counts && counts[i] === 0 ? "absent" : ""}"><th>${i + 1}</th><td>${counts ? "× " + counts[i] : ""}</td>` +
      row.map((_, c) => cell(i, c)).join("") + "</tr>").join("");
    const foot = right[0].map((_, c) => `<th class="${c === winner ? "winner" : ""}">${percent(score(counts || ones, c))}</th>`).join("");
    place.querySelector("#resample-table").innerHTML =
      `<tr><th>sample</th><th>drawn</th>${heads}</tr>${rows}<tr><th>score</th><th></th>${foot}</tr>`;
  }

  function histogram() {
    const x = (v) => 30 + 580 * v;
    const bins = new Map();
    draws.forEach((d) => bins.set(Math.round(d * 20), (bins.get(Math.round(d * 20)) || 0) + 1));
    const most = Math.max(5, ...bins.values());
    let svg = `<line x1="30" x2="610" y1="95" y2="95" stroke="currentColor"/>`;
    for (const v of [0, 0.25, 0.5, 0.75, 1]) svg += `<text x="${x(v)}" y="117" text-anchor="middle">${percent(v)}</text>`;
    bins.forEach((k, b) => {
      const h = (80 * k) / most;
      svg += `<rect x="${x(b / 20) - 11}" y="${95 - h}" width="22" height="${h}" fill="#6f9bc8"/>`;
    });
    const marks = [[naive, "#b4481e", "plain CV"], [TRUE_SCORE, "#2e7d4f", "truth"]];
    if (draws.length) marks.push([draws.reduce((a, b) => a + b) / draws.length, "#1f5a93", "mean of the draws"]);
    for (const [v, colour] of marks)
      svg += `<line x1="${x(v)}" x2="${x(v)}" y1="2" y2="95" stroke="${colour}" stroke-width="3"/>`;
    place.querySelector("#resample-legend").innerHTML = marks
      .map(([v, colour, label]) => `<span><i style="background:${colour}"></i>${label} ${percent(v)}</span>`)
      .join(" ");
    place.querySelector("#resample-draws").innerHTML = svg;
  }

  function draw() {
    const counts = Array(N).fill(0);
    for (let k = 0; k < N; k++) counts[Math.floor(random() * N)]++;
    const absent = counts.map((k) => (k === 0 ? 1 : 0));
    if (!absent.includes(1)) return draw();
    const winner = best(counts), out = score(absent, winner);
    draws.push(out);
    return { counts, winner, out, left: absent.reduce((a, b) => a + b) };
  }

  function start() {
    draws.length = 0;
    words.textContent = `Model ${naiveWinner + 1} is best on all ${N} samples: ${percent(naive)}. ` +
      `In truth every model is right in ${percent(TRUE_SCORE)} of the cases: the rest is luck.`;
    table(null, naiveWinner);
    histogram();
  }

  place.addEventListener("click", (event) => {
    const n = event.target.dataset && event.target.dataset.n;
    if (n === undefined) return;
    if (n === "0") return start();
    let last;
    for (let i = 0; i < Number(n); i++) last = draw();
    words.textContent = `Resample ${draws.length}: model ${last.winner + 1} wins on the samples that were drawn. ` +
      `On the ${last.left} samples that were not drawn it scores ${percent(last.out)}.`;
    table(last.counts, last.winner);
    histogram();
  });
  start();
})();
