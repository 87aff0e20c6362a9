#!/bin/sh
# The display's page in a browser, without a network: gauges show the filter's numbers at the time shown, limits their probability,
# lost sensors fade what needs them; names are no markup; keys, sizes of touch targets, narrow screens; and the same page at a
# source that stops, breaks off and comes back. Skipped without Chromium.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
# shellcheck source=test/cli/browser.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/browser.sh"

make_log 1
cat >display.yaml <<'END'
display: <script>wrong.push("title")</script> & four-bar
gauges:
  crank: {kind: dial, output: crank.angle, label: "</figure><img src=x onerror=wrong.push('label')>", unit: deg, range: [0, 120], recommended: [50, 60],
          marks: [55], critical_above: 65, size: 2}
  p2: {kind: bar, output: v2.pressure, unit: bar, range: [0, 200], critical_below: 2 bar, critical_above: 20 MPa, sensors: [p1, p2], uncertain: 50}
  rate: {kind: tilt, output: crank.angle, label: Crank as tilt, unit: deg, range: [-90, 90], critical_below: -45, critical_above: 65}
  speed: {kind: number, output: crank.rate, unit: deg/s}
  rim: {kind: number, output: crank.rate, unit: mm/s, scale: 2 m/rad}
  far: {kind: lamp, output: crank.angle, unit: deg, critical_above: 65}
  gear: {kind: text, output: v1.pressure, unit: GPa, texts: [N, "1"]}
  left: {kind: bar, output: v3.pressure, label: Left of 400 bar, unit: "%", tank: 400 bar, range: [0, 100 %], critical_below: 1 %}
  none: {kind: number, output: no.such, unit: deg, optional: yes}
plots: [crank.angle, v2.pressure]
scenario:
  title: Stand <b>still</b>
  tasks:
    settle: {instruction: "Wait <img src=x onerror=wrong.push('task')>", end: {crank.angle: {above: 50 deg, below: 70 deg}}, hold: 0.2 s, points: 10, gauges: [crank]}
    let_go: {instruction: Let the pressure go, end: {p2: {below: 1 bar}}, time_limit: 0.3 s, points: 5}
    up: {instruction: Go up, end: {crank.angle: {above: 90 deg}}, points: 5}
  penalties: {high: {when: {crank.angle: {above: 40 deg}}, hold: 0.3 s, text: Higher than 40 deg, points: 3}}
  breakdowns: {broken: {when: {crank.angle: {above: 40 deg}}, hold: 0.8 s, message: "It breaks <img src=x onerror=wrong.push('broken')>"}}
shapes: {crank: [{kind: box, centre: [1, 0, 0 m], size: [2, 0.1, 0.1 m]}, {kind: sphere, centre: [2, 0, 0 m], radius: 0.2 m}]}
END
sed -e "s,^machine: .*,machine: $machine\ndisplay: display.yaml," "$study" >shown.yaml
run 0 check display.yaml
says out 'critical above 65 from a probability of 5 %'
run 0 check shown.yaml
sed 's/output: crank.rate/output: crank.rat/' display.yaml >misspelt.yaml
sed 's/display.yaml/misspelt.yaml/' shown.yaml >misfit.yaml
run 1 check misfit.yaml
says err "misspelt.yaml:7: speed: there is no output 'crank.rat'; did you mean 'crank.rate'?"

# A pressure sensor goes at 0.6 s.
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "p2[Pa]") p = i } NR > 1 && $1 >= 0.6 { $p = "" } { print }' log.csv >lost.csv
run 0 replay shown.yaml lost.csv --output estimate.csv --display page.html --json summary.json
says out 'what was shown: estimate.shown.csv'
says out 'score: 7 of 20 by the estimates'
says out '1 of 3 tasks done; it broke down'
grep -q '"score": 7,' summary.json || fail "the score is not in the summary: $(grep -A3 '"scenario"' summary.json)"
cut -d, -f2,3 estimate.shown.csv | tr -d '"' | sort >kinds
for row in instruction,settle done,settle instruction,let_go failed,let_go penalty,high breakdown,broken end,scenario lost,p2; do
  grep -qx "$row" kinds || fail "it was not said that $row was shown: $(cat kinds)"
done
# Without a page, and beside no stream; a display that does not fit costs the scenario, not the run.
run 0 replay shown.yaml lost.csv --output twice.csv
cmp twice.shown.csv estimate.shown.csv || fail 'the scenario depends on the page'
run 0 replay shown.yaml lost.csv --output -
says err 'score: 7 of 20'
[ ! -e -.shown.csv ] && [ ! -e .shown.csv ] || fail 'a log of what was shown lies beside standard output'
run 0 replay misfit.yaml lost.csv --output none.csv
says err "no scenario is followed: misspelt.yaml:7: speed: there is no output 'crank.rat'"
[ ! -e none.shown.csv ] || fail 'what was shown without a scenario?'
[ "$(wc -c <page.html)" -le 1000000 ] || fail "the page of 1 s has $(wc -c <page.html) bytes"

cat >first.html <<'END'
<script>
window.wrong = [];
addEventListener('error', (e) => wrong.push('error: ' + e.message));
addEventListener('unhandledrejection', (e) => wrong.push('rejection: ' + e.reason));
addEventListener('securitypolicyviolation', (e) => wrong.push('refused: ' + e.blockedURI));
</script>
END
cat >last.html <<'END'
<script>
(async () => {
  const page = location.hash.slice(1), found = {}, $ = (s) => document.querySelector(s), all = (s) => [...document.querySelectorAll(s)];
  const pause = (ms) => new Promise((go) => setTimeout(go, ms));
  const say = (name, value) => console.log('FOUND ' + page + ' ' + name + ': ' + JSON.stringify(value));
  const number = (text) => Number(text.replace('−', '-'));
  const one = (name) => $(`[data-name=${name}]`), value = (name) => one(name).querySelector('b').textContent;
  await pause(400);
  const seek = async (t) => { $('#seek').value = t; $('#seek').dispatchEvent(new Event('input')); await pause(150); };
  found.narrow = document.documentElement.scrollWidth <= innerWidth;
  const controls = all('button, select, input, a[href]').filter((c) => c.getClientRects().length && !c.classList.contains('skip'));
  found.named = controls.every((c) => c.tabIndex >= 0 && (c.getAttribute('aria-label') || c.closest('label') || c.textContent.trim()));
  found.touch = controls.filter((c) => c.getBoundingClientRect().height < 36 || c.getBoundingClientRect().width < 36).map((c) => c.id || c.textContent);
  found.title = $('#title').textContent.includes('<script>') && !$('#title').children.length && !$('#gauges img');
  found.gauges = all('.gauge').length;
  let texts = 0, notes = 0, off = [];
  const factor = {crank: Math.PI / 180, p2: 1e5, rate: Math.PI / 180, speed: Math.PI / 180};
  for (const t of [0, 0.1, 0.3, 0.5, 0.57, 0.85, 0.99]) {
    await seek(t);
    for (const name in factor) {
      const d = one(name).dataset, shown = value(name), step = 10 ** -(shown.split('.')[1] || '').length / 2 * 1.001;
      const pm = one(name).querySelector('.pm').textContent.replace('±', '').trim();
      texts++;
      if (Math.abs(number(shown) - d.value / factor[name]) > step) off.push(`${name} ${t}: ${shown}`);
      if (!pm.startsWith('less') && Math.abs(number(pm) - 1.959964 * d.sigma / factor[name]) > step) off.push(`${name} ${t}: ± ${pm}`);
      if (page === 'wide') say('gauge', [document.documentElement.dataset.t, name, d.value, d.sigma]);
      const p = Number(d.probability), critical = one(name).classList.contains('critical'), note = one(name).querySelector('.note').textContent;
      if (d.probability === '') continue;
      notes++;
      if (critical !== p >= 0.05) off.push(`${name} ${t}: p ${p}`);
      const word = /([\d.]+) % likely/.exec(note);
      if (critical && (!word || !note.startsWith('CRITICAL') || Math.abs(word[1] - 100 * p) > 1.001)) off.push(`${name} ${t}: ${note}`);
    }
    const rim = number(value('rim'));
    if (!(Math.abs(rim - 2000 * one('rim').dataset.value) < 0.501 * 10 ** -(value('rim').split('.')[1] || '').length)) off.push(`rim ${rim}`);
    const left = number(value('left'));
    if (!(Math.abs(left - 100 * (1 - one('left').dataset.value / 4e7)) < 0.06)) off.push(`left ${left}`);
  }
  found.texts = texts; found.notes = notes; found.off = off;
  const panel = () => [$('#instruction').textContent, ...all('#tasks li').map((li) => `${li.dataset.state} ${li.querySelector('b').textContent} ${li.querySelector('small').textContent}`),
    $('#score').textContent.replace(/,.*/, ''), $('#penalties').textContent, one('crank').classList.contains('wanted'), $('#breakdown').hidden, document.querySelectorAll('#scenario img, #breakdown img, #scenario h2 b').length];
  await seek(0.1);
  found.begin = panel();
  await seek(0.45);
  found.middle = panel();
  await seek(0.9);
  found.broken = [...panel(), $('#breakdown').getAttribute('role'), $('#breakdown').textContent.startsWith("It breaks <img")];
  await seek(0.5);
  found.used = [one('p2').classList.contains('unknown'), $('#sensors summary').textContent, $('#bad').textContent];
  await seek(0.99);
  found.lost = [one('p2').classList.contains('unknown'), one('p2').querySelector('.note').textContent, $('#bad').textContent];
  found.faded = Number(getComputedStyle(one('p2').querySelector('svg')).opacity) < 0.5;
  found.events = /p2 lost/.test($('#events').textContent);
  found.lamp = [value('far'), value('crank') > 65 ? 'ON' : 'off'].every((v, k, l) => v === l[0]);
  found.gear = value('gear');
  await pause(2600);
  found.said = /p2|UNCERTAIN/.test($('#said').textContent);
  const picture = () => { const gl = $('#scene').getContext('webgl'), d = new Uint8Array(4 * 64 * 64); if (!gl) return 'no WebGL';
    gl.readPixels($('#scene').width / 2 - 32, $('#scene').height / 2 - 32, 64, 64, gl.RGBA, gl.UNSIGNED_BYTE, d); return d.join(); };
  const before = picture();
  await seek(0);
  found.drawn = before === 'no WebGL' || (new Set(before.split(',')).size > 3 && picture() !== before);
  found.webgl = before !== 'no WebGL';
  const plot = $('.plot canvas'), dots = plot.getContext('2d').getImageData(0, 0, plot.width, plot.height).data;
  found.plotted = dots.some((v) => v) && all('.plot').length === 2;
  $('#plot-choice').value = 3;
  $('#plot-add').click();
  found.added = all('.plot').length;
  const key = (k) => document.dispatchEvent(new KeyboardEvent('keydown', {key: k, bubbles: true, cancelable: true}));
  const look = document.documentElement.dataset.look;
  key('d');
  found.look = document.documentElement.dataset.look !== look;
  key('t');
  found.focus = document.activeElement.id;
  key(' ');
  await pause(500);
  key(' ');
  const t = Number(document.documentElement.dataset.t);
  found.played = t > 0.3 && t < 0.7;
  found.fetched = performance.getEntriesByType('resource').length;
  found.wrong = wrong;
  for (const name in found) say(name, found[name]);
})();
</script>
END
put_in() { # FIRST LAST PAGE
  awk -v first="$1" -v last="$2" '/^<head>/ { print; while ((getline line < first) > 0) print line; next }
    /^<\/body>/ { while ((getline line < last) > 0) print line } { print }' "$3"
}
put_in first.html last.html page.html >visited.html

# The same page where nothing is recorded: a server that the visitor plays.
cat >server.html <<'END'
<script>
window.posted = [];
window.fetch = async (url, how) => {
  if (url === 'control') { posted.push(how.body); return {ok: true}; }
  return {ok: true, json: async () => JSON.parse(document.getElementById('kept').textContent).display};
};
window.EventSource = class {
  constructor(url) { this.url = url; this.readyState = 1; this.hear = {}; window.sources = (window.sources || []).concat(this); }
  addEventListener(name, f) { this.hear[name] = f; }
  say(name, data) { this.hear[name]({data: JSON.stringify(data)}); }
};
EventSource.OPEN = 1;
EventSource.CLOSED = 2;
</script>
END
cat >viewer.html <<'END'
<script>
(async () => {
  const found = {}, $ = (s) => document.querySelector(s), pause = (ms) => new Promise((go) => setTimeout(go, ms));
  const frames = JSON.parse($('#kept').textContent).frames, old = () => document.documentElement.classList.contains('old');
  await pause(300);
  found.first = $('#state-text').textContent;
  const source = () => sources[sources.length - 1];
  const send = async (from, n) => { for (let k = from; k < from + n; k++) { source().say('frame', frames[k]); await pause(33); } };
  await send(0, 15);
  await pause(100);
  found.live = [old(), $('#state-text').textContent, document.documentElement.dataset.t === String(frames[14].t)];
  await pause(2600);
  const gauge = $('[data-name=crank]');
  found.old = [old(), /^no values for \d/.test($('#state-text').textContent), / s old$/.test(gauge.querySelector('.note').textContent),
    Number(getComputedStyle(gauge.querySelector('.value')).opacity) < 0.5];
  source().readyState = 2;
  source().onerror();
  await pause(400);
  found.lost = /^CONNECTION LOST/.test($('#state-text').textContent);
  await pause(1500);
  found.again = sources.length;
  await send(20, 5);
  await pause(400);
  found.back = [old(), $('#state-text').textContent];
  source().say('state', {source: 'log', can: ['pause', 'speed', 'seek'], paused: true, speed: 2, begin: 0, end: 1});
  await pause(2000);
  found.paused = [old(), $('#state-text').textContent, $('#play').textContent, $('#speed').value];
  $('#play').click();
  $('#seek').value = 0.5;
  $('#seek').dispatchEvent(new Event('change'));
  await pause(100);
  found.posted = posted.join(' ');
  source().say('verdict', {text: 'contradicted: <b>p2</b>', contradicted: true});
  source().say('message', {t: 0.4, kind: 'diagnosis', text: '<img src=x onerror=wrong.push(1)>'});
  await pause(200);
  found.verdict = [$('#verdict').className, $('#verdict').children.length, $('#events').textContent.includes('<img')];
  found.wrong = wrong;
  for (const name in found) console.log('FOUND live ' + name + ': ' + JSON.stringify(found[name]));
})();
</script>
END
cat first.html server.html >both.html
sed 's/id="recording"/id="kept"/' page.html >kept.html
put_in both.html viewer.html kept.html >live.html

echo '<!DOCTYPE html><style>body{margin:0;display:flex}iframe{border:0;flex:none}</style>
<iframe width="1024" height="768" src="visited.html?look=light#wide"></iframe><iframe width="390" height="900" src="visited.html?look=dark#phone"></iframe>
<iframe width="1024" height="768" src="live.html?look=light#live"></iframe>' >visit.html
browse --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader --window-size=2440,900 "--screenshot=$pictures/display.png" "file://$work/visit.html"
grep -av 'GL Driver Message' log >quiet.log || true
mv quiet.log log
no_complaints
sed -n 's/.*"\(FOUND .*\)", source: file:.*/\1/p' log >found
for page in wide phone; do
  found "$page wrong" '[]'
  found "$page fetched" 0
  found "$page narrow" true
  found "$page named" true
  found "$page touch" '[]'
  found "$page title" true
  found "$page gauges" 8
  found "$page texts" 28
  found "$page notes" 21
  found "$page off" '[]'
  found "$page used" '[false,"Sensors: 5 of 5 used",""]'
  found "$page lost" '[true,"UNCERTAIN: p2 lost","p2: LOST"]'
  for name in faded events lamp said drawn plotted look played; do found "$page $name" true; done
  found "$page gear" '"N"'
  found "$page focus" '"scenario"'
  # The panel says what the log of what was shown says.
  at=$(awk -F, '$2 == "done" { printf "%.1f s", $1 }' estimate.shown.csv)
  found "$page begin" '["Wait <img src=x onerror=wrong.push('"'task'"')>","active ▸ now, holds","waiting ○ to come","waiting ○ to come","Score 0 of 20","",true,true,0]'
  found "$page middle" '["Let the pressure go","done ✓ done at '"$at"'","active ▸ now, 0 s left","waiting ○ to come","Score 7 of 20","Higher than 40 deg: 1 ×, −3 (now)",false,true,0]'
  found "$page broken" '["Broken down","done ✓ done at '"$at"'","failed ✗ failed at 0.5 s","failed ✗ failed at 0.8 s","Score 7 of 20","Higher than 40 deg: 1 ×, −3 (now)",false,false,0,"alert",true]'
  found "$page added" 3
done
found 'live first' '"waiting for the first values"'
found 'live live' '[false,"live",true]'
found 'live old' '[true,true,true,true]'
found 'live lost' true
found 'live again' 2
found 'live back' '[false,"live"]'
found 'live paused' '[false,"paused","Go on","2"]'
found 'live posted' '"{\"pause\":false} {\"seek\":0.5}"'
found 'live verdict' '["wrong",0,true]'
found 'live wrong' '[]'

# What gauges show is what the filter estimated at that time, as the file of estimates has it (10 and 6 digits).
sed -n 's/^FOUND wide gauge: \["\(.*\)","\(.*\)","\(.*\)","\(.*\)"\]$/\1 \2 \3 \4/p' found >shown
[ "$(lines shown)" -eq 28 ] || fail "$(lines shown) values were read back, not 28"
awk -F, 'NR == FNR { split($0, w, " "); n++; t[n] = w[1]; name[n] = w[2]; value[n] = w[3]; sigma[n] = w[4]; next }
  FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i
    of["crank"] = of["rate"] = "crank.angle"; of["speed"] = "crank.rate"; of["p2"] = "v2.pressure"
    unit["crank"] = unit["rate"] = "[rad]"; unit["speed"] = "[rad/s]"; unit["p2"] = "[Pa]"; next }
  { for (k = 1; k <= n; k++) if (t[k] + 0 == $1 + 0) {
      v = $column[of[name[k]] unit[name[k]]]; s = $column[of[name[k]] ".sigma" unit[name[k]]]
      d = v - value[k]; e = s - sigma[k]; if (d < 0) d = -d; if (e < 0) e = -e
      if (d > 1e-9 * (v < 0 ? -v : v) + 1e-12 || e > 1e-5 * s) print "at", t[k], name[k], "is", value[k], sigma[k], "not", v, s
      m++ } }
  END { if (m != n) print m, "of", n, "times are in the file" }' shown estimate.csv >differ
[ ! -s differ ] || fail "gauges are not the filter's: $(cat differ)"
