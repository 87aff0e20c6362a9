/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of a display. One reader for both of its sources: a recording in the page, or a server (display.json, events, control). What
 * arrives is shown as text and numbers only, never as markup. */
'use strict';
(() => {
const $ = (id) => document.getElementById(id);
const root = document.documentElement;
const Z = 1.959964; /* of the 95 % band */
const STALE = 1; /* [s] without a frame after which values are old */
const KEPT = 1800; /* frames of a live source that plots look back on: a minute */

const element = (name, attributes, ...children) => {
  const e = document.createElement(name);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  e.append(...children);
  return e;
};
const svg = (name, attributes, text) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  if (text !== undefined) e.textContent = text;
  return e;
};
const set = (e, attributes) => { for (const k in attributes) e.setAttribute(k, attributes[k]); };
const write = (e, text) => { if (e.textContent !== text) e.textContent = text; };
const clamp = (x, a, b) => Math.min(Math.max(x, a), b);

let display, frames = [], now = null, at = -1; /* frame shown and its number */
let verdict = null;

/* ---- numbers in words ---- */

const percent = (p) => p < 0.001 ? 'less than 0.1 %' : p > 0.995 ? 'more than 99 %' : `${(100 * p).toPrecision(2)} %`;
/* Digits that a value with this band deserves: two of the band, no more than a thousandth of the scale, or four of the value. */
const digits = (band, scale, value) => {
  const finest = scale > 0 ? Math.ceil(-Math.log10(scale / 1000)) : 3 - Math.floor(Math.log10(Math.max(Math.abs(value || 0), 1)));
  const by = band > 0 ? 1 - Math.floor(Math.log10(band)) : finest;
  return clamp(Math.min(by, finest), 0, 9);
};
const short = (unit) => unit.replace(/\bdeg\b/, '°');
const fixed = (x, n) => {
  const text = x.toFixed(n);
  return (Number(text) === 0 ? text.replace('-', '') : text).replace('-', '−');
};
const plain = (x) => String(Number(x.toPrecision(6))).replace('-', '−');

/* ---- what a frame says of a gauge ---- */

const read = (g, frame) => {
  const raw = frame.values[g.output], s = frame.sigmas[g.output];
  const value = raw === null ? null : (g.offset + g.scale * raw) / g.factor;
  const sigma = s === null ? null : Math.abs(g.scale) * s / g.factor;
  const p = frame.probability[g.number];
  const lost = g.sensors.filter((i) => frame.sensors[i] === 'lost').map((i) => display.sensors[i]);
  const wide = g.most_sigma !== null && sigma !== null && sigma * g.factor > g.most_sigma;
  return {value, sigma, p, lost, critical: p !== null && p >= g.probability, unknown: value === null || lost.length > 0 || wide};
};
const beyond = (g) => {
  const unit = g.unit === 'deg' ? '°' : g.unit ? ` ${g.unit}` : '';
  const a = g.above === null ? null : plain(g.above / g.factor), b = g.below === null ? null : plain(g.below / g.factor);
  if (a !== null && b !== null) return g.above === -g.below ? `beyond ±${a}${unit}` : `below ${b} or above ${a}${unit}`;
  return a !== null ? `above ${a}${unit}` : `below ${b}${unit}`;
};

/* ---- gauges ---- */

const polar = (x, y, r, angle) => [x + r * Math.sin(angle), y - r * Math.cos(angle)];
const arc = (x, y, r, a, b) => {
  const [x1, y1] = polar(x, y, r, a), [x2, y2] = polar(x, y, r, b);
  return `M${x1.toFixed(2)} ${y1.toFixed(2)}A${r} ${r} 0 ${b - a > Math.PI ? 1 : 0} 1 ${x2.toFixed(2)} ${y2.toFixed(2)}`;
};
const sector = (x, y, r, a, b) => `M${x} ${y}L${polar(x, y, r, a).join(' ')}A${r} ${r} 0 ${b - a > Math.PI ? 1 : 0} 1 ${polar(x, y, r, b).join(' ')}Z`;
const rounds = (low, high, n, unit) => {
  const rough = (high - low) / n, ten = 10 ** Math.floor(Math.log10(rough));
  const steps = unit === 'deg' && rough > 10 ? [15, 30, 45, 90, 180, 360] : [1, 2, 2.5, 5, 10].map((k) => k * ten);
  const step = steps.find((k) => k >= rough * 0.999), out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) out.push(Math.abs(k * step) < 1e-12 ? 0 : k * step);
  return out;
};

/* Each kind: builds its picture, returns what moves it. */
const pictures = {
  dial(g, picture) {
    const x = 100, y = 96, r = 74, [low, high] = g.range.map((v) => v / g.factor);
    const angle = (v) => (clamp((v - low) / (high - low), -0.02, 1.02) - 0.5) * 4.2;
    set(picture, {viewBox: '0 0 200 150'});
    picture.append(svg('path', {class: 'track', d: arc(x, y, r, angle(low), angle(high))}));
    if (g.recommended) picture.append(svg('path', {class: 'good', d: arc(x, y, r + 12, ...g.recommended.map((v) => angle(v / g.factor)))}));
    if (g.above !== null && g.above / g.factor < high) picture.append(svg('path', {class: 'danger', d: arc(x, y, r + 12, angle(g.above / g.factor), angle(high))}));
    if (g.below !== null && g.below / g.factor > low) picture.append(svg('path', {class: 'danger', d: arc(x, y, r + 12, angle(low), angle(g.below / g.factor))}));
    for (const v of rounds(low, high, g.size > 1 ? 5 : 3.5, g.unit)) {
      const [x1, y1] = polar(x, y, r - 7, angle(v)), [x2, y2] = polar(x, y, r - 14, angle(v)), [tx, ty] = polar(x, y, r - (g.size > 1 ? 28 : 34), angle(v));
      picture.append(svg('line', {class: 'tick', x1, y1, x2, y2}), svg('text', {x: tx, y: ty + 5}, plain(v)));
    }
    for (const m of g.marks || []) {
      const a = angle(m / g.factor);
      picture.append(svg('path', {class: 'mark', d: `M${polar(x, y, r + 9, a).join(' ')}L${polar(x, y, r + 21, a - 0.07).join(' ')}L${polar(x, y, r + 21, a + 0.07).join(' ')}Z`}));
    }
    const band = svg('path', {class: 'band'}), needle = svg('path', {class: 'needle'});
    picture.append(band, needle);
    return (v, b) => {
      set(band, {d: b === null ? '' : arc(x, y, r, angle(v - b), Math.max(angle(v + b), angle(v - b) + 0.004))});
      const a = angle(v);
      set(needle, {d: `M${polar(x, y, r - 13, a).map((n) => n.toFixed(2)).join(' ')}L${polar(x, y, r + 8, a).map((n) => n.toFixed(2)).join(' ')}`});
    };
  },
  bar(g, picture) {
    const [low, high] = g.range.map((v) => v / g.factor);
    const px = (v) => 12 + 176 * clamp((v - low) / (high - low), -0.01, 1.01);
    set(picture, {viewBox: '0 0 200 72'});
    const line = (name, a, b, y, height) => svg('rect', {class: name, x: px(a), width: Math.max(px(b) - px(a), 1), y, height});
    const track = line('track', low, high, 22, 14);
    picture.append(track);
    const flat = (name, a, b) => picture.append(svg('path', {class: name, d: `M${px(a)} 14H${px(b)}`}));
    if (g.recommended) flat('good', ...g.recommended.map((v) => v / g.factor));
    if (g.above !== null && g.above / g.factor < high) flat('danger', g.above / g.factor, high);
    if (g.below !== null && g.below / g.factor > low) flat('danger', low, g.below / g.factor);
    for (const v of rounds(low, high, g.size > 1 ? 8 : 4)) picture.append(svg('line', {class: 'tick', x1: px(v), x2: px(v), y1: 42, y2: 49}), svg('text', {x: px(v), y: g.size > 1 ? 64 : 68}, plain(v)));
    for (const m of g.marks || []) picture.append(svg('path', {class: 'mark', d: `M${px(m / g.factor)} 18l-6 -13h12Z`}));
    const band = svg('path', {class: 'band'}), needle = svg('path', {class: 'needle'});
    picture.append(band, needle);
    return (v, b) => {
      set(band, {d: b === null ? '' : `M${px(v - b).toFixed(2)} 29H${Math.max(px(v + b), px(v - b) + 0.5).toFixed(2)}`});
      set(needle, {d: `M${px(v).toFixed(2)} 12V46`});
    };
  },
  tilt(g, picture) {
    const x = 100, y = 84, r = 70, turn = Math.PI / 180 * (g.unit === 'rad' ? 180 / Math.PI : 1);
    const [low, high] = g.range.map((v) => v / g.factor), right = Math.PI / 2;
    const clip = `clip-${g.number}`;
    set(picture, {viewBox: '0 0 200 164'});
    const hole = svg('clipPath', {id: clip});
    hole.append(svg('circle', {cx: x, cy: y, r: r - 10}));
    const view = svg('g', {'clip-path': `url(#${clip})`});
    view.append(svg('rect', {class: 'sky', x: 0, y: 0, width: 200, height: y}), svg('rect', {class: 'earth', x: 0, y, width: 200, height: 100}));
    picture.append(hole, view, svg('circle', {class: 'track', cx: x, cy: y, r: r - 3}));
    for (const side of [-1, 1]) {
      const of = (v) => side * right + v * turn;
      const put = (name, a, b) => picture.append(svg('path', {class: name, d: arc(x, y, r + 9, of(a), of(b))}));
      if (g.above !== null && g.above / g.factor < high) put('danger', g.above / g.factor, high);
      if (g.below !== null && g.below / g.factor > low) put('danger', low, g.below / g.factor);
      for (const v of rounds(low, high, g.size > 1 ? 6 : 3)) {
        const [x1, y1] = polar(x, y, r - 8, of(v)), [x2, y2] = polar(x, y, r + 4, of(v)), [tx, ty] = polar(x, y, r + (g.size > 1 ? 23 : 32), of(v));
        picture.append(svg('line', {class: 'tick', x1, y1, x2, y2}), svg('text', {x: tx, y: ty + 4}, plain(Math.abs(v))));
      }
    }
    const bands = [svg('path', {class: 'wedge'}), svg('path', {class: 'wedge'})];
    const machine = svg('g', {});
    machine.append(svg('path', {class: 'figure', d: 'M-34 4h68v8h-68ZM-22 -8h44v11h-44ZM-10 -30h24v21h-24Z'}), svg('path', {class: 'needle', d: 'M-66 0H-40M40 0H66'}));
    picture.append(...bands, machine);
    return (v, b) => {
      const w = clamp(v, -90, 90);
      set(machine, {transform: `translate(${x} ${y}) rotate(${(w * turn * 180 / Math.PI).toFixed(3)})`});
      bands.forEach((band, k) => set(band, {d: b === null ? '' : sector(x, y, r, (k ? right : -right) + (w - Math.min(b, 80)) * turn, (k ? right : -right) + (w + Math.min(b, 80)) * turn)}));
    };
  },
  lamp(g, picture) {
    set(picture, {viewBox: '0 0 200 80'});
    picture.append(svg('circle', {class: 'lamp', cx: 100, cy: 40, r: 30}));
    return () => {};
  },
  number: () => () => {},
  text: () => () => {},
};

const gauges = [];
const build = (g, number) => {
  g.number = number;
  const label = element('div', {class: 'label', id: `label-${number}`}, g.label);
  const box = element('figure', {class: `gauge ${g.kind} s${g.size}`, role: 'group', 'aria-labelledby': `label-${number}`, 'data-name': g.name});
  if (g.place[0] > 0) {
    box.classList.add('placed');
    box.style.setProperty('--column', g.place[0]);
    box.style.setProperty('--row', g.place[1]);
    box.style.setProperty('--size', g.size);
  }
  const picture = svg('svg', {'aria-hidden': 'true'});
  const move = pictures[g.kind](g, picture);
  const big = element('b', {}), unit = element('span', {class: g.unit === 'deg' ? 'unit degree' : 'unit'}, short(g.unit)), pm = element('span', {class: 'pm'});
  const value = element('div', {class: 'value'}, big, unit, pm), note = element('div', {class: 'note'});
  box.append(label);
  if (picture.childNodes.length) box.append(picture);
  box.append(value, note);
  $('gauges').append(box);
  const scale = g.range ? (g.range[1] - g.range[0]) / g.factor : 0;
  let last = '';
  gauges.push({g, box, note, update(frame) {
    const r = read(g, frame), b = r.sigma === null || r.sigma <= 0 ? null : Z * r.sigma;
    box.classList.toggle('critical', r.critical);
    box.classList.toggle('unknown', r.unknown);
    box.dataset.value = r.value === null ? '' : frame.values[g.output];
    box.dataset.sigma = r.sigma === null ? '' : frame.sigmas[g.output];
    box.dataset.probability = r.p === null ? '' : r.p;
    const n = digits(b === null ? 0 : b, scale, r.value);
    const word = g.kind === 'text' && r.value !== null ? g.texts[Math.round(r.value - (g.range ? g.range[0] / g.factor : 0))] : undefined;
    write(big, r.value === null ? '–' : word !== undefined ? word : g.kind === 'lamp' ? (r.critical ? 'ON' : 'off') : fixed(r.value, n));
    write(pm, g.kind === 'text' || g.kind === 'lamp' || r.value === null ? '' : r.sigma === null ? '± not known' : b === null ? '' : fixed(b, n) === fixed(0, n) ? `± less than ${fixed(10 ** -n, n)}` : `± ${fixed(b, n)}`);
    unit.hidden = word !== undefined || g.kind === 'lamp';
    if (r.value !== null) move(r.value, b);
    const said = [];
    if (r.critical) said.push(`CRITICAL: ${percent(r.p)} likely ${beyond(g)}`);
    if (r.lost.length) said.push(`UNCERTAIN: ${r.lost.length > 2 ? `${r.lost.length} sensors` : r.lost.join(' and ')} lost`);
    else if (r.unknown) said.push(r.value === null ? 'no value' : 'UNCERTAIN: too little is known');
    if (!said.length && r.p !== null && r.p >= 0.001) said.push(`${percent(r.p)} likely ${beyond(g)}`);
    if (!root.classList.contains('old')) write(note, said.join('. '));
    /* To screen readers the value when they ask; changes of state are announced once. */
    box.setAttribute('aria-description', `${big.textContent} ${g.unit} ${pm.textContent}. ${said.join('. ')}`);
    const state = r.critical ? 'critical' : r.unknown ? 'uncertain' : '';
    if (state !== last && last !== null) announce(state ? `${g.label}: ${said.join('. ')}` : `${g.label}: ${last} no longer`);
    last = state;
    return r.critical ? `${g.label}: ${percent(r.p)} likely ${beyond(g)}` : null;
  }});
};

/* At most one announcement in two seconds, the last ones together. */
let waiting = [], spoken = 0;
const announce = (text) => { waiting.push(text); waiting = waiting.slice(-4); };
setInterval(() => {
  if (!waiting.length || performance.now() - spoken < 2000) return;
  $('said').textContent = waiting.join('. ');
  waiting = [];
  spoken = performance.now();
}, 250);

/* ---- sensors, events, verdict ---- */

const chips = [];
const words = {used: 'used', rejected: 'rejected', lost: 'LOST', bias: 'bias', doubtful: 'doubtful'};
const buildSensors = () => display.sensors.forEach((name) => {
  const chip = element('li', {'data-state': 'used'});
  chips.push(chip);
  $('sensors').querySelector('ul').append(chip);
});
const showSensors = (frame) => {
  let bad = 0;
  frame.sensors.forEach((state, i) => {
    if (chips[i].dataset.state !== state || !chips[i].textContent) {
      chips[i].dataset.state = state;
      chips[i].textContent = `${display.sensors[i]}: ${words[state] || state}`;
    }
    bad += state !== 'used';
  });
  const text = frame.sensors.map((state, i) => state === 'used' ? null : `${display.sensors[i]}: ${words[state] || state}`).filter((t) => t);
  if ($('bad').dataset.text !== text.join()) $('bad').replaceChildren(...text.map((t) => element('li', {}, t)));
  $('bad').dataset.text = text.join();
  write($('sensors').querySelector('summary'), `Sensors: ${frame.sensors.length - bad} of ${frame.sensors.length} used${bad ? `, ${bad} not` : ''}`);
};
const showVerdict = (v) => {
  if (!v) return;
  const level = v.level || (v.contradicted || v.broken_off || v.doubted ? 'wrong' : /short/.test(v.text) ? 'unsure' : 'fine');
  $('verdict').className = level;
  write($('verdict'), `${{fine: '✓', unsure: '?', wrong: '✗'}[level]} ${/^verdict/i.test(v.text) ? '' : 'Verdict: '}${v.text}`);
};

let events = [];
const event = (t, kind, text) => {
  events.push({t, kind, text});
  if (events.length > 500) events = events.slice(-400);
  listed = false;
};
let listed = true;
const showEvents = () => {
  if (listed) return;
  listed = true;
  const until = now && recording ? now.t + 1e-9 : Infinity;
  const rows = events.filter((e) => e.t === null || e.t <= until).slice(-40).reverse();
  $('events').querySelector('ol').replaceChildren(...rows.map((e) => element('li', {}, element('b', {}, e.t === null ? 'whole run' : `${e.t.toFixed(2)} s`), ` ${e.kind}: ${e.text}`)));
};
/* What changes from one frame to the next. */
const compare = (before, frame) => {
  if (recording) frame.sensors.forEach((state, i) => { /* a server says so itself */
    if (state !== (before ? before.sensors[i] : 'used')) event(frame.t, 'sensor', `${display.sensors[i]} ${state}`);
  });
  for (const g of display.gauges) {
    const a = before ? read(g, before) : {critical: false}, b = read(g, frame);
    if (a.critical !== b.critical) event(frame.t, b.critical ? 'critical' : 'no longer critical', `${g.label} ${beyond(g)}${b.p === null ? '' : `: ${percent(b.p)} likely`}`);
  }
  compareScenario(before, frame);
};

/* ---- the scenario ---- */

const steps = [];
const marks = {waiting: '○', active: '▸', done: '✓', failed: '✗'};
const buildScenario = () => {
  const s = display.scenario;
  if (!s) return;
  $('scenario').hidden = false;
  write($('scenario-title'), s.title);
  for (const task of s.tasks) {
    const mark = element('b', {'aria-hidden': 'true'}), note = element('small', {}), item = element('li', {'data-task': task.name}, mark, element('span', {}, task.name.replace(/_/g, ' ')), note);
    steps.push({task, item, mark, note});
    $('tasks').append(item);
  }
};
/* What a task comes to, in words: screen readers have no marks. */
const stepNote = (is, runs) => {
  if (is.is === 'waiting') return runs ? 'to come' : 'not begun';
  if (is.is === 'done') return `done at ${is.ended.toFixed(1)} s${is.sure < 0.995 ? `, ${percent(is.sure)} sure` : ''}${is.lost > 0 ? `, late: −${plain(is.lost)}` : ''}`;
  if (is.is === 'failed') return `failed at ${is.ended.toFixed(1)} s`;
  const left = is.left === null ? '' : is.left >= 0 ? `, ${is.left.toFixed(0)} s left` : `, ${(-is.left).toFixed(0)} s late`;
  return `now${is.now === null ? '' : is.now >= display.scenario.confidence ? ', holds' : is.now >= 0.05 ? `, ${percent(is.now)} likely` : ''}${left}`;
};
let told = null, instructed = '';
const showScenario = (frame) => {
  const s = display.scenario, is = frame.scenario;
  if (!s || !is) return;
  const active = [];
  steps.forEach((step, k) => {
    const task = is.tasks[k];
    step.item.dataset.state = task.is;
    step.item.dataset.sure = task.sure;
    if (task.is === 'active') { step.item.setAttribute('aria-current', 'step'); active.push(k); } else step.item.removeAttribute('aria-current');
    write(step.mark, marks[task.is]);
    write(step.note, stepNote(task, is.is === 'runs'));
  });
  const failed = is.tasks.filter((t) => t.is !== 'done').length;
  const text = is.is === 'over' ? failed ? `Over: ${is.tasks.length - failed} of ${is.tasks.length} tasks done` : 'All tasks are done' : is.is === 'late' ? 'The time is up' : is.is === 'broken' ? 'Broken down'
    : active.map((k) => s.tasks[k].instruction).join('. ') || 'Wait';
  write($('instruction'), text);
  if (text !== instructed && told !== null) announce(text);
  instructed = text;
  told = is.is;
  $('scenario').className = is.is;
  /* Of the estimates the score is known as well as they are. */
  const band = Z * is.sigma, n = digits(band, s.most, is.score);
  const score = `${fixed(is.score, 0)} of ${plain(s.most)}`;
  if ($('score').dataset.text !== `${score} ${is.expected} ${band}`) {
    $('score').dataset.text = `${score} ${is.expected} ${band}`;
    $('score').replaceChildren('Score ', element('b', {}, fixed(is.score, Number.isInteger(is.score) ? 0 : 1)), ` of ${plain(s.most)}`,
      element('span', {}, `${is.judge === 'truth' ? ', by the truth' : band > 0.05 ? `, truly ${fixed(is.expected, n)} ± ${fixed(band, n)}` : ''}${is.left !== null ? `, ${Math.max(is.left, 0).toFixed(0)} s left` : ''}`));
  }
  write($('penalties'), is.penalties.map((p, k) => p.times ? `${s.penalties[k].text}: ${p.times} ×, −${plain(Math.round(10 * p.lost) / 10)}${p.on ? ' (now)' : ''}` : '').filter((t) => t).join('. '));
  for (const g of gauges) g.box.classList.toggle('wanted', is.is === 'runs' && active.some((k) => s.tasks[k].gauges.includes(g.g.number)));
  const down = is.breakdowns.map((b, k) => b.on ? {text: s.breakdowns[k].text, now: b.now, since: b.since} : null).find((b) => b)
    || (is.is === 'broken' ? {text: is.penalties.map((p, k) => p.on ? s.penalties[k].text : '').filter((t) => t).join('. ') || 'Broken down', now: null, since: is.ended} : null);
  const words = down ? `${down.text} ${is.judge === 'truth' || down.now === null ? '' : `${percent(down.now)} likely`}` : '';
  if ($('breakdown').dataset.text !== words) {
    $('breakdown').dataset.text = words;
    $('breakdown').replaceChildren(...(down ? [down.text, element('small', {}, `at ${down.since.toFixed(1)} s${is.judge === 'truth' || down.now === null ? '' : `, ${percent(down.now)} likely`}`)] : []));
  }
  $('breakdown').hidden = !down;
};
const compareScenario = (before, frame) => {
  const s = display.scenario, is = frame.scenario, was = before && before.scenario;
  if (!s || !is) return;
  is.tasks.forEach((task, k) => {
    const a = was ? was.tasks[k].is : 'waiting';
    if (task.is === a) return;
    if (task.is === 'active') event(frame.t, 'instruction', s.tasks[k].instruction);
    if (task.is === 'done' || task.is === 'failed') event(task.ended, task.is, s.tasks[k].name);
  });
  is.penalties.forEach((p, k) => { if (p.times > (was ? was.penalties[k].times : 0)) event(p.since, 'penalty', s.penalties[k].text); });
  is.breakdowns.forEach((p, k) => { if (p.times > (was ? was.breakdowns[k].times : 0)) event(p.since, 'BREAKDOWN', `${s.breakdowns[k].text}${p.now === null || is.judge === 'truth' ? '' : `: ${percent(p.now)} likely`}`); });
  if (is.is !== 'runs' && (!was || was.is === 'runs')) event(is.ended, 'scenario', `score ${fixed(is.score, 1)} of ${plain(s.most)}`);
};

/* ---- plots ---- */

const plots = [];
const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
const addPlot = (output) => {
  const o = display.outputs[output];
  if (!o || plots.some((p) => p.output === output) || plots.length >= 12) return;
  const shown = element('span', {}), close = element('button', {type: 'button', 'aria-label': `Remove ${o.name}`}, '×');
  const canvas = element('canvas', {role: 'img', 'aria-label': `${o.name} over time with its 95 % band`});
  const figure = element('figure', {class: 'plot'}, element('figcaption', {}, `${o.name}${o.unit ? ` [${o.unit}]` : ''}`, shown, close), canvas);
  const plot = {output, canvas, shown, o};
  close.onclick = () => { plots.splice(plots.indexOf(plot), 1); figure.remove(); };
  canvas.onclick = (e) => {
    if (!recording || !plot.span) return;
    const [t0, t1, left, width] = plot.span;
    goTo(t0 + (t1 - t0) * clamp((e.offsetX - left) / width, 0, 1));
  };
  plots.push(plot);
  $('plot-list').append(figure);
  drawn = 0;
};
const drawPlot = (plot, colours) => {
  const {canvas, o, output} = plot, w = canvas.clientWidth, h = canvas.clientHeight, ratio = devicePixelRatio || 1;
  if (!w || !frames.length) return;
  if (canvas.width !== Math.round(w * ratio)) { canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio); }
  const c = canvas.getContext('2d');
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, w, h);
  const last = frames[frames.length - 1].t;
  const t0 = recording ? frames[0].t : Math.max(frames[0].t, last - 60), t1 = Math.max(last, t0 + 1e-3);
  const shown = frames.filter((f) => f.t >= t0), step = Math.max(1, Math.floor(shown.length / (2 * w)));
  let low = Infinity, high = -Infinity;
  const points = [];
  for (let k = 0; k < shown.length; k += step) {
    const f = shown[k], v = f.values[output];
    if (v === null) { points.push(null); continue; }
    const b = f.sigmas[output] === null ? 0 : Z * f.sigmas[output];
    points.push([f.t, v / o.factor, b / o.factor]);
    low = Math.min(low, v / o.factor); high = Math.max(high, v / o.factor);
  }
  if (!(low <= high)) return;
  /* A band much wider than the curve does not squeeze it. */
  const room = Math.max(high - low, 1e-9 * Math.abs(high), 1e-12);
  for (const p of points) if (p) { low = Math.min(low, Math.max(p[1] - p[2], p[1] - 3 * room)); high = Math.max(high, Math.min(p[1] + p[2], p[1] + 3 * room)); }
  const pad = 0.06 * (high - low) || 1;
  low -= pad; high += pad;
  const left = 58, top = 6, bottom = h - 20, width = w - left - 8;
  plot.span = [t0, t1, left, width];
  const x = (t) => left + width * (t - t0) / (t1 - t0), y = (v) => bottom - (bottom - top) * (v - low) / (high - low);
  c.font = '13px system-ui, sans-serif';
  c.fillStyle = colours.dim; c.strokeStyle = colours.line; c.lineWidth = 1;
  c.textAlign = 'right'; c.textBaseline = 'middle';
  for (const v of rounds(low, high, 4)) { c.beginPath(); c.moveTo(left, y(v)); c.lineTo(w - 8, y(v)); c.stroke(); c.fillText(plain(v), left - 6, y(v)); }
  c.textAlign = 'center'; c.textBaseline = 'top';
  for (const t of rounds(t0, t1, 6)) c.fillText(`${plain(t)} s`, clamp(x(t), left + 8, w - 18), bottom + 4);
  const line = (get) => { c.beginPath(); let on = false; for (const p of points) { if (!p) { on = false; continue; } c[on ? 'lineTo' : 'moveTo'](x(p[0]), y(get(p))); on = true; } };
  c.save();
  c.beginPath(); c.rect(left, top, width, bottom - top); c.clip();
  c.fillStyle = colours.band;
  const band = points.filter((p) => p);
  c.beginPath();
  band.forEach((p, k) => c[k ? 'lineTo' : 'moveTo'](x(p[0]), y(p[1] + p[2])));
  for (let k = band.length; k-- > 0;) c.lineTo(x(band[k][0]), y(band[k][1] - band[k][2]));
  c.closePath(); c.fill();
  c.strokeStyle = colours.e; c.lineWidth = 2;
  line((p) => p[1]); c.stroke();
  for (const g of display.gauges) if (g.output === output && g.scale === 1 && g.offset === 0) for (const v of [g.above, g.below]) if (v !== null) {
    c.strokeStyle = colours.bad; c.setLineDash([6, 4]); c.beginPath(); c.moveTo(left, y(v / o.factor)); c.lineTo(w, y(v / o.factor)); c.stroke(); c.setLineDash([]);
  }
  if (now) { c.strokeStyle = colours.fg; c.lineWidth = 1.5; c.beginPath(); c.moveTo(x(now.t), top); c.lineTo(x(now.t), bottom); c.stroke(); }
  c.restore();
};
let drawn = 0;
const drawPlots = (time) => {
  if (time - drawn < (recording && !playing ? 0 : 100)) return;
  drawn = time;
  const colours = {e: css('--e'), band: css('--band'), dim: css('--dim'), line: css('--line'), bad: css('--bad'), fg: css('--fg')};
  for (const p of plots) {
    drawPlot(p, colours);
    if (!now) continue;
    const v = now.values[p.output], s = now.sigmas[p.output];
    const b = s === null ? 0 : Z * s / p.o.factor, n = digits(b, 0, v === null ? 0 : v / p.o.factor);
    write(p.shown, v === null ? '–' : `${fixed(v / p.o.factor, n)}${b > 0 ? ` ± ${fixed(b, n)}` : ''}`);
  }
};

/* ---- the machine in 3-D ---- */

const vec = {
  sub: (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]],
  add: (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]],
  scale: (a, s) => [a[0] * s, a[1] * s, a[2] * s],
  cross: (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]],
  dot: (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2],
  unit: (a) => { const n = Math.hypot(...a) || 1; return [a[0] / n, a[1] / n, a[2] / n]; },
};
/* Point of a body in space; body -1 is the ground. */
const place = (pose, p) => {
  if (!pose) return p;
  const [x, y, z, w, i, j, k] = pose, u = [i, j, k];
  const t = vec.add(vec.cross(u, p), vec.scale(p, w)), c = vec.cross(u, t);
  return [x + p[0] + 2 * c[0], y + p[1] + 2 * c[1], z + p[2] + 2 * c[2]];
};
const rows = (R, v) => [R[0] * v[0] + R[1] * v[1] + R[2] * v[2], R[3] * v[0] + R[4] * v[1] + R[5] * v[2], R[6] * v[0] + R[7] * v[1] + R[8] * v[2]];

/* Triangles with normals: [x y z nx ny nz] each corner. */
const face = (out, corners) => {
  const n = vec.unit(vec.cross(vec.sub(corners[1], corners[0]), vec.sub(corners[2], corners[0])));
  for (let k = 1; k + 1 < corners.length; k++) for (const c of [corners[0], corners[k], corners[k + 1]]) out.push(...c, ...n);
};
const box = (out, centre, size, R) => {
  const at = (i, j, k) => {
    const v = [(i - 0.5) * size[0], (j - 0.5) * size[1], (k - 0.5) * size[2]];
    return vec.add(centre, R ? rows(R, v) : v);
  };
  for (const f of [[[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]], [[0, 0, 0], [0, 0, 1], [0, 1, 1], [0, 1, 0]], [[0, 1, 0], [0, 1, 1], [1, 1, 1], [1, 1, 0]],
    [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]], [[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]]])
    face(out, f.map((c) => at(...c)));
};
const across = (axis) => vec.unit(vec.cross(axis, Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [0, 1, 0]));
const tube = (out, a, b, r1, r2, sides) => {
  const axis = vec.unit(vec.sub(b, a)), u = across(axis), v = vec.cross(axis, u), ring = [];
  for (let k = 0; k < sides; k++) {
    const s = Math.sin(2 * Math.PI * k / sides), c = Math.cos(2 * Math.PI * k / sides);
    ring.push(vec.add(vec.scale(u, c), vec.scale(v, s)));
  }
  for (let k = 0; k < sides; k++) {
    const n = ring[k], m = ring[(k + 1) % sides];
    const q = [vec.add(a, vec.scale(n, r1)), vec.add(a, vec.scale(m, r1)), vec.add(b, vec.scale(m, r2)), vec.add(b, vec.scale(n, r2))];
    for (const [c, d] of [[0, n], [1, m], [2, m], [0, n], [2, m], [3, n]]) out.push(...q[c], ...d);
  }
  face(out, ring.map((n) => vec.add(b, vec.scale(n, r2))));
  face(out, ring.map((n) => vec.add(a, vec.scale(n, r1))).reverse());
};
const ball = (out, c, r) => {
  const n = 12;
  const at = (i, j) => [Math.sin(Math.PI * i / n) * Math.cos(2 * Math.PI * j / n), Math.sin(Math.PI * i / n) * Math.sin(2 * Math.PI * j / n), Math.cos(Math.PI * i / n)];
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) for (const [a, b] of [[i, j], [i + 1, j], [i + 1, j + 1], [i, j], [i + 1, j + 1], [i, j + 1]]) {
    const d = at(a, b);
    out.push(...vec.add(c, vec.scale(d, r)), ...d);
  }
};
/* Faces of a convex hull: planes through three corners with all others on one side. */
const hull = (out, p) => {
  const seen = [];
  for (let i = 0; i < p.length; i++) for (let j = i + 1; j < p.length; j++) for (let k = j + 1; k < p.length; k++) {
    let n = vec.cross(vec.sub(p[j], p[i]), vec.sub(p[k], p[i]));
    if (Math.hypot(...n) < 1e-9) continue;
    n = vec.unit(n);
    const d = p.map((q) => vec.dot(n, vec.sub(q, p[i])));
    if (Math.max(...d) > 1e-6) { if (Math.min(...d) < -1e-6) continue; n = vec.scale(n, -1); }
    const o = vec.dot(n, p[i]);
    if (seen.some((s) => vec.dot(s.n, n) > 1 - 1e-6 && Math.abs(s.o - o) < 1e-6)) continue;
    seen.push({n, o});
    const on = p.filter((q) => Math.abs(vec.dot(n, q) - o) < 1e-6), u = across(n), v = vec.cross(n, u);
    const m = vec.scale(on.reduce(vec.add), 1 / on.length);
    on.sort((a, b) => Math.atan2(vec.dot(v, vec.sub(a, m)), vec.dot(u, vec.sub(a, m))) - Math.atan2(vec.dot(v, vec.sub(b, m)), vec.dot(u, vec.sub(b, m))));
    face(out, on);
  }
};
const triples = (list) => { const out = []; for (let k = 0; k < list.length; k += 3) out.push(list.slice(k, k + 3)); return out; };

const scene = {gl: null, parts: [], size: 1, centre: [0, 0, 0], half: [1, 1, 1], turn: -0.9, lift: 0.35, far: 1, ghost: true};
const colour = {steel: [0.30, 0.33, 0.37], bright: [0.80, 0.83, 0.86], dark: [0.16, 0.17, 0.19], paint: [0.93, 0.66, 0.08], ground: [0.52, 0.47, 0.40], soil: [0.42, 0.31, 0.2], grid: [0.5, 0.55, 0.6]};

/* The box around some points: what the first look shows. */
const frameBox = (spots) => {
  for (let k = 0; k < 3 && spots.length; k++) {
    let a = Infinity, b = -Infinity;
    for (const p of spots) { a = Math.min(a, p[k]); b = Math.max(b, p[k]); }
    scene.centre[k] = (a + b) / 2;
    scene.half[k] = (b - a) / 2;
  }
  scene.size = 2 * Math.max(...scene.half) || 1;
};

const buildScene = () => {
  const first = frames[0] || null;
  const drawnBodies = new Set(display.shapes.filter((s) => s.kind !== 'plate').map((s) => s.body));
  /* What welded bodies have as shapes does not hide the beams of what carries them, unless that has some too. */
  const named = new Set(display.shapes.filter((s) => s.of === display.bodies[s.body]).map((s) => s.body));
  const parts = [];
  const spots = first ? display.lines.flatMap((l) => [0, 1].map((e) => place(first.bodies[l.bodies[e]], l.points.slice(3 * e, 3 * e + 3)))) : [];
  frameBox(spots);
  const thin = 0.012 * scene.size;
  for (const s of display.shapes) {
    const out = [], inner = (p) => vec.add(s.r, rows(s.R, p));
    const R = s.rotation ? [0, 1, 2].flatMap((i) => [0, 1, 2].map((j) => [0, 1, 2].reduce((sum, k) => sum + s.R[3 * i + k] * s.rotation[3 * k + j], 0))) : s.R;
    if (s.kind === 'box') box(out, inner(s.centre), s.size, R);
    if (s.kind === 'sphere') ball(out, inner(s.centre), s.radius);
    if (s.kind === 'capsule') { const [a, b] = triples(s.ends).map(inner); tube(out, a, b, s.radius, s.radius, 14); ball(out, a, s.radius); ball(out, b, s.radius); }
    if (s.kind === 'hull') hull(out, triples(s.corners).map(inner));
    if (s.kind === 'plate') { const c = triples(s.corners).map(inner); face(out, c); face(out, [...c].reverse()); }
    if (s.kind === 'wheel') {
      const axis = vec.unit(rows(s.R, s.axis)), c = inner(s.centre), half = Math.max(s.width, thin) / 2;
      tube(out, vec.add(c, vec.scale(axis, -half)), vec.add(c, vec.scale(axis, half)), s.radius, s.radius, 28);
      const hub = [];
      tube(hub, vec.add(c, vec.scale(axis, -half * 1.04)), vec.add(c, vec.scale(axis, half * 1.04)), 0.5 * s.radius, 0.5 * s.radius, 6);
      parts.push({data: hub, body: s.body, colour: colour.bright});
    }
    const dark = s.kind === 'wheel' || /track|crawler|tyre|undercarriage/.test(s.of);
    parts.push({data: out, body: s.body, colour: dark ? colour.dark : /counter|ballast|cab/.test(s.of) ? colour.steel : s.kind === 'plate' ? colour.steel : colour.paint});
  }
  for (const l of display.lines) {
    const [a, b] = triples(l.points), out = [];
    if (l.kind === 'cylinder') {
      /* Lengths change: drawn anew from a unit piece. */
      const unit = [], rod = [], r = l.radius || 1.6 * thin;
      tube(unit, [0, 0, 0], [0, 0, 1], 1, 1, 14);
      tube(rod, [0, 0, 0], [0, 0, 1], 1, 1, 10);
      parts.push({data: unit, line: l, a, b, from: 0, to: l.length, radius: 1.25 * r, colour: colour.steel},
        {data: rod, line: l, a, b, from: l.length, to: null, radius: l.rod || 0.6 * r, colour: colour.bright});
      continue;
    }
    if (l.kind === 'spring' || l.kind === 'bar' || l.kind === 'slide') {
      tube(out, [0, 0, 0], [0, 0, 1], 1, 1, 8);
      parts.push({data: out, line: l, a, b, from: 0, to: null, radius: 0.5 * thin, colour: colour.bright});
      continue;
    }
    const hidden = named.has(l.bodies[0]) || (drawnBodies.has(l.bodies[0]) && l.kind !== 'joint' && named.has(l.bodies[0]));
    if (hidden && l.kind !== 'joint') continue;
    if (l.kind === 'joint' || l.kind === 'rotary') {
      if (hidden || named.has(l.bodies[1])) continue;
      ball(out, a, (l.kind === 'rotary' ? 2.2 : 1.4) * thin);
      parts.push({data: out, body: l.bodies[0], colour: colour.steel});
    } else {
      const r = l.kind === 'lug' ? 0.8 * thin : 1.7 * thin;
      tube(out, a, b, r, l.kind === 'lug' ? 0.6 * r : 0.75 * r, 10);
      parts.push({data: out, body: l.bodies[0], colour: colour.paint});
    }
  }
  /* All that is drawn is in the picture, not only where joints and lines are. */
  for (const p of parts) if (first && !p.line) for (let k = 0; k < p.data.length; k += 6) spots.push(place(first.bodies[p.body], p.data.slice(k, k + 3)));
  frameBox(spots);
  scene.first = first && first.bodies[0] ? first.bodies[0].slice(0, 3) : null;
  scene.parts = parts;
};

/* The field: of a machine that is simulated as it is there, else as the machine file has it. Heights change from frame to frame. */
const field = {about: null, heights: null, vertices: null, axes: null, changed: false};
const openField = () => {
  const t = field.about = display.soil || display.terrain || null;
  if (!t) return;
  const z = vec.unit(display.up || [0, 0, 1]), along = Math.abs(z[0]) < 0.999 ? [1, 0, 0] : [0, 1, 0];
  const x = vec.unit(vec.sub(along, vec.scale(z, vec.dot(z, along))));
  field.axes = [x, vec.cross(z, x), z];
  field.heights = Float32Array.from(t.heights);
  field.vertices = new Float32Array(6 * t.nx * t.ny);
  for (let i = 0; i < t.nx; i++) for (let j = 0; j < t.ny; j++) setVertex(i, j);
};
const setVertex = (i, j) => {
  const t = field.about, h = field.heights, [x, y, z] = field.axes;
  const at = (a, b) => h[clamp(a, 0, t.nx - 1) * t.ny + clamp(b, 0, t.ny - 1)];
  const p = [t.origin[0] + (i + 0.5) * t.cell, t.origin[1] + (j + 0.5) * t.cell, at(i, j)];
  const n = vec.unit([at(i - 1, j) - at(i + 1, j), at(i, j - 1) - at(i, j + 1), 2 * t.cell]);
  for (let k = 0; k < 3; k++) {
    field.vertices[6 * (i * t.ny + j) + k] = x[k] * p[0] + y[k] * p[1] + z[k] * p[2];
    field.vertices[6 * (i * t.ny + j) + 3 + k] = x[k] * n[0] + y[k] * n[1] + z[k] * n[2];
  }
};
/* What a frame says of the soil: runs of cells with their heights in mm. */
const moveSoil = (frame) => {
  if (!frame.soil || !field.about || !display.soil) return;
  const t = field.about, touched = new Set();
  for (const [first, ...heights] of frame.soil.cells) heights.forEach((mm, k) => {
    const c = first + k;
    if (c >= field.heights.length || field.heights[c] === Math.fround(mm / 1000)) return;
    field.heights[c] = mm / 1000;
    for (const d of [0, -1, 1, -t.ny, t.ny]) touched.add(c + d);
  });
  for (const c of touched) if (c >= 0 && c < field.heights.length) setVertex(Math.floor(c / t.ny), c % t.ny);
  field.changed = field.changed || touched.size > 0;
};
/* Particles of soil: small eight-sided things. */
const grains = (list, radius) => {
  const [x, y, z] = field.axes, out = new Float32Array(list.length / 3 * 8 * 18), ends = [x, y, z].map((a) => vec.scale(a, radius));
  let o = 0;
  for (let k = 0; k < list.length; k += 3) {
    const c = vec.add(vec.add(vec.scale(x, list[k] / 100), vec.scale(y, list[k + 1] / 100)), vec.scale(z, list[k + 2] / 100));
    for (let s = 0; s < 8; s++) {
      const signs = [s & 1 ? 1 : -1, s & 2 ? 1 : -1, s & 4 ? 1 : -1], e = ends.map((v, i) => vec.scale(v, signs[i]));
      const n = vec.unit(vec.add(vec.add(e[0], e[1]), e[2]));
      for (const v of e) { for (let i = 0; i < 3; i++) { out[o + i] = c[i] + v[i]; out[o + 3 + i] = n[i]; } o += 6; }
    }
  }
  return out;
};

/* The plane something stands on, or the field. */
const groundMesh = () => {
  const out = [], t = field.about;
  if (t) {
    const index = [];
    for (let i = 0; i + 1 < t.nx; i++) for (let j = 0; j + 1 < t.ny; j++) {
      const c = i * t.ny + j;
      index.push(c, c + t.ny, c + t.ny + 1, c, c + t.ny + 1, c + 1);
    }
    return {data: field.vertices, index, colour: colour.ground, lines: false};
  }
  const up = vec.unit(display.up || [0, 0, 1]), u = across(up), v = vec.cross(up, u), o = display.ground || [0, 0, 0];
  const step = 10 ** Math.round(Math.log10(scene.size / 6)), n = Math.ceil(1.6 * scene.size / step);
  const c = display.ground ? vec.sub(scene.centre, vec.scale(up, vec.dot(up, vec.sub(scene.centre, o)))) : vec.sub(scene.centre, vec.scale(up, 0.6 * scene.size));
  for (let k = -n; k <= n; k++) for (const [a, b] of [[u, v], [v, u]]) {
    out.push(...vec.add(c, vec.add(vec.scale(a, k * step), vec.scale(b, -n * step))), ...up);
    out.push(...vec.add(c, vec.add(vec.scale(a, k * step), vec.scale(b, n * step))), ...up);
  }
  return {data: out, colour: colour.grid, lines: true};
};

const startScene = () => {
  buildScene();
  const canvas = $('scene'), gl = canvas.getContext('webgl', {antialias: true, preserveDrawingBuffer: true});
  if (!gl) {
    $('machine').append(element('p', {class: 'note'}, 'This browser has no WebGL: the machine is not drawn.'));
    canvas.hidden = true;
    return;
  }
  const shader = (type, text) => { const s = gl.createShader(type); gl.shaderSource(s, text); gl.compileShader(s); return s; };
  const program = gl.createProgram();
  gl.attachShader(program, shader(gl.VERTEX_SHADER, `attribute vec3 p,n;uniform mat4 m,v;varying vec3 d;
    void main(){d=(m*vec4(n,0.)).xyz;gl_Position=v*(m*vec4(p,1.));}`));
  gl.attachShader(program, shader(gl.FRAGMENT_SHADER, `precision mediump float;varying vec3 d;uniform vec4 c;uniform float plain;
    void main(){vec3 k=normalize(d);float l=.42+.5*max(dot(k,vec3(.37,-.55,.75)),0.)+.14*max(dot(k,vec3(-.7,.5,.3)),0.);gl_FragColor=vec4(c.rgb*mix(l,1.,plain),c.a);}`));
  gl.linkProgram(program);
  gl.useProgram(program);
  scene.at = {p: gl.getAttribLocation(program, 'p'), n: gl.getAttribLocation(program, 'n')};
  for (const name of ['m', 'v', 'c', 'plain']) scene.at[name] = gl.getUniformLocation(program, name);
  scene.gl = gl;
  const upload = (part) => {
    part.n = part.data.length / 6;
    part.buffer = part.buffer || gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, part.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(part.data), gl.DYNAMIC_DRAW);
    part.data = null;
    if (!part.index) return;
    part.n = part.index.length;
    part.order = gl.createBuffer();
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, part.order);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint16Array(part.index), gl.STATIC_DRAW);
    part.index = null;
  };
  scene.upload = upload;
  scene.parts.forEach(upload);
  scene.ground = groundMesh();
  upload(scene.ground);
  $('ground').hidden = !display.soil;
  const look = {side: [-Math.PI / 2, 0.02], front: [0, 0.02], top: [-Math.PI / 2, 1.5], free: [-0.9, 0.35]};
  for (const b of $('views').querySelectorAll('[data-view]')) b.onclick = () => { [scene.turn, scene.lift] = look[b.dataset.view]; scene.far = 1; dirty = true; };
  const ghosts = frames.some((f) => f.model) || (now && now.model);
  $('ghost').hidden = !ghosts;
  $('ghost').onclick = () => { scene.ghost = !scene.ghost; $('ghost').setAttribute('aria-pressed', scene.ghost); dirty = true; };
  const fingers = new Map();
  canvas.onpointerdown = (e) => { fingers.set(e.pointerId, [e.clientX, e.clientY]); canvas.setPointerCapture(e.pointerId); };
  canvas.onpointerup = canvas.onpointercancel = (e) => fingers.delete(e.pointerId);
  canvas.onpointermove = (e) => {
    const from = fingers.get(e.pointerId);
    if (!from) return;
    const others = [...fingers].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
    if (others.length) {
      const d = (p) => Math.hypot(p[0] - others[0][0], p[1] - others[0][1]);
      scene.far = clamp(scene.far * d(from) / Math.max(d([e.clientX, e.clientY]), 1), 0.15, 6);
    } else {
      scene.turn -= 0.008 * (e.clientX - from[0]);
      scene.lift = clamp(scene.lift + 0.008 * (e.clientY - from[1]), -0.2, 1.55);
    }
    fingers.set(e.pointerId, [e.clientX, e.clientY]);
    dirty = true;
  };
  canvas.onwheel = (e) => { e.preventDefault(); scene.far = clamp(scene.far * Math.exp(0.001 * e.deltaY), 0.15, 6); dirty = true; };
  canvas.onkeydown = (e) => {
    const moves = {ArrowLeft: () => { scene.turn += 0.1; }, ArrowRight: () => { scene.turn -= 0.1; }, ArrowUp: () => { scene.lift += 0.1; }, ArrowDown: () => { scene.lift -= 0.1; },
      '+': () => { scene.far *= 0.85; }, '-': () => { scene.far /= 0.85; }, 0: () => { [scene.turn, scene.lift] = look.free; scene.far = 1; }};
    if (!moves[e.key]) return;
    moves[e.key]();
    scene.lift = clamp(scene.lift, -0.2, 1.55);
    scene.far = clamp(scene.far, 0.15, 6);
    dirty = true;
    e.preventDefault();
    e.stopPropagation();
  };
};

const poseMatrix = (pose) => {
  if (!pose) return [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const x = place(pose, [1, 0, 0]), y = place(pose, [0, 1, 0]), z = place(pose, [0, 0, 1]), o = pose.slice(0, 3);
  return [...vec.sub(x, o), 0, ...vec.sub(y, o), 0, ...vec.sub(z, o), 0, ...o, 1];
};
const lineMatrix = (part, bodies) => {
  const a = place(bodies[part.line.bodies[0]], part.a), b = place(bodies[part.line.bodies[1]], part.b);
  const whole = Math.hypot(...vec.sub(b, a)), axis = vec.unit(vec.sub(b, a)), u = across(axis), v = vec.cross(axis, u), r = part.radius;
  const from = part.from, to = part.to === null ? whole : Math.min(part.to, whole), o = vec.add(a, vec.scale(axis, Math.min(from, whole)));
  return [...vec.scale(u, r), 0, ...vec.scale(v, r), 0, ...vec.scale(axis, Math.max(to - from, 1e-6)), 0, ...o, 1];
};
const multiply = (a, b) => {
  const out = new Array(16).fill(0);
  for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) for (let k = 0; k < 4; k++) out[4 * j + i] += a[4 * k + i] * b[4 * j + k];
  return out;
};
const eyeMatrix = (aspect) => {
  const up = vec.unit(display.up || [0, 0, 1]), u = Math.abs(up[2]) > 0.9 ? [1, 0, 0] : across(up), v = vec.cross(up, u);
  const flat = vec.add(vec.scale(u, Math.cos(scene.turn)), vec.scale(v, Math.sin(scene.turn)));
  const back = vec.unit(vec.add(vec.scale(flat, Math.cos(scene.lift)), vec.scale(up, Math.sin(scene.lift))));
  const right = vec.unit(vec.cross(up, back)), top = vec.cross(back, right);
  /* It goes along with the machine, so far away that all corners of the box are in the picture. */
  const f = 2.1, centre = scene.first && now.bodies[0] ? vec.add(scene.centre, vec.sub(now.bodies[0].slice(0, 3), scene.first)) : scene.centre;
  let least = 0;
  for (let k = 0; k < 8; k++) {
    const c = [0, 1, 2].map((i) => (k >> i & 1 ? 1 : -1) * scene.half[i]);
    least = Math.max(least, vec.dot(back, c) + 1.12 * f * Math.max(Math.abs(vec.dot(top, c)), Math.abs(vec.dot(right, c)) / aspect));
  }
  const d = Math.max(least, 0.6 * scene.size) * scene.far, eye = vec.add(centre, vec.scale(back, d));
  const view = [right[0], top[0], back[0], 0, right[1], top[1], back[1], 0, right[2], top[2], back[2], 0, -vec.dot(right, eye), -vec.dot(top, eye), -vec.dot(back, eye), 1];
  const near = 0.02 * d, far = d + 12 * scene.size;
  return multiply([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0], view);
};
const drawScene = () => {
  const gl = scene.gl, canvas = $('scene');
  if (!gl || !now) return;
  const ratio = Math.min(devicePixelRatio || 1, 2), w = Math.round(canvas.clientWidth * ratio), h = Math.round(canvas.clientHeight * ratio);
  if (!w || !h) return;
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  gl.viewport(0, 0, w, h);
  const dark = root.dataset.look === 'dark';
  gl.clearColor(...(dark ? [0.07, 0.09, 0.11, 1] : [0.92, 0.95, 0.98, 1]));
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  gl.enable(gl.DEPTH_TEST);
  gl.uniformMatrix4fv(scene.at.v, false, new Float32Array(eyeMatrix(w / h)));
  const draw = (part, matrix, tint, alpha) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, part.buffer);
    gl.enableVertexAttribArray(scene.at.p); gl.vertexAttribPointer(scene.at.p, 3, gl.FLOAT, false, 24, 0);
    gl.enableVertexAttribArray(scene.at.n); gl.vertexAttribPointer(scene.at.n, 3, gl.FLOAT, false, 24, 12);
    gl.uniformMatrix4fv(scene.at.m, false, new Float32Array(matrix));
    gl.uniform4f(scene.at.c, ...tint, alpha);
    gl.uniform1f(scene.at.plain, part.lines ? 1 : 0);
    if (part.order) {
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, part.order);
      gl.drawElements(gl.TRIANGLES, part.n, gl.UNSIGNED_SHORT, 0);
    } else {
      gl.drawArrays(part.lines ? gl.LINES : gl.TRIANGLES, 0, part.n);
    }
  };
  const all = (bodies, tint, alpha) => { for (const p of scene.parts) draw(p, p.line ? lineMatrix(p, bodies) : poseMatrix(bodies[p.body]), tint || (dark && p.colour === colour.dark ? colour.steel : p.colour), alpha); };
  gl.disable(gl.BLEND);
  if (field.changed) {
    field.changed = false;
    gl.bindBuffer(gl.ARRAY_BUFFER, scene.ground.buffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, field.vertices);
  }
  if (now.soil && display.soil && now.soil.particles.length) {
    scene.grains = scene.grains || {colour: colour.soil};
    scene.grains.data = grains(now.soil.particles, display.soil.particle);
    scene.upload(scene.grains);
    draw(scene.grains, poseMatrix(null), colour.soil, 1);
  }
  draw(scene.ground, poseMatrix(null), dark && scene.ground.lines ? [0.3, 0.34, 0.38] : scene.ground.colour, 1);
  all(now.bodies, null, 1);
  if (scene.ghost && now.model) {
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(2, 2);
    all(now.model, dark ? [0.79, 0.63, 1] : [0.54, 0.17, 0.89], 0.22);
    gl.depthMask(true);
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }
};

/* ---- showing a frame ---- */

let dirty = false;
const show = (frame, number) => {
  now = frame;
  at = number;
  dirty = true;
};
const paint = (time) => {
  if (dirty && now) {
    dirty = false;
    const critical = gauges.map((g) => g.update(now)).filter((t) => t);
    const text = critical.length ? `CRITICAL. ${critical.join('. ')}` : '';
    /* Said again only when what is critical changes, not with each per cent. */
    const key = gauges.filter((g) => g.box.classList.contains('critical')).map((g) => g.g.name).join();
    if ($('alarm').dataset.key !== key || time - ($('alarm').said || 0) > 1000) { write($('alarm'), text); $('alarm').said = time; }
    $('alarm').dataset.key = key;
    $('alarm').hidden = !critical.length;
    root.dataset.t = now.t;
    write($('time'), `t = ${now.t.toFixed(2)} s`);
    if (recording) { $('seek').value = now.t; $('seek').setAttribute('aria-valuetext', `${now.t.toFixed(1)} s`); }
    showSensors(now);
    showScenario(now);
    listed = listed && !recording;
    drawScene();
  }
  showEvents();
  if (now) drawPlots(time);
};
/* By a timer, not with the frames of the screen: 30 Hz is what there is to show, and what is seen must not depend on what else the browser draws. */
const tick = () => {
  const time = performance.now();
  if (playing) play(time);
  paint(time);
};

/* ---- state of the source ---- */

const state = (kind, text) => { $('state').className = kind; write($('state-text'), text); };
const old = (is, text) => {
  root.classList.toggle('old', is);
  if (is) { for (const g of gauges) write(g.note, text); $('alarm').hidden = true; }
  else dirty = true;
};

/* ---- a recording ---- */

const held = $('recording');
const recording = held ? JSON.parse(held.textContent) : null;
let playing = false, from = 0, since = 0;
const find = (t) => {
  let a = 0, b = frames.length - 1;
  while (a < b) { const m = (a + b + 1) >> 1; if (frames[m].t <= t + 1e-9) a = m; else b = m - 1; }
  return a;
};
const speed = () => Number($('speed').value);
const setPlaying = (is) => {
  playing = is;
  from = now ? now.t : 0;
  since = performance.now();
  write($('play'), is ? 'Pause' : 'Play');
  state('held', is ? 'recording, playing' : 'recording');
};
const goTo = (t) => {
  const k = find(t);
  show(frames[k], k);
  from = t;
  since = performance.now();
  paint(since);
};
const play = (time) => {
  const t = from + speed() * (time - since) / 1000, last = frames[frames.length - 1].t;
  const k = find(Math.min(t, last));
  if (k !== at) show(frames[k], k);
  if (t >= last) setPlaying(false);
};
const startRecording = () => {
  frames = recording.frames;
  for (const m of recording.messages) event(m.t, m.kind, m.text);
  frames.forEach((f, k) => compare(k ? frames[k - 1] : null, f));
  events.sort((a, b) => (a.t === null ? Infinity : a.t) - (b.t === null ? Infinity : b.t));
  listed = false;
  showVerdict(recording.verdict);
  const rate = 1 / recording.interval;
  write($('rate'), `${frames.length} frames, ${rate > 29 ? '30' : rate.toPrecision(2)} a second of the log${rate > 29 ? '' : ': a long run, of which every other frame was left out again and again'}.`);
  for (const id of ['play', 'seek', 'speed-label']) $(id).hidden = false;
  set($('seek'), {min: frames[0].t, max: frames[frames.length - 1].t, step: 'any'});
  $('seek').oninput = () => goTo(Number($('seek').value));
  $('speed').onchange = () => { if (playing) setPlaying(true); };
  $('play').onclick = () => {
    if (!playing && at >= frames.length - 1) goTo(frames[0].t);
    setPlaying(!playing);
  };
  const wanted = /[#&]t=([\d.]+)/.exec(location.hash);
  goTo(wanted ? Number(wanted[1]) : frames[0].t);
  setPlaying(false);
};

/* ---- a server ---- */

let source = null, arrived = 0, server = {}, retry = 1000;
/* What comes again after a new connection is not heard twice. */
let heard = 0;
const hear = (e) => {
  const id = Number(e.lastEventId) || 0;
  if (id && id <= heard && e.type !== 'frame' && e.type !== 'state' && e.type !== 'skipped') return null;
  heard = Math.max(heard, id);
  try { return JSON.parse(e.data); } catch (x) { return null; }
};
/* A page that nobody sees leaves its connection to others: a browser has six of them for one server. */
document.addEventListener('visibilitychange', () => {
  if (recording || !display) return;
  if (!document.hidden) { if (!source || source.readyState === EventSource.CLOSED) connect(); }
  else if (source) source.close();
});
const connect = () => {
  if (document.hidden) return;
  if (source && source.readyState !== EventSource.CLOSED) source.close();
  source = new EventSource('events');
  source.addEventListener('frame', (e) => {
    const frame = hear(e);
    if (!frame) return;
    arrived = performance.now();
    retry = 1000;
    const before = frames.length ? frames[frames.length - 1] : null;
    if (before && frame.t < before.t) frames = frames.filter((f) => f.t < frame.t); /* it went back */
    else if (before) compare(before, frame);
    moveSoil(frame);
    frames.push(frame);
    if (frames.length > 1) frames[frames.length - 2].soil = undefined; /* plots need none */
    if (frames.length > KEPT) frames.splice(0, frames.length - KEPT);
    show(frame, frames.length - 1);
    if (!scene.parts.length) { startScene(); dirty = true; }
  });
  source.addEventListener('verdict', (e) => { const v = hear(e); if (v) { showVerdict(v); announce(v.text); } });
  source.addEventListener('message', (e) => { const m = hear(e); if (m && m.text) { event(m.t === undefined ? null : m.t, m.kind || 'message', m.text); announce(m.text); } });
  source.addEventListener('skipped', (e) => { const m = hear(e); if (m) event(now ? now.t : null, 'slow', `${m.frames} frames did not reach this page in time`); });
  source.addEventListener('state', (e) => { server = hear(e) || server; showServer(); });
  source.onerror = () => {
    if (source.readyState !== EventSource.CLOSED) return; /* it tries again by itself */
    setTimeout(connect, retry);
    retry = Math.min(2 * retry, 8000);
  };
};
const ask = async (what) => {
  try {
    const answer = await fetch('control', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(what)});
    if (!answer.ok) event(now ? now.t : null, 'refused', (await answer.json().catch(() => ({}))).error || `status ${answer.status}`);
  } catch (x) { event(now ? now.t : null, 'refused', 'no connection'); }
};
/* ---- driving ---- */

const SEND = 0.15; /* [s] between commands while nothing changes: the server lets go of levers half a second after the last one */
const wheel = {on: false, me: 0, at: [], want: [], pressed: new Set(), fingers: {}, busy: false, sent: 0, last: '', ticked: 0};
const volts = (v) => `${fixed(v, 1)} V`;
const keyName = (key) => ({ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→', ' ': 'Space'}[key] || key.toUpperCase());
const buildDrive = () => {
  const levers = display.drive || [], pad = (side) => {
    const on = levers.filter((l) => l.stick.startsWith(side));
    if (!on.length) return;
    const knob = element('span', {class: 'knob'}), face = element('div', {class: 'pad', 'aria-hidden': 'true', 'data-side': side}, knob);
    const move = (e) => {
      const r = face.getBoundingClientRect(), x = (e.clientX - r.left - r.width / 2) / (r.width / 2), y = (r.top + r.height / 2 - e.clientY) / (r.height / 2);
      const n = Math.max(1, Math.hypot(x, y));
      wheel.fingers[side] = {x: x / n, y: y / n};
    };
    face.onpointerdown = (e) => { face.setPointerCapture(e.pointerId); setDriving(true); move(e); };
    face.onpointermove = (e) => { if (wheel.fingers[side]) move(e); };
    face.onpointerup = face.onpointercancel = () => { delete wheel.fingers[side]; };
    on.forEach((l) => { l.knob = knob; });
    $('sticks').append(element('div', {class: 'stick'}, face, on.map((l) => l.label).join(', ')));
  };
  pad('left');
  pad('right');
  wheel.me = 1 + crypto.getRandomValues(new Uint32Array(1))[0] % 4294967294;
  levers.forEach((l, i) => {
    wheel.at[i] = l.neutral;
    wheel.want[i] = 0;
    l.output = display.outputs.findIndex((o) => o && o.name === `${l.name}.command`);
    l.shown = element('output', {'aria-label': `${l.label} command`});
    const button = (sense, sign) => {
      const b = element('button', {type: 'button', 'aria-label': `${l.label} ${sense > 0 ? 'more' : 'less'}`}, sign), name = `button ${i} ${sense}`;
      b.onpointerdown = () => { setDriving(true); press(name, i, sense); };
      b.onpointerup = b.onpointerleave = b.onpointercancel = () => wheel.pressed.delete(name);
      return b;
    };
    const keys = l.keys.map((key) => element('kbd', {}, keyName(key)));
    $('levers').append(element('li', {}, element('span', {class: 'name'}, l.label, ' '), ...keys, l.shown, ...(l.stick ? [] : [button(-1, '−'), button(1, '+')])));
    $('help').querySelector('dl').append(element('dt', {}, ...l.keys.map((key) => element('kbd', {}, keyName(key)))), element('dd', {}, `${l.label}: ${volts(l.low)}, ${volts(l.high)}${l.held ? ', stays' : ''}`));
  });
  display.sensors.forEach((name, i) => {
    const b = element('button', {type: 'button', 'aria-pressed': 'false', 'data-sensor': name}, 'Pull the plug');
    b.onclick = () => ask(b.getAttribute('aria-pressed') === 'true' ? {plug: i} : {unplug: i});
    $('plugs').querySelector('ul').append(element('li', {}, element('span', {class: 'name'}, name), b));
  });
  $('drive-on').onclick = () => setDriving(!wheel.on);
  $('keys').onclick = () => $('help').showModal();
  $('help').querySelector('button').onclick = () => $('help').close();
};
/* One lever, by a key or a button: a step at once, else as long as it is pressed. */
const press = (name, i, sense) => {
  const l = display.drive[i];
  if (wheel.pressed.has(name)) return;
  wheel.pressed.add(name);
  if (l.step) wheel.at[i] = clamp(wheel.at[i] + sense * l.step, l.low, l.high);
};
const setDriving = (on) => {
  if (wheel.on === on || (on && !(server.can || []).includes('drive'))) return;
  wheel.on = on;
  wheel.pressed.clear();
  wheel.fingers = {};
  display.drive.forEach((l, i) => { wheel.at[i] = l.neutral; wheel.want[i] = 0; });
  wheel.last = '';
  wheel.ticked = performance.now();
  $('drive-on').setAttribute('aria-pressed', on);
  write($('drive-on'), on ? 'Let go' : 'Drive');
  if (!on) ask({drive: [], driver: wheel.me});
  showDriver();
};
const showDriver = () => {
  const mine = server.driver === wheel.me, text = mine ? 'You drive' : server.driver ? 'Another viewer drives' : wheel.on ? 'Nobody drives yet' : 'Nobody drives';
  if ($('driver').textContent !== text) announce(text);
  write($('driver'), text);
  $('drive').classList.toggle('mine', mine);
};
/* Where each lever is wanted, -1 to 1: gamepad, finger, keys. */
const wanted = (l, i, pads) => {
  const side = l.stick.split('_')[0], axis = l.stick.split('_')[1], finger = wheel.fingers[side];
  let want = 0;
  for (const p of pads) {
    const raw = l.stick ? p.axes[(side === 'right' ? 2 : 0) + (axis === 'y' ? 1 : 0)] || 0 : 0;
    if (Math.abs(raw) > 0.12) want = l.sense * (axis === 'y' ? -raw : raw);
  }
  if (finger) want = l.sense * finger[axis];
  const far = wheel.pressed.has('Shift') || l.held ? 1 : 0.5;
  l.keys.forEach((key, k) => { if (wheel.pressed.has(key)) want += (k ? 1 : -1) * far; });
  for (const sense of [-1, 1]) if (wheel.pressed.has(`button ${i} ${sense}`)) want += sense * far;
  return clamp(want, -1, 1);
};
const driveTick = () => {
  const time = performance.now(), dt = Math.min((time - wheel.ticked) / 1000, 0.2), values = [];
  wheel.ticked = time;
  const pads = wheel.on && navigator.getGamepads ? [...navigator.getGamepads()].filter((p) => p && p.connected) : [];
  display.drive.forEach((l, i) => {
    if (wheel.on && !l.step) {
      const want = wanted(l, i, pads);
      /* A key is no stick: it is pressed in a fifth of a second; let go at once. */
      wheel.want[i] = want === 0 || Math.sign(want) !== Math.sign(wheel.want[i] || want) ? want && Math.sign(want) * Math.min(Math.abs(want), 5 * dt) : wheel.want[i] + clamp(want - wheel.want[i], -5 * dt, 5 * dt);
      wheel.at[i] = l.held ? clamp(wheel.at[i] + want * (l.high - l.low) * dt, l.low, l.high) : l.neutral + wheel.want[i] * (wheel.want[i] > 0 ? l.high - l.neutral : l.neutral - l.low);
    }
    const shown = wheel.on ? wheel.at[i] : now && l.output >= 0 && now.values[l.output] !== null ? now.values[l.output] : l.neutral;
    write(l.shown, volts(shown));
    if (l.knob) l.knob.style.setProperty(l.stick.endsWith('x') ? 'left' : 'top', `${50 + (l.stick.endsWith('x') ? 1 : -1) * 36 * l.sense * (shown - l.neutral) / Math.max(l.high - l.neutral, 1e-9)}%`);
    while (values.length <= l.input) values.push(null);
    values[l.input] = Number(wheel.at[i].toFixed(2));
  });
  if (!wheel.on || wheel.busy) return;
  const text = values.join();
  if (text === wheel.last && time - wheel.sent < 1000 * SEND) return;
  wheel.last = text;
  wheel.sent = time;
  wheel.busy = true;
  ask({drive: values, driver: wheel.me}).finally(() => { wheel.busy = false; });
};
document.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.altKey || e.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || $('drive').hidden || $('help').open) return;
  if (e.key === '?') $('help').showModal();
  if (!wheel.on) return;
  const key = e.key.length === 1 ? e.key.toLowerCase() : e.key, i = display.drive.findIndex((l) => l.keys.includes(key));
  if (key === 'Escape') setDriving(false);
  if (key === 'Shift') wheel.pressed.add(key);
  if (i < 0) return;
  press(key, i, display.drive[i].keys[0] === key ? -1 : 1);
  e.preventDefault();
  e.stopImmediatePropagation();
}, true);
document.addEventListener('keyup', (e) => wheel.pressed.delete(e.key.length === 1 ? e.key.toLowerCase() : e.key), true);
addEventListener('blur', () => { wheel.pressed.clear(); wheel.fingers = {}; });
document.addEventListener('visibilitychange', () => { if (document.hidden && wheel.on) setDriving(false); });
addEventListener('pagehide', () => { if (wheel.on) setDriving(false); });

const showServer = () => {
  const can = server.can || [];
  if (display && can.includes('drive') && $('drive').hidden) {
    buildDrive();
    $('drive').hidden = false;
    setInterval(driveTick, 33);
  }
  if (!$('drive').hidden) {
    showDriver();
    for (const [i, b] of [...$('plugs').querySelectorAll('button')].entries()) {
      const out = (server.unplugged || []).includes(i);
      b.setAttribute('aria-pressed', out);
      write(b, out ? 'Put it in again' : 'Pull the plug');
    }
  }
  $('anew').hidden = !can.includes('restart') || !display || !display.scenario;
  $('play').hidden = !can.includes('pause');
  write($('play'), server.paused ? 'Go on' : 'Pause');
  $('speed-label').hidden = !can.includes('speed');
  if (server.speed && ![...$('speed').options].some((o) => Number(o.value) === server.speed)) $('speed').append(element('option', {value: server.speed}, `${server.speed} ×`));
  if (server.speed) $('speed').value = server.speed;
  $('seek').hidden = !can.includes('seek') || server.end === null || server.end === undefined;
  if (!$('seek').hidden) set($('seek'), {min: server.begin || 0, max: server.end});
};
const watch = () => {
  const age = (performance.now() - arrived) / 1000, open = source && source.readyState === EventSource.OPEN;
  if (!frames.length) return state('waiting', open ? 'waiting for the first values' : 'no connection yet; trying again');
  const seconds = age < 10 ? age.toFixed(1) : age.toFixed(0);
  if (server.ended || (open && server.paused)) {
    old(false);
    state('held', server.ended ? 'the run has ended' : 'paused');
  } else if (age > STALE) {
    state('stale', `${open ? 'no values' : 'CONNECTION LOST, trying again: no values'} for ${seconds} s`);
    old(true, `${seconds} s old`);
  } else {
    if (root.classList.contains('old')) old(false);
    const slow = server.pace && server.source !== 'log' && Math.abs(server.pace / (server.speed || 1) - 1) > 0.1 ? `, ${server.pace.toPrecision(2)} × real time` : '';
    state('live', (server.source === 'log' ? 'a log, played' : server.source === 'simulator' ? 'live from a simulator' : 'live') + slow);
  }
  if (!$('seek').hidden && now && document.activeElement !== $('seek')) $('seek').value = now.t;
};
const startLive = async () => {
  for (;;) {
    try {
      const answer = await fetch('display.json');
      if (answer.ok) { display = await answer.json(); break; }
      state('waiting', `the server answers with status ${answer.status}; trying again`);
    } catch (x) { state('waiting', 'no connection; trying again'); }
    await new Promise((go) => setTimeout(go, 2000));
  }
  $('play').onclick = () => ask({pause: !server.paused});
  $('speed').onchange = () => ask({speed: speed()});
  $('seek').onchange = () => ask({seek: Number($('seek').value)});
  $('anew').onclick = () => ask({restart: true});
  connect();
  setInterval(watch, 250);
};

/* ---- look, keys, start ---- */

const setLook = (look) => {
  root.dataset.look = look;
  write($('look'), look === 'dark' ? 'Light' : 'Dark');
  dirty = true;
  drawn = 0;
};
const asked = /[?&]look=(dark|light)/.exec(location.search);
setLook(asked ? asked[1] : matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
$('look').onclick = () => setLook(root.dataset.look === 'dark' ? 'light' : 'dark');
document.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.altKey || e.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
  if (e.key === ' ' && !$('play').hidden && e.target.tagName !== 'BUTTON' && e.target.tagName !== 'SUMMARY') { $('play').click(); e.preventDefault(); }
  if (e.key === 'd') $('look').click();
  if (e.key === 't' && display && display.scenario) $('scenario').focus();
  if (recording && (e.key === 'ArrowLeft' || e.key === 'ArrowRight') && now) goTo(clamp(now.t + (e.key === 'ArrowLeft' ? -1 : 1), frames[0].t, frames[frames.length - 1].t));
});
addEventListener('resize', () => { dirty = true; drawn = 0; });

const begin = () => {
  document.title = display.title;
  write($('title'), display.title);
  openField();
  display.gauges.forEach(build);
  buildSensors();
  buildScenario();
  display.outputs.forEach((o, k) => { if (o) $('plot-choice').append(element('option', {value: k}, o.name)); });
  $('plot-add').onclick = () => addPlot(Number($('plot-choice').value));
  display.plots.forEach(addPlot);
};
(async () => {
  if (recording) {
    display = recording.display;
    begin();
    startRecording();
    startScene();
    dirty = true;
  } else {
    await startLive();
    begin();
  }
  tick();
  setInterval(tick, 33);
})();
})();
