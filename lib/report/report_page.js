/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page comes alive: plots that can be zoomed (dygraphs), one time cursor for all of them, the machine
 * that follows it, events to jump to. Data: see report_data.c. Without dygraphs the plots stay static. */
(function () {
'use strict';

const $ = (id) => document.getElementById(id);
const data = JSON.parse($('data').textContent), root = document.documentElement;
const interactive = typeof Dygraph === 'function';

function make(tag, attributes, parent, text) {
  const svg = ['svg', 'path', 'text', 'title'].includes(tag);
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const name in attributes) e.setAttribute(name, attributes[name]);
  if (text !== undefined) e.textContent = text;
  if (parent) parent.appendChild(e);
  return e;
}

/* ---- numbers ---- */

const arrays = new Map();

/* Array k of the page: base64 of little-endian floats. */
function array(k) {
  if (!arrays.has(k)) {
    const text = atob($('d' + k).textContent), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const view = new DataView(bytes.buffer), out = new Float32Array(bytes.length / 4);
    for (let i = 0; i < out.length; i++) out[i] = view.getFloat32(4 * i, true);
    arrays.set(k, out);
  }
  return arrays.get(k);
}

/* Index of the last value not above x, at least 0. */
function find(values, x) {
  let low = 0, high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle] <= x) low = middle; else high = middle - 1;
  }
  return low;
}

function nearest(values, x) {
  const i = find(values, x);
  return i + 1 < values.length && values[i + 1] - x < x - values[i] ? i + 1 : i;
}

const minus = (text) => text.replace(/-/g, '\u2212');
const raised = '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b';
const superscript = (n) => String(n).replace(/./g, (c) => raised['0123456789-'.indexOf(c)]);

/* A value for the reader: five digits, as short as they go. */
function shown(x) {
  if (!isFinite(x)) return '\u2013';
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) {
    const [digits, power] = x.toExponential(3).split('e');
    return minus(digits) + '\u00d710' + superscript(Number(power));
  }
  return minus(x.toFixed(Math.max(0, Math.min(6, 4 - Math.floor(Math.log10(size || 1))))));
}

/* Axis labels are to be read times 10^exponent, a multiple of 3. */
function exponent_of(range) {
  const size = Math.max(Math.abs(range[0]), Math.abs(range[1]));
  if (!(size > 0) || (size >= 5e-3 && size < 1e5)) return 0;
  return 3 * Math.floor(Math.log10(size) / 3);
}

const plain = (x) => minus(String(Number(x.toPrecision(8))));

/* ---- state ---- */

/* All axes of time; a hair more, so that the last tick is labelled. */
const whole = [data.time[0], data.time[1] + 1e-6 * (data.time[1] - data.time[0])];
const has_time = data.machine != null || data.plots.some((p) => p.axis === 'time');
let range = whole.slice(), time = whole[0], playing = 0;
const live = new Map(); /* figure: its plot */
const followers = []; /* called with the time */

/* ---- look ---- */

const prefers_dark = matchMedia('(prefers-color-scheme:dark)');
let colours = {};
function read_colours() {
  const style = getComputedStyle(root);
  for (const name of ['e', 'm', 'a', 't', 'grid', 'axis', 'fg', 'dim', 'cursor', 'card', 'band'])
    colours[name] = style.getPropertyValue('--' + name).trim();
}

function set_look(look) {
  if (look === 'light' || look === 'dark') root.dataset.look = look;
  else delete root.dataset.look;
  try { localStorage.setItem('bramah-look', look); } catch (e) { /* not kept, then */ }
  read_colours();
  for (const plot of live.values())
    plot.graph.updateOptions({gridLineColor: colours.grid, axisLineColor: colours.axis});
}

function kept_look() {
  const wanted = /[?&#]look=(light|dark)/.exec(location.href);
  if (wanted) return wanted[1];
  try { return localStorage.getItem('bramah-look') || 'auto'; } catch (e) { return 'auto'; }
}

/* ---- plots ---- */

const css_of = {estimate: 'e', truth: 't', measured: 'm', model: 'a'};
const key_of = {estimate: 'e', truth: 't', measured: 'm', model: 'a'};

/* Points inside the visible part, in pixels; a value or a bound that is missing is NaN. */
function* visible(e) {
  const area = e.plotArea;
  for (const p of e.points) {
    if (p.yval === null || isNaN(p.yval)) continue;
    yield [p.canvasx, p.canvasy, area.y + area.h * p.y_top, area.y + area.h * p.y_bottom, p.xval];
  }
}

function fill_band(e, colour, alpha, edges) {
  const points = [...visible(e)].filter((p) => !isNaN(p[2]) && !isNaN(p[3])), c = e.drawingContext;
  if (!points.length) return;
  c.save();
  c.beginPath();
  points.forEach((p, i) => (i ? c.lineTo(p[0], p[2]) : c.moveTo(p[0], p[2])));
  for (let i = points.length; i-- > 0;) c.lineTo(points[i][0], points[i][3]);
  c.closePath();
  c.fillStyle = colour;
  c.globalAlpha = alpha;
  c.fill();
  c.restore();
  if (!edges) return;
  c.save();
  c.strokeStyle = colours.t;
  c.lineWidth = 0.9;
  for (const side of [2, 3]) {
    c.beginPath();
    points.forEach((p, i) => (i ? c.lineTo(p[0], p[side]) : c.moveTo(p[0], p[side])));
    c.stroke();
  }
  c.restore();
}

/* gap: a line does not go on over a longer time. */
function draw_line(e, colour, width, dash, gap = Infinity) {
  const c = e.drawingContext;
  let n = 0, last_point;
  c.save();
  c.strokeStyle = c.fillStyle = colour;
  c.lineWidth = width;
  c.lineJoin = 'round';
  c.setLineDash(dash || []);
  c.beginPath();
  for (const p of visible(e)) {
    if (n++ && p[4] - last_point[4] < gap) c.lineTo(p[0], p[1]); else c.moveTo(p[0], p[1]);
    last_point = p;
  }
  c.stroke();
  if (n === 1) c.fillRect(last_point[0] - 3, last_point[1] - 3, 6, 6);
  c.restore();
}

/* A value beyond the axis: an arrow at its edge. */
function draw_beyond(c, x, area, above) {
  const edge = above ? area.y + 9 : area.y + area.h - 1, tip = above ? edge - 1 : edge - 8;
  c.beginPath();
  if (above) { c.moveTo(x - 4, tip + 8); c.lineTo(x + 4, tip + 8); c.lineTo(x, tip); }
  else { c.moveTo(x - 4, tip); c.lineTo(x + 4, tip); c.lineTo(x, tip + 8); }
  c.fill();
}

/* Dots while there are few, bars from least to most where points stand for many. */
function draw_dots(e, colour) {
  const c = e.drawingContext, points = [...visible(e)], area = e.plotArea;
  const size = points.length < 200 ? 4.5 : points.length < 1500 ? 3 : 2;
  c.save();
  c.fillStyle = colour;
  c.globalAlpha = points.length < 1500 ? 0.8 : 0.55;
  for (const p of points) {
    const height = Math.max(Math.abs(p[3] - p[2]) || 0, size), middle = (p[3] + p[2]) / 2;
    if (middle < area.y || middle > area.y + area.h) draw_beyond(c, p[0], area, middle < area.y);
    else c.fillRect(p[0] - size / 2, middle - height / 2, size, height);
  }
  c.restore();
}

function draw_stems(e, colour) {
  const c = e.drawingContext, foot = e.dygraph.toDomYCoord(0);
  c.save();
  c.strokeStyle = colour;
  c.lineWidth = Math.max(2, (0.7 * e.plotArea.w) / (e.points.length + 1));
  c.beginPath();
  for (const p of visible(e)) { c.moveTo(p[0], foot); c.lineTo(p[0], p[1]); }
  c.stroke();
  c.restore();
}

/* How the columns of a series are drawn: band or range first, the line in front. */
function painter(plot, series) {
  const colour = () => colours[css_of[series.role]], many = series.min !== undefined, t = array(series.t);
  const gap = series.n > 20 && plot.axis === 'time' ? (10 * (t[series.n - 1] - t[0])) / series.n : Infinity;
  if (series.role === 'measured') return (e) => draw_dots(e, colour());
  if (series.role === 'truth') return (e) => draw_line(e, colour(), 1.1);
  if (series.role === 'model') return (e) => draw_line(e, colour(), 1.7, [7, 4]);
  return (e) => {
    if (plot.axis === 'lag') { fill_band(e, colour(), 0.2); draw_stems(e, colour()); return; }
    if (plot.symmetric) {
      fill_band(e, colour(), Number(colours.band));
      if (!many) draw_line(e, colour(), 1, [], gap);
      fill_band(e, colour(), 0, true);
      return;
    }
    fill_band(e, colour(), Number(colours.band));
    draw_line(e, colour(), 2.2, [], gap);
  };
}

/* Columns of a plot: each series, and before it from least to most where a point stands for many. */
function columns_of(plot) {
  const columns = [];
  for (const s of plot.series) {
    const mean = array(s.mean), t = array(s.t), many = s.min !== undefined;
    const low = s.low !== undefined ? array(s.low) : null, high = s.high !== undefined ? array(s.high) : null;
    const dots = s.role === 'measured';
    if (many && !dots)
      columns.push({series: s, t, mean, low: array(s.min), high: array(s.max),
                    draw: (e) => fill_band(e, colours[css_of[s.role]], plot.symmetric ? 0.8 : 0.45)});
    const column = {series: s, t, mean, low, high, draw: painter(plot, s)};
    if (many && dots) { column.low = array(s.min); column.high = array(s.max); }
    /* The band of a symmetric plot lies behind what fills it, its edges in front. */
    if (many && plot.symmetric && low) {
      columns.splice(columns.length - 1, 0, {series: s, t, mean, low, high,
        draw: (e) => fill_band(e, colours.e, Number(colours.band))});
      column.draw = (e) => fill_band(e, colours.e, 0, true);
    }
    columns.push(column);
  }
  return columns;
}

function cell(column, i) {
  const mean = column.mean[i];
  let low = column.low ? column.low[i] : mean, high = column.high ? column.high[i] : mean;
  if (isNaN(low) || isNaN(high)) low = high = mean;
  return [low, mean, high];
}

/* Rows for dygraphs: columns merged by their times. */
function rows_of(plot, columns) {
  const rows = [], at = columns.map(() => 0), offset = plot.axis === 'time' ? data.t0 : 0;
  const shared = columns.every((c) => c.t === columns[0].t);
  for (;;) {
    let t = Infinity;
    for (let k = 0; k < (shared ? 1 : columns.length); k++)
      if (at[k] < columns[k].t.length) t = Math.min(t, columns[k].t[at[k]]);
    if (t === Infinity) return rows;
    const row = [offset + t];
    columns.forEach((c, k) => {
      const hit = at[k] < c.t.length && (shared || c.t[at[k]] === t);
      row.push(hit ? cell(c, at[k]++) : null);
    });
    rows.push(row);
  }
}

/* Behind the curves: where zero is, if that matters, and small marks of the events at the upper edge. */
function draw_behind(plot, canvas, area, graph) {
  const zero = graph.toDomYCoord(0);
  if (plot.symmetric && zero > area.y && zero < area.y + area.h) {
    canvas.save();
    canvas.fillStyle = colours.axis;
    canvas.fillRect(area.x, Math.round(zero), area.w, 1);
    canvas.restore();
  }
  if (plot.axis === 'time') draw_events(canvas, area, graph);
}

function draw_events(canvas, area, graph) {
  canvas.save();
  canvas.fillStyle = colours.a;
  const [from, to] = graph.xAxisRange();
  for (const [t, kind] of data.events)
    if (t >= from && t <= to && !hidden_kinds.has(kind))
      canvas.fillRect(graph.toDomXCoord(t) - 1, area.y, 2, 7);
  canvas.restore();
}

function show_unit(plot) {
  const power = exponent_of(plot.graph.yAxisRange()), unit = plot.data.unit === '1' ? '' : plot.data.unit;
  plot.unit.textContent = power ? '\u00d710' + superscript(power) + (unit ? ' ' + unit : '') : unit;
}

/* All of it with the robust range of the static plot; a part with the range of what is there. */
const is_whole = () => range[0] <= whole[0] && range[1] >= whole[1];
const y_range = (plot) => (plot.axis !== 'time' || is_whole() ? plot.range || null : null);

function model_of(figure) {
  const base = Object.assign({}, Dygraph.defaultInteractionModel);
  base.dblclick = () => {
    if (live.get(figure).data.axis === 'time') show_range(whole);
    else live.get(figure).graph.resetZoom();
  };
  return base;
}

const y_label = (y, g, o, graph) => plain(y / Math.pow(10, exponent_of(graph.yAxisRange())));

function start_plot(figure) {
  const plot = data.plots[Number(figure.dataset.plot)];
  if (live.has(figure) || !plot.series.some((s) => s.n)) return;
  const timed = plot.axis === 'time', columns = columns_of(plot), keys = {};
  const unit = make('div', {class: 'unit'}, figure), host = make('div', {class: 'live', role: 'img'}, figure);
  host.setAttribute('aria-label', plot.title + (timed ? ' over time' : ''));
  figure.classList.add('on');
  const entry = {data: plot, unit, host, columns};
  live.set(figure, entry);
  const series = {};
  columns.forEach((c, k) => { series['c' + k] = {plotter: c.draw}; });
  entry.graph = new Dygraph(host, rows_of(plot, columns), {
    labels: ['x'].concat(columns.map((c, k) => 'c' + k)), series,
    customBars: true, connectSeparatedPoints: true, legend: 'never', xlabel: plot.x, xLabelHeight: 20,
    dateWindow: timed ? range.slice() : null, valueRange: y_range(plot), gridLineColor: colours.grid,
    axisLineColor: colours.axis, axisTickSize: 4, highlightCircleSize: 0, animatedZooms: false,
    rightGap: 12, yRangePad: 6, xRangePad: timed ? 0 : 14, interactionModel: model_of(figure),
    axes: {x: {axisLabelFormatter: plain, axisLabelWidth: 70},
           y: {axisLabelFormatter: y_label, axisLabelWidth: 58}},
    underlayCallback: (canvas, area, graph) => draw_behind(plot, canvas, area, graph),
    highlightCallback: timed ? (event, x) => { if (!playing) set_time(x); } : null,
    zoomCallback: timed ? (from, to) => show_range([from, to], figure) : null,
    drawCallback: (graph, initial) => {
      entry.graph = graph;
      show_unit(entry);
      if (initial || !timed) return;
      follow_hand(figure, graph.xAxisRange());
      place_cursor(entry);
    }});
  if (!timed) return;
  entry.cursor = make('div', {class: 'cursor'}, host);
  for (const span of figure.querySelectorAll('.l>span'))
    if (span.dataset.role !== 'b') keys[span.dataset.role] = make('span', {class: 'v'}, span);
  entry.values = plot.series.map((s) => ({t: array(s.t), mean: array(s.mean), text: keys[key_of[s.role]]}));
  const spacing = (t) => (t[t.length - 1] - t[0]) / (t.length - 1 || 1);
  entry.spacing = 1.5 * Math.min(...entry.values.map((v) => spacing(v.t)));
  place_cursor(entry);
}

function stop_plot(figure) {
  const plot = live.get(figure);
  if (!plot) return;
  plot.graph.destroy();
  plot.unit.remove();
  plot.host.remove();
  for (const v of figure.querySelectorAll('.v')) v.remove();
  figure.classList.remove('on');
  live.delete(figure);
}

function place_cursor(plot) {
  if (!plot.cursor) return;
  const area = plot.graph.getArea(), x = plot.graph.toDomXCoord(time);
  plot.cursor.style.height = area.h + 'px';
  plot.cursor.style.left = x + 'px';
  plot.cursor.hidden = !(x >= area.x - 1 && x <= area.x + area.w + 1);
  for (const v of plot.values) {
    if (!v.text || !v.t.length) continue;
    const k = nearest(v.t, time - data.t0), distance = Math.abs(v.t[k] + data.t0 - time);
    v.text.textContent = distance <= Math.max(plot.spacing, 3 * pixel()) ? shown(v.mean[k]) : '\u2013';
  }
}

/* ---- time ---- */

let slider, clock;

function set_time(t) {
  time = Math.min(Math.max(t, whole[0]), whole[1]);
  for (const plot of live.values()) place_cursor(plot);
  for (const follow of followers) follow(time);
}

function show_range(wanted, except) {
  let width = Math.min(wanted[1] - wanted[0], whole[1] - whole[0]);
  width = Math.max(width, 1e-6 * (whole[1] - whole[0]));
  const from = Math.min(Math.max(wanted[0], whole[0]), whole[1] - width);
  range = [from, from + width];
  stale = [];
  for (const [figure, plot] of live)
    if (figure !== except && plot.data.axis === 'time') stale.push([figure, plot]);
  if (!drawing) drawing = requestAnimationFrame(() => { drawing = 0; refresh(true); });
}

/* A plot that was moved or pinched by hand takes the others along. */
function follow_hand(figure, now) {
  const width = range[1] - range[0], far = (a, b) => Math.abs(a - b) > 1e-6 * width;
  if (stale.some((s) => s[0] === figure) || !(far(now[0], range[0]) || far(now[1], range[1]))) return;
  show_range(now, figure);
}

/* Plots in sight follow with the next frame, the others when there is time. */
let stale = [], refreshing = 0, drawing = 0;
function refresh(in_sight) {
  const rest = [], begin = performance.now();
  for (const [figure, plot] of stale) {
    const box = figure.getBoundingClientRect(), seen = box.bottom > 0 && box.top < innerHeight;
    if (live.get(figure) !== plot) continue;
    if (in_sight ? seen : performance.now() - begin < 30)
      plot.graph.updateOptions({dateWindow: range.slice(), valueRange: y_range(plot.data)});
    else rest.push([figure, plot]);
  }
  stale = rest;
  if (!stale.length || refreshing) return;
  refreshing = setTimeout(() => { refreshing = 0; refresh(false); }, 50);
}

const pixel = () => (range[1] - range[0]) / 600;
const pan = (share) => show_range(range.map((x) => x + share * (range[1] - range[0])));

function zoom(factor) {
  const centre = time >= range[0] && time <= range[1] ? time : (range[0] + range[1]) / 2;
  show_range(range.map((x) => centre + (x - centre) * factor));
}

/* Bring the cursor into view. */
function go_to(t) {
  set_time(t);
  if (time < range[0] || time > range[1]) {
    const half = (range[1] - range[0]) / 2;
    show_range([time - half, time + half]);
  }
}

let play_button;
function play(on) {
  let before = performance.now();
  playing = on ? playing + 1 : 0;
  play_button.textContent = on ? 'Pause' : 'Play';
  play_button.setAttribute('aria-pressed', String(on));
  if (!on) return;
  const mine = playing;
  if (time >= range[1]) set_time(range[0]);
  requestAnimationFrame(function step(now) {
    if (playing !== mine) return;
    go_to(time + Math.max(now - before, 0) / 1000);
    before = now;
    if (time >= whole[1]) play(false); else requestAnimationFrame(step);
  });
}

/* ---- tools and keys ---- */

const keys = [['\u2190 \u2192', 'move the view'], ['+ \u2212', 'zoom about the cursor'], ['0', 'whole run'],
  [', .', 'cursor one pixel back, on (with Shift: ten)'], ['Space', 'play, pause'],
  ['P N', 'previous event, next event (or [ ])'], ['D', 'light, dark'], ['?', 'this help']];

function make_help() {
  const help = make('dialog', {'aria-label': 'Keys and mouse'}, document.body);
  make('h2', {}, help, 'Keys and mouse');
  const list = make('dl', {}, help);
  for (const [key, what] of keys) {
    const term = make('dt', {}, list);
    key.split(' ').forEach((k) => { make('kbd', {}, term, k); term.append(' '); });
    make('dd', {}, list, what);
  }
  if (interactive)
    for (const [key, what] of [['drag', 'zoom: sideways in time, up and down in value'],
      ['Shift, drag', 'move'], ['double click', 'whole run']]) {
      make('dt', {}, list, key);
      make('dd', {}, list, what);
    }
  const close = make('button', {type: 'button'}, help, 'Close');
  close.onclick = () => help.close();
  return help;
}

function make_tools(help) {
  const tools = $('tools'), button = (text, title, act) => {
    const b = make('button', {type: 'button', title}, tools, text);
    b.onclick = act;
    return b;
  };
  tools.setAttribute('role', 'toolbar');
  tools.setAttribute('aria-label', 'Time and look');
  play_button = button('Play', 'Play in real time (Space)', () => play(!playing));
  slider = make('input', {type: 'range', min: 0, max: 1000, step: 1, value: 0, 'aria-label': 'Time'}, tools);
  slider.oninput = () => go_to(whole[0] + (slider.value / 1000) * (whole[1] - whole[0]));
  clock = make('output', {}, tools);
  if (interactive) {
    button('\u2212', 'Zoom out (\u2212)', () => zoom(2)).setAttribute('aria-label', 'Zoom out');
    button('+', 'Zoom in (+)', () => zoom(0.5)).setAttribute('aria-label', 'Zoom in');
    button('Whole run', 'Show the whole run (0)', () => show_range(whole));
  }
  const look = make('select', {'aria-label': 'Look', title: 'Look (D)'}, tools);
  for (const name of ['Auto', 'Light', 'Dark']) make('option', {value: name.toLowerCase()}, look, name);
  look.value = kept_look();
  look.onchange = () => set_look(look.value);
  button('?', 'Keys and mouse (?)', () => help.showModal()).setAttribute('aria-label', 'Keys and mouse');
  tools.hidden = false;
  if (!has_time) for (const part of tools.children) part.hidden = part !== look && part.textContent !== '?';
  followers.push((t) => {
    slider.value = 1000 * (t - whole[0]) / (whole[1] - whole[0]);
    slider.setAttribute('aria-valuetext', shown(t) + ' s');
    clock.value = 't = ' + minus(t.toFixed(3)) + ' s';
  });
  return look;
}

function next_event(direction) {
  const events = data.events.filter((e) => !hidden_kinds.has(e[1]));
  if (direction < 0) events.reverse();
  const found = events.find((e) => direction * (e[0] - time) > 1e-9);
  if (found) go_to(found[0]);
}

function make_keys(help, look) {
  const zoom_in = () => zoom(0.5), move = (pixels) => () => go_to(time + pixels * pixel());
  const previous = () => next_event(-1), next = () => next_event(1);
  const acts = {ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25), '+': zoom_in, '=': zoom_in,
    '-': () => zoom(2), 0: () => show_range(whole), ',': move(-1), '.': move(1), '<': move(-10),
    ';': move(-10), '>': move(10), ':': move(10), ' ': () => play(!playing), '[': previous, ']': next,
    p: previous, n: next,
    '?': () => help.showModal(),
    d: () => {
      const dark = root.dataset.look ? root.dataset.look === 'dark' : prefers_dark.matches;
      look.value = dark ? 'light' : 'dark';
      set_look(look.value);
    }};
  document.addEventListener('keydown', (event) => {
    const target = event.target.tagName, act = acts[event.key] || acts[event.key.toLowerCase()];
    if (!act || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || help.open) return;
    if (target === 'INPUT' || target === 'SELECT') return;
    if (event.key === ' ' && /^(BUTTON|SUMMARY|A)$/.test(target)) return;
    act();
    event.preventDefault();
  });
}

/* ---- events ---- */

const hidden_kinds = new Set();

function filter_events(items) {
  data.events.forEach((e, i) => { items[i].hidden = hidden_kinds.has(e[1]); });
  for (const plot of live.values()) plot.graph.updateOptions({});
}

function make_kinds(section, list, items) {
  if (data.kinds.length < 2) return;
  const bar = make('div', {class: 'kinds'});
  section.insertBefore(bar, list);
  for (const [name, count] of data.kinds) {
    const b = make('button', {type: 'button', 'aria-pressed': 'true'}, bar, name + ' (' + count + ')');
    b.onclick = () => {
      if (!hidden_kinds.delete(name)) hidden_kinds.add(name);
      b.setAttribute('aria-pressed', String(!hidden_kinds.has(name)));
      filter_events(items);
    };
  }
}

/* A list box: arrow keys go from event to event, and the cursor with them. */
function make_events() {
  const section = $('events');
  if (!section) return;
  const list = section.querySelector('ol'), items = [...list.children];
  let chosen = -1;
  const choose = (i) => {
    if (i < 0 || i >= items.length) return;
    if (chosen >= 0) items[chosen].setAttribute('aria-selected', 'false');
    chosen = i;
    items[i].setAttribute('aria-selected', 'true');
    list.setAttribute('aria-activedescendant', items[i].id);
    items[i].scrollIntoView({block: 'nearest'});
    go_to(data.events[i][0]);
  };
  const step = (direction) => {
    let i = chosen + direction;
    while (items[i] && items[i].hidden) i += direction;
    choose(i);
  };
  section.classList.add('ready');
  list.setAttribute('role', 'listbox');
  items.forEach((item, i) => {
    item.id = 'event' + i;
    item.setAttribute('role', 'option');
    item.onclick = () => choose(i);
  });
  list.onkeydown = (event) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    step(event.key === 'ArrowDown' ? 1 : -1);
    event.preventDefault();
  };
  make_kinds(section, list, items);
}

/* ---- machine ---- */

/* Directions to the right and up of a view, in axes of the machine. */
const views = {'x\u2013z': [[1, 0, 0], [0, 0, 1]], 'y\u2013z': [[0, 1, 0], [0, 0, 1]],
  'x\u2013y': [[1, 0, 0], [0, 1, 0]],
  oblique: [[0.866, -0.5, 0], [0.25, 0.433, 0.866]]};
const dot = (a, x, i) => a[0] * x[i] + a[1] * x[i + 1] + a[2] * x[i + 2];

function extents(points) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < points.length; i++) {
    low[i % 3] = Math.min(low[i % 3], points[i]);
    high[i % 3] = Math.max(high[i % 3], points[i]);
  }
  return high.map((h, k) => h - low[k]);
}

/* A machine that moves in a plane is seen at right angles to it. */
function first_view(size) {
  const most = Math.max(...size);
  if (size[1] < 0.02 * most) return 'x\u2013z';
  if (size[2] < 0.02 * most) return 'x\u2013y';
  return size[0] < 0.02 * most ? 'y\u2013z' : 'oblique';
}

/* A length of 1, 2 or 5 that is about so long. */
function round_length(x) {
  const power = Math.pow(10, Math.floor(Math.log10(x)));
  return (x >= 5 * power ? 5 : x >= 2 * power ? 2 : 1) * power;
}

const WIDTH = 300, HEIGHT = 240, MARGIN = 18;

/* Where the whole motion fits: scale and middle. */
function fit(view, points) {
  let box = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i + 2 < points.length; i += 3) {
    const x = dot(view[0], points, i), y = dot(view[1], points, i);
    box = [Math.min(box[0], x), Math.max(box[1], x), Math.min(box[2], y), Math.max(box[3], y)];
  }
  const wide = Math.max(box[1] - box[0], 1e-9), high = Math.max(box[3] - box[2], 1e-9);
  const scale = Math.min((WIDTH - 2 * MARGIN) / wide, (HEIGHT - 2 * MARGIN - 16) / high);
  return {scale, x: (box[0] + box[1]) / 2, y: (box[2] + box[3]) / 2};
}

function mark_path(kind, x, y) {
  if (kind === 10) return `M${x} ${y}v9M${x - 8} ${y + 9}h16m-14 0l-4 5m10 -5l-4 5m10 -5l-4 5`;
  const r = kind === 9 ? 6 : 3.6;
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
}

function zigzag(x0, y0, x1, y1) {
  const dx = x1 - x0, dy = y1 - y0, length = Math.hypot(dx, dy) || 1;
  let path = `M${x0} ${y0}`;
  for (let k = 1; k < 12; k++) {
    const side = k === 1 || k === 11 ? 0 : k % 2 ? 5 : -5;
    path += `L${x0 + (dx * k) / 12 - (dy * side) / length} ${y0 + (dy * k) / 12 + (dx * side) / length}`;
  }
  return path + `L${x1} ${y1}`;
}

function make_machine() {
  const m = data.machine, section = $('machine');
  if (!m || Math.max(...extents(array(m.points))) < 1e-6) return; /* nothing that has a shape */
  const times = array(m.t), points = array(m.points), per = 6 * m.parts.length;
  make('h2', {}, section, 'Machine');
  const svg = make('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img',
    'aria-label': 'The machine at the time of the cursor'}, section);
  const order = [3, 10, 1, 2, 6, 7, 4, 5, 9, 8], paths = [];
  for (const kind of order)
    m.parts.forEach(([k, name], i) => {
      if (k !== kind) return;
      const path = make('path', {class: 'f' + k}, svg);
      if (name) make('title', {}, path, name);
      paths.push([path, i, k]);
    });
  const bar = make('path', {class: 'axes'}, svg);
  const length = make('text', {x: MARGIN, y: HEIGHT - 12, class: 'scale'}, svg);
  let view, place;
  const draw = (t) => {
    const at = nearest(times, t - data.t0) * per;
    const X = (i) => (WIDTH / 2 + place.scale * (dot(view[0], points, i) - place.x)).toFixed(1) * 1;
    const Y = (i) => (HEIGHT / 2 - 8 - place.scale * (dot(view[1], points, i) - place.y)).toFixed(1) * 1;
    for (const [path, i, kind] of paths) {
      const a = at + 6 * i, b = a + 3;
      let d = `M${X(a)} ${Y(a)}L${X(b)} ${Y(b)}`;
      if (kind >= 8) d = mark_path(kind, X(a), Y(a));
      else if (kind === 6) d = zigzag(X(a), Y(a), X(b), Y(b));
      path.setAttribute('d', d);
    }
  };
  const look_from = (directions) => {
    view = directions;
    place = fit(view, points);
    const metres = round_length(70 / place.scale);
    const width = (metres * place.scale).toFixed(1);
    bar.setAttribute('d', `M${MARGIN} ${HEIGHT - 6}h${width}m0 -3v6M${MARGIN} ${HEIGHT - 9}v6`);
    length.textContent = metres >= 1 ? metres + ' m' : Math.round(1e6 * metres) / 1e3 + ' mm';
    draw(time);
  };
  const size = extents(points), flat = Math.min(...size) < 0.02 * Math.max(...size);
  look_from(views[first_view(size)]);
  if (!flat) make_views(section, svg, look_from, first_view(size));
  section.hidden = false;
  followers.push(draw);
}

/* Buttons, and turning with the pointer. */
function make_views(section, svg, look_from, chosen) {
  const bar = make('div', {class: 'views', role: 'group', 'aria-label': 'View'}, section), buttons = [];
  const press = (which) => buttons.forEach((b) => b.setAttribute('aria-pressed', String(b === which)));
  for (const name in views) {
    const b = make('button', {type: 'button', 'aria-pressed': String(name === chosen)}, bar, name);
    b.onclick = () => { look_from(views[name]); press(b); };
    buttons.push(b);
  }
  let yaw = -0.52, pitch = 0.52;
  svg.onpointerdown = (event) => svg.setPointerCapture(event.pointerId);
  svg.onpointermove = (event) => {
    if (!event.buttons) return;
    yaw += event.movementX * 0.01;
    pitch = Math.min(Math.max(pitch + event.movementY * 0.01, -1.57), 1.57);
    const c = Math.cos(yaw), s = Math.sin(yaw), p = Math.sin(pitch);
    look_from([[c, s, 0], [-s * p, c * p, Math.cos(pitch)]]);
    press(null);
  };
}

/* ---- begin ---- */

/* Plots come alive when they are near the window, and rest when they are far from it. */
function watch_plots() {
  if (!interactive) return;
  const observer = new IntersectionObserver((entries) => {
    for (const e of entries)
      if (e.isIntersecting) start_plot(e.target); else stop_plot(e.target);
  }, {rootMargin: '600px 0px'});
  for (const figure of document.querySelectorAll('figure[data-plot]')) observer.observe(figure);
}

/* What sticks below the head, and places a link leads to, need its height. */
function watch_head() {
  const head = document.querySelector('header');
  const tell = () => {
    const sticks = getComputedStyle(head).position === 'sticky';
    root.style.setProperty('--top', (sticks ? head.offsetHeight : 0) + 'px');
  };
  new ResizeObserver(tell).observe(head);
  tell();
}

const help = make_help(), look = make_tools(help);
watch_head();
make_keys(help, look);
make_events();
set_look(look.value);
make_machine();
prefers_dark.addEventListener('change', () => set_look(look.value));
watch_plots();
set_time(whole[0]);
})();
