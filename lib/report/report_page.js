/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page comes alive: one cursor of time over all plots, which are the pictures that are there; the machine that follows
 * it; zoom, by showing a part of each picture with new axes; events to jump to. Data: see report_data.c. */
(function () {
'use strict';

const $ = (id) => document.getElementById(id);
const data = JSON.parse($('data').textContent), root = document.documentElement;

function make(tag, attributes, parent, text) {
  const svg = ['svg', 'g', 'path', 'line', 'rect', 'text', 'title'].includes(tag);
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const name in attributes) e.setAttribute(name, attributes[name]);
  if (text !== undefined) e.textContent = text;
  if (parent) parent.appendChild(e);
  return e;
}

/* ---- numbers ---- */

const minus = (text) => text.replace(/-/g, '\u2212');
const raised = '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b';
const power_of_ten = (n) => '10' + String(n).replace(/./g, (c) => raised['0123456789-'.indexOf(c)]);
const plain = (x) => minus(String(Number(x.toPrecision(8))));
const pair = (text) => text.split(' ').map(Number);

/* A value that is known to so much: no more digits than that. */
function shown(x, known) {
  const size = Math.abs(x), decimals = Math.max(0, -Math.floor(Math.log10(known)));
  if (decimals > 6 || size >= 1e6) {
    const [digits, power] = x.toExponential(2).split('e');
    return minus(digits) + '\u00d7' + power_of_ten(Number(power));
  }
  return minus(x.toFixed(Math.min(decimals, 9)).replace(/^-(?=[0.]*$)/, ''));
}

/* Round values in a range. */
function ticks_of(range, about) {
  const raw = (range[1] - range[0]) / about, power = Math.pow(10, Math.floor(Math.log10(raw))), lead = raw / power;
  const step = power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10), ticks = [];
  for (let k = Math.ceil(range[0] / step - 1e-9); k * step <= range[1] + 1e-9 * step; k++) ticks.push(k * step);
  const size = Math.max(Math.abs(range[0]), Math.abs(range[1]));
  const exponent = size >= 0.01 && size < 1e6 ? 0 : 3 * Math.floor(Math.log10(size) / 3);
  return {at: ticks, exponent, label: (x) => plain(x / Math.pow(10, exponent))};
}

/* The same of decades: 1, 2 and 5 of each where there are few, round values in less than one. */
function decades_of(range) {
  if (range[1] - range[0] < 0.8) {
    const ticks = ticks_of(range.map((x) => Math.pow(10, x)), 5);
    return {at: ticks.at.map(Math.log10), exponent: ticks.exponent, label: (x) => ticks.label(Math.pow(10, x))};
  }
  const ticks = [], fine = range[1] - range[0] < 2, first = Math.floor(range[0]), last = Math.ceil(range[1]);
  const each = fine ? 1 : 1 + Math.floor((last - first) / 6);
  for (let k = first - first % each; k <= last; k += each)
    for (const m of fine ? [1, 2, 5] : [1]) {
      const at = k + Math.log10(m);
      if (at >= range[0] && at <= range[1]) ticks.push(at);
    }
  const label = (x) => {
    const power = Math.round(x);
    return Math.abs(power) > 4 && !fine ? power_of_ten(power) : plain(Math.pow(10, x));
  };
  return {at: ticks, exponent: 0, label};
}

/* ---- state ---- */

const whole = data.time, span = whole[1] - whole[0];
let range = whole.slice(), time = (whole[0] + whole[1]) / 2, playing = 0, printing = false;
const followers = []; /* called with the time */

/* ---- look ---- */

const prefers_dark = matchMedia('(prefers-color-scheme:dark)');
function set_look(look) {
  if (look === 'light' || look === 'dark') root.dataset.look = look;
  else delete root.dataset.look;
  try { localStorage.setItem('bramah-look', look); } catch (e) { /* not kept, then */ }
}

function kept_look() {
  const wanted = /[?&#]look=(light|dark)/.exec(location.href);
  if (wanted) return wanted[1];
  try { return localStorage.getItem('bramah-look') || 'auto'; } catch (e) { return 'auto'; }
}

/* ---- plots ---- */

/* The corners of a path of the picture: relative moves and lines, v, h and z. */
function corners(path) {
  const parts = path.getAttribute('d').match(/[mlvhz]|-?\d+/g) || [], out = [];
  let x = 0, y = 0, from = 0, command = '';
  for (let i = 0; i < parts.length;) {
    if (/[mlvhz]/.test(parts[i])) command = parts[i++];
    if (command === 'z') { if (out.length) { x = out[from][0]; y = out[from][1]; } command = ''; continue; }
    if (command === 'm' || command === 'l') { x += Number(parts[i++]); y += Number(parts[i++]); }
    else if (command === 'v') y += Number(parts[i++]);
    else if (command === 'h') x += Number(parts[i++]);
    else break;
    if (command === 'm') from = out.length;
    out.push([x, y, command === 'm']);
  }
  return out;
}

const plots = [...document.querySelectorAll('figure')].map((figure) => {
  const curves = figure.querySelector('.i');
  if (!curves) return null;
  const box = curves.viewBox.baseVal;
  const plot = {figure, curves, axes: figure.querySelector('.p>.g'), timed: figure.dataset.axis === 'time',
    log: figure.dataset.log === '1', names: figure.dataset.names === '1', unit: figure.dataset.unit,
    x: pair(figure.dataset.x), y: pair(figure.dataset.y), wide: box.width, high: box.height, seen: false};
  plot.view = {x: plot.x, y: plot.y};
  return plot;
}).filter(Boolean);

/* Where a value of time is in the picture, and what a height in it means. */
const place_x = (plot, t) => plot.wide * (t - plot.x[0]) / (plot.x[1] - plot.x[0]);
const height_to_axis = (plot, y) => plot.y[1] - (y / plot.high) * (plot.y[1] - plot.y[0]);

/* All curves with their corners, worked out when they are needed first. */
function curves_of(plot) {
  if (!plot.list)
    plot.list = [...plot.curves.querySelectorAll('path')].map((path) => ({css: path.classList[0], at: corners(path)}));
  return plot.list;
}

/* Upper and lower end, in the picture, of what lies between two places. */
function visible_heights(plot, from, to) {
  let top = Infinity, bottom = -Infinity;
  for (const curve of curves_of(plot)) {
    let before = null;
    for (const p of curve.at) {
      /* A line that crosses an edge counts where it does. */
      const ends = [p];
      if (before && !p[2] && p[0] !== before[0])
        for (const edge of [from, to])
          if ((before[0] - edge) * (p[0] - edge) < 0)
            ends.push([edge, before[1] + (p[1] - before[1]) * (edge - before[0]) / (p[0] - before[0])]);
      for (const q of ends)
        if (q[0] >= from && q[0] <= to && q[1] > -plot.high / 2 && q[1] < 1.5 * plot.high) {
          top = Math.min(top, q[1]);
          bottom = Math.max(bottom, q[1]);
        }
      before = p;
    }
  }
  return top <= bottom ? [top, bottom] : null;
}

function draw_axes(plot) {
  const {axes, view} = plot, group = axes.querySelector('g'), width = axes.getBoundingClientRect().width || 600;
  const area = plot.figure.querySelector('.p>.i').height.baseVal.value;
  const y = plot.log ? decades_of(view.y) : ticks_of(view.y, 5), x = ticks_of(view.x, Math.max(2, Math.min(printing ? 5 : 10, width / 75)));
  const names = [...group.querySelectorAll('.tag')];
  const percent = (share) => (100 * share).toFixed(3) + '%';
  const unit = plot.unit === '1' ? '' : plot.unit;
  group.replaceChildren(...names);
  if (!plot.names)
    for (const at of x.at) {
      const share = percent((at - view.x[0]) / (view.x[1] - view.x[0]));
      make('line', {class: 'g', x1: share, x2: share, y1: 0, y2: '100%'}, group);
      make('text', {class: 'x', x: share, y: area + 17}, group, x.label(at));
    }
  for (const at of y.at) {
    const share = percent((view.y[1] - at) / (view.y[1] - view.y[0]));
    make('line', {class: at === 0 && !plot.log ? 'z' : 'g', x1: 0, x2: '100%', y1: share, y2: share}, group);
    make('text', {class: 'y', x: -7, y: share, dy: 4}, group, y.label(at));
  }
  make('text', {class: 'u', x: -58, y: -11}, group, (y.exponent ? '\u00d7' + power_of_ten(y.exponent) + ' ' : '') + unit);
}

/* A part of the picture: the times of all plots, and the heights that are there. */
function show_part(plot) {
  if (plot.timed) {
    const from = place_x(plot, range[0]), to = place_x(plot, range[1]);
    let top = 0, bottom = plot.high;
    const found = is_whole() ? null : visible_heights(plot, from, to);
    if (found) {
      const air = Math.max(0.06 * (found[1] - found[0]), plot.high / 400);
      top = found[0] - air;
      bottom = found[1] + air;
    }
    plot.curves.setAttribute('viewBox', `${from} ${top} ${to - from} ${bottom - top}`);
    plot.view = {x: range, y: [height_to_axis(plot, bottom), height_to_axis(plot, top)]};
    draw_marks(plot);
  }
  draw_axes(plot);
  plot.stale = false;
}

/* Small marks of the events at the upper edge. */
function draw_marks(plot) {
  for (const old of plot.axes.querySelectorAll('.mark-event')) old.remove();
  for (const [t, kind] of data.events.slice(0, 2000))
    if (t >= range[0] && t <= range[1] && !hidden_kinds.has(kind))
      make('rect', {class: 'mark-event', x: (100 * (t - range[0]) / (range[1] - range[0])).toFixed(3) + '%', y: 0,
                    width: 2, height: 7}, plot.axes);
}

const is_whole = () => range[1] - range[0] > 0.999 * span;

/* The middle of a line at a place: it may jump there; NaN between its parts. */
function height_at(points, x) {
  let low = 0, high = points.length - 1;
  if (high < 0 || x < points[0][0] || x > points[high][0]) return NaN;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (points[middle][0] <= x) low = middle; else high = middle;
  }
  const [a, b] = [points[low], points[Math.min(high, points.length - 1)]];
  if (a[0] === b[0]) return b[1];
  if (b[2]) return x === a[0] ? a[1] : x === b[0] ? b[1] : NaN;
  return a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0]);
}

function place_cursor(plot) {
  if (!plot.timed) return;
  const x = place_x(plot, time);
  if (!plot.cursor) {
    plot.cursor = make('line', {class: 'cursor', y1: -plot.high, y2: 2 * plot.high}, plot.curves);
    plot.values = new Map();
    for (const key of plot.figure.querySelectorAll('.l>span'))
      if ('eta'.includes(key.dataset.role)) plot.values.set(key.dataset.role, make('span', {class: 'v'}, key));
  }
  plot.cursor.setAttribute('x1', x);
  plot.cursor.setAttribute('x2', x);
  for (const [role, out] of plot.values) {
    const curve = curves_of(plot).find((c) => c.css === role), y = curve ? height_at(curve.at, x) : NaN;
    const value = height_to_axis(plot, y), known = (plot.y[1] - plot.y[0]) / plot.high;
    out.textContent = isNaN(y) ? '\u2013' : plot.log ? shown(Math.pow(10, value), Math.pow(10, value) / 100)
                                                     : shown(value, 3 * known);
  }
}

/* ---- time ---- */

let slider, clock;

function set_time(t) {
  time = Math.min(Math.max(t, whole[0]), whole[1]);
  for (const plot of plots) if (plot.seen) place_cursor(plot);
  for (const follow of followers) follow(time);
}

let drawing = 0;
function show_range(wanted) {
  let width = Math.min(wanted[1] - wanted[0], span);
  width = Math.max(width, span / 500);
  const from = Math.min(Math.max(wanted[0], whole[0]), whole[1] - width);
  range = [from, from + width];
  for (const plot of plots) if (plot.timed) plot.stale = true;
  if (!drawing) drawing = setTimeout(() => { drawing = 0; for (const plot of plots) if (plot.seen && plot.stale) show_part(plot); });
}

const pan = (share) => show_range(range.map((x) => x + share * (range[1] - range[0])));

function zoom(factor) {
  const centre = time >= range[0] && time <= range[1] ? time : (range[0] + range[1]) / 2;
  show_range(range.map((x) => centre + (x - centre) * factor));
}

/* Bring the cursor into view. */
function go_to(t) {
  set_time(t);
  if (time >= range[0] && time <= range[1]) return;
  const half = (range[1] - range[0]) / 2;
  show_range([time - half, time + half]);
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

/* The pointer over a plot: the cursor follows; what is dragged sideways is shown large. */
function make_pointer(plot) {
  const area = plot.curves;
  let from = null, box = null;
  const at = (event) => {
    const r = area.getBoundingClientRect();
    return range[0] + (range[1] - range[0]) * (event.clientX - r.left) / r.width;
  };
  /* A picture without a background is not met between its curves. */
  make('rect', {x: 0, y: -plot.high, width: plot.wide, height: 3 * plot.high, fill: 'none', 'pointer-events': 'all'}, area);
  area.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    from = at(event);
    area.setPointerCapture(event.pointerId);
  });
  area.addEventListener('pointermove', (event) => {
    const t = at(event);
    if (!playing) set_time(t);
    if (from === null) return;
    if (!box) box = make('rect', {class: 'drag', y: -plot.high, height: 3 * plot.high}, area);
    box.setAttribute('x', place_x(plot, Math.min(from, t)));
    box.setAttribute('width', Math.abs(place_x(plot, t) - place_x(plot, from)));
  });
  const end = (event) => {
    const t = at(event), start = from;
    if (box) box.remove();
    from = box = null;
    if (start !== null && event.type === 'pointerup' && Math.abs(t - start) > 0.01 * (range[1] - range[0]))
      show_range([Math.min(start, t), Math.max(start, t)]);
  };
  area.addEventListener('pointerup', end);
  area.addEventListener('pointercancel', end);
  area.addEventListener('dblclick', () => show_range(whole));
}

/* Only plots near the window are worked on. */
function watch_plots() {
  const observer = new IntersectionObserver((entries) => {
    for (const e of entries) {
      const plot = plots.find((p) => p.figure === e.target);
      plot.seen = e.isIntersecting;
      if (!plot.seen) continue;
      if (plot.stale) show_part(plot);
      place_cursor(plot);
    }
  }, {rootMargin: '300px 0px'});
  for (const plot of plots) {
    plot.stale = true;
    if (plot.timed) make_pointer(plot);
    observer.observe(plot.figure);
    plot.seen = plot.figure.getBoundingClientRect().top < innerHeight + 300; /* the first time without it */
    if (plot.seen) show_part(plot);
  }
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth === width) return;
    width = innerWidth;
    for (const plot of plots) { plot.stale = true; if (plot.seen) show_part(plot); }
  });
}

/* On paper everything is open, whole and in sight. */
function watch_print() {
  let closed = [];
  addEventListener('beforeprint', () => {
    printing = true;
    show_range(whole);
    closed = [...document.querySelectorAll('details:not([open])')];
    for (const d of closed) d.open = true;
    for (const plot of plots) show_part(plot);
  });
  addEventListener('afterprint', () => {
    printing = false;
    for (const plot of plots) plot.stale = true;
    for (const d of closed) d.open = false;
  });
}

/* ---- tools and keys ---- */

const keys = [['\u2190 \u2192', 'move the view'], ['+ \u2212', 'zoom about the cursor'], ['0', 'whole run'],
  [', .', 'cursor one pixel back, on (with Shift: ten)'], ['Space', 'play, pause'],
  ['P N', 'previous event, next event (or [ ])'], ['W', 'the worst window'], ['D', 'light, dark'], ['?', 'this help']];

function make_help() {
  const help = make('dialog', {'aria-label': 'Keys and mouse'}, document.body);
  make('h2', {}, help, 'Keys and mouse');
  const list = make('dl', {}, help);
  for (const [key, what] of keys) {
    const term = make('dt', {}, list);
    key.split(' ').forEach((k) => { make('kbd', {}, term, k); term.append(' '); });
    make('dd', {}, list, what);
  }
  for (const [key, what] of [['drag', 'zoom'], ['double click', 'whole run']]) {
    make('dt', {}, list, key);
    make('dd', {}, list, what);
  }
  const close = make('button', {type: 'button'}, help, 'Close');
  close.onclick = () => help.close();
  return help;
}

function make_tools(help) {
  const tools = $('tools'), timed = plots.some((p) => p.timed) || data.motions.some((m) => !m.name);
  const button = (text, title, act) => {
    const b = make('button', {type: 'button', title}, tools, text);
    b.onclick = act;
    return b;
  };
  tools.setAttribute('role', 'toolbar');
  tools.setAttribute('aria-label', 'Time and look');
  if (timed) {
    play_button = button('Play', 'Play in real time (Space)', () => play(!playing));
    slider = make('input', {type: 'range', min: 0, max: 1000, step: 1, value: 500, 'aria-label': 'Time'}, tools);
    slider.oninput = () => go_to(whole[0] + (slider.value / 1000) * span);
    clock = make('output', {}, tools);
    for (const [text, title, name, factor] of [['\u2212', 'Zoom out (\u2212)', 'Zoom out', 2], ['+', 'Zoom in (+)', 'Zoom in', 0.5]]) {
      const b = button(text, title, () => zoom(factor));
      b.setAttribute('aria-label', name);
      b.className = 'wide';
    }
    button('Whole run', 'Show the whole run (0)', () => show_range(whole));
    followers.push((t) => {
      slider.value = 1000 * (t - whole[0]) / span;
      slider.setAttribute('aria-valuetext', t.toFixed(3) + ' s');
      clock.value = 't = ' + minus(t.toFixed(3)) + ' s';
    });
  }
  const look = make('select', {'aria-label': 'Look', title: 'Look (D)'}, tools);
  for (const name of ['Auto', 'Light', 'Dark']) make('option', {value: name.toLowerCase()}, look, name);
  look.value = kept_look();
  look.onchange = () => set_look(look.value);
  if (timed) button('?', 'Keys and mouse (?)', () => help.showModal()).setAttribute('aria-label', 'Keys and mouse');
  tools.hidden = false;
  return look;
}

/* The window of the answer, with a quarter of it on both sides. */
function show_window() {
  const link = $('window');
  if (!link) return;
  const begin = Number(link.dataset.begin), end = Number(link.dataset.end);
  show_range([begin - (end - begin) / 4, end + (end - begin) / 4]);
  set_time((begin + end) / 2);
}

function next_event(direction) {
  const events = data.events.filter((e) => !hidden_kinds.has(e[1]));
  if (direction < 0) events.reverse();
  const found = events.find((e) => direction * (e[0] - time) > 1e-9);
  if (found) go_to(found[0]);
}

function make_keys(help, look) {
  const zoom_in = () => zoom(0.5), move = (pixels) => () => go_to(time + pixels * (range[1] - range[0]) / 600);
  const previous = () => next_event(-1), next = () => next_event(1);
  const acts = {ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25), '+': zoom_in, '=': zoom_in,
    '-': () => zoom(2), 0: () => show_range(whole), ',': move(-1), '.': move(1), '<': move(-10),
    ';': move(-10), '>': move(10), ':': move(10), ' ': () => play_button && play(!playing), '[': previous, ']': next,
    p: previous, n: next, w: () => { if ($('window')) $('window').click(); },
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
  if ($('window')) $('window').addEventListener('click', show_window);
}

/* ---- events ---- */

const hidden_kinds = new Set();

function make_kinds(section, list, items) {
  if (data.kinds.length < 2) return;
  const bar = make('div', {class: 'kinds'});
  section.insertBefore(bar, list);
  for (const [name, count] of data.kinds) {
    const b = make('button', {type: 'button', 'aria-pressed': 'true'}, bar, name + ' (' + count + ')');
    b.onclick = () => {
      if (!hidden_kinds.delete(name)) hidden_kinds.add(name);
      b.setAttribute('aria-pressed', String(!hidden_kinds.has(name)));
      data.events.forEach((e, i) => { items[i].hidden = hidden_kinds.has(e[1]); });
      for (const plot of plots) if (plot.seen && plot.timed) draw_marks(plot);
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
    list.scrollTop = items[i].offsetTop - list.offsetTop - list.clientHeight / 2;
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

/* Times and points of a motion from its tracks. */
function unpack(m) {
  const sums = (text) => { let sum = 0; return text.split(' ').map((d) => (sum += Number(d))); };
  const t = sums(m.t).map((k) => m.start + k * m.step), tracks = [];
  for (const p of m.points) {
    if (Array.isArray(p)) tracks.push(tracks[p[0]]);
    else tracks.push(typeof p === 'number' ? [p * m.scale] : sums(p).map((k) => k * m.scale));
  }
  return {name: m.name, text: m.text, parts: m.parts, t, tracks};
}

/* Coordinate k between two poses. */
const coordinate = (m, k, i, share) => {
  const track = m.tracks[k];
  return track.length === 1 ? track[0] : track[i] + share * (track[Math.min(i + 1, track.length - 1)] - track[i]);
};

/* The pose before a time, and how far it is to the next. */
function pose_at(m, t) {
  let low = 0, high = m.t.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (m.t[middle] <= t) low = middle; else high = middle - 1;
  }
  const width = low + 1 < m.t.length ? m.t[low + 1] - m.t[low] : 1;
  return [low, Math.min(Math.max((t - m.t[low]) / width, 0), low + 1 < m.t.length ? 1 : 0)];
}

/* Directions to the right and up of a view, in axes of the machine. */
const views = {'x\u2013z': [[1, 0, 0], [0, 0, 1]], 'y\u2013z': [[0, 1, 0], [0, 0, 1]],
  'x\u2013y': [[1, 0, 0], [0, 1, 0]],
  oblique: [[0.866, -0.5, 0], [0.25, 0.433, 0.866]]};

function extents(m) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  m.tracks.forEach((track, k) => {
    for (const x of track) { low[k % 3] = Math.min(low[k % 3], x); high[k % 3] = Math.max(high[k % 3], x); }
  });
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

const WIDTH = 640, HEIGHT = 400, MARGIN = 30;

/* Where the whole motion fits: scale and middle. */
function fit(view, m) {
  let box = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < m.t.length; i++)
    for (let k = 0; k < m.tracks.length; k += 3) {
      const p = [0, 1, 2].map((a) => coordinate(m, k + a, i, 0));
      const x = view[0].reduce((s, v, a) => s + v * p[a], 0), y = view[1].reduce((s, v, a) => s + v * p[a], 0);
      box = [Math.min(box[0], x), Math.max(box[1], x), Math.min(box[2], y), Math.max(box[3], y)];
    }
  const wide = Math.max(box[1] - box[0], 1e-9), high = Math.max(box[3] - box[2], 1e-9);
  const scale = Math.min((WIDTH - 2 * MARGIN) / wide, (HEIGHT - 2 * MARGIN - 24) / high);
  return {scale, x: (box[0] + box[1]) / 2, y: (box[2] + box[3]) / 2};
}

function mark_path(kind, x, y) {
  if (kind === 10) return `M${x} ${y}v14M${x - 13} ${y + 14}h26m-22 0l-6 8m14 -8l-6 8m14 -8l-6 8`;
  const r = kind === 9 ? 9 : 5.5;
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
}

function zigzag(x0, y0, x1, y1) {
  const dx = x1 - x0, dy = y1 - y0, length = Math.hypot(dx, dy) || 1;
  let path = `M${x0} ${y0}`;
  for (let k = 1; k < 12; k++) {
    const side = k === 1 || k === 11 ? 0 : k % 2 ? 8 : -8;
    path += `L${x0 + (dx * k) / 12 - (dy * side) / length} ${y0 + (dy * k) / 12 + (dx * side) / length}`;
  }
  return path + `L${x1} ${y1}`;
}

/* One motion in an svg of its own; returns what draws it at a time. */
function make_motion(m, section) {
  const svg = make('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img',
    'aria-label': m.name ? 'The machine in ' + m.name : 'The machine at the time of the cursor'}, section);
  const order = [3, 10, 1, 2, 6, 7, 4, 5, 9, 8], paths = [], ghosts = [];
  for (const still of m.name ? [true, false] : [false])
    for (const kind of order)
      m.parts.forEach(([k, name], i) => {
        if (k !== kind || (still && kind >= 8)) return;
        const path = make('path', {class: still ? 'f' + k + ' ghost' : 'f' + k}, svg);
        if (name) make('title', {}, path, name);
        (still ? ghosts : paths).push([path, i, k]);
      });
  const bar = make('path', {class: 'axes'}, svg), length = make('text', {x: MARGIN, y: HEIGHT - 14, class: 'scale'}, svg);
  let view, where, now = m.t[0];
  const put = (list, t) => {
    const [i, share] = pose_at(m, t);
    const seen = (k) => {
      const p = [0, 1, 2].map((a) => coordinate(m, k + a, i, share));
      const x = view[0].reduce((s, v, a) => s + v * p[a], 0), y = view[1].reduce((s, v, a) => s + v * p[a], 0);
      return [(WIDTH / 2 + where.scale * (x - where.x)).toFixed(1) * 1, (HEIGHT / 2 - 12 - where.scale * (y - where.y)).toFixed(1) * 1];
    };
    for (const [path, part, kind] of list) {
      const a = seen(6 * part), b = seen(6 * part + 3);
      let d = `M${a[0]} ${a[1]}L${b[0]} ${b[1]}`;
      if (kind >= 8) d = mark_path(kind, a[0], a[1]);
      else if (kind === 6) d = zigzag(a[0], a[1], b[0], b[1]);
      path.setAttribute('d', d);
    }
  };
  const draw = (t) => { now = t; put(paths, t); };
  const look_from = (directions) => {
    view = directions;
    where = fit(view, m);
    const metres = round_length(110 / where.scale), width = (metres * where.scale).toFixed(1);
    bar.setAttribute('d', `M${MARGIN} ${HEIGHT - 6}h${width}m0 -3v6M${MARGIN} ${HEIGHT - 9}v6`);
    length.textContent = metres >= 1 ? metres + ' m' : Math.round(1e6 * metres) / 1e3 + ' mm';
    put(ghosts, m.t[0]);
    draw(now);
  };
  const size = extents(m), flat = Math.min(...size) < 0.02 * Math.max(...size);
  look_from(views[first_view(size)]);
  if (!flat) make_views(section, svg, look_from, first_view(size));
  return draw;
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

/* The machine of the run follows the cursor; motions with names go on by themselves, one at a time. */
function make_machine() {
  const motions = data.motions.map(unpack).filter((m) => Math.max(...extents(m)) > 1e-6), section = $('machine');
  if (!motions.length) return;
  section.hidden = false;
  if (!motions[0].name) { followers.push(make_motion(motions[0], section)); return; }
  const choice = make('select', {'aria-label': 'Mode'}, section), told = make('p', {class: 'told'}, section);
  const host = make('div', {}, section), still = matchMedia('(prefers-reduced-motion:reduce)').matches;
  let shown_now = 0, begin = 0, draw = null;
  motions.forEach((m, i) => make('option', {value: i}, choice, m.name));
  const choose = (i) => {
    const m = motions[i];
    shown_now = i;
    choice.value = i;
    host.replaceChildren();
    told.textContent = m.text;
    draw = make_motion(m, host);
    draw(0.25 * m.t[m.t.length - 1]);
    begin = performance.now();
  };
  choice.onchange = () => choose(Number(choice.value));
  choose(0);
  if (still) return;
  requestAnimationFrame(function step(now) {
    const long = motions[shown_now].t[motions[shown_now].t.length - 1];
    draw((0.25 * long + Math.max(now - begin, 0) / 1000) % long);
    requestAnimationFrame(step);
  });
}

/* ---- begin ---- */

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
watch_plots();
watch_print();
set_time(time);
})();
