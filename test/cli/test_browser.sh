#!/bin/sh
# The report in a browser, without a network: no errors, plots come alive, keys work, both looks, paper. Skipped without Chromium.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || exit 77

# Without network: no interface but a dead loopback where the system lets us, and nothing to reach in any case.
alone=
if unshare -rn true 2>/dev/null; then alone='unshare -rn'; fi
sandbox=
# Root, and root of a namespace, cannot have Chromium's own.
if [ "$(id -u)" -eq 0 ] || [ -n "$alone" ]; then sandbox=--no-sandbox; fi

# browse OPTION... URL: what it has to say goes to the file log.
browse() {
  # both are words
  # shellcheck disable=SC2086
  HOME=$work exec timeout 1000 $alone "$browser" --headless $sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
    --no-first-run --user-data-dir="$work/profile" --proxy-server=127.0.0.1:9 --enable-logging=stderr "$@" >/dev/null 2>log
}

# No word of a page on the console but what the visitor found.
no_complaints() {
  grep -a CONSOLE log | grep -av -e 'source: chrome:' -e '"FOUND ' >console || true
  [ ! -s console ] || fail "the browser complains: $(cat console)"
}

make_log 1
sed -e "s,^machine: .*,machine: $machine," -e 's/\(p1: .*sigma: 0.5 bar\)/\1, gate: 4/' "$study" >gated.yaml
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "p1[Pa]") p1 = i }
  NR == 402 || NR == 802 { $p1 += 1e6 } { print }' log.csv >odd.csv
run 0 replay gated.yaml odd.csv --output estimate.csv --truth truth.csv --report report.html

# ---- what the page does ----

# Errors are caught from the first script on; the visitor comes after the page's own script and writes down what it finds.
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
  const found = {}, $ = (s) => document.querySelector(s), frame = () => new Promise(requestAnimationFrame),
    pause = async (ms) => { await new Promise((go) => setTimeout(go, ms)); for (let i = 0; i < 3; i++) await frame(); };
  const key = async (k) => { document.dispatchEvent(new KeyboardEvent('keydown', {key: k, bubbles: true, cancelable: true})); await pause(300); };
  const machine = () => [...document.querySelectorAll('#machine svg path')].map((p) => p.getAttribute('d')).join();
  const ticks = (f) => [...f.querySelectorAll('.dygraph-axis-label-x')].map((l) => l.textContent).join(' ');
  const figure = $('figure[data-plot="0"]');
  figure.scrollIntoView();
  await pause(1000);
  found.alive = figure.querySelectorAll('canvas').length > 0;
  found.ticks = ticks(figure);
  const pixels = () => { const c = figure.querySelector('canvas'); return c ? c.toDataURL() : ''; };
  found.drawn = pixels().length > 5000;
  const still = machine();
  found.machine = still.length > 50;
  await key(']');
  found.event = $('#tools output').value;
  found.value = figure.querySelector('.v') ? figure.querySelector('.v').textContent : 'none';
  await key('n');
  found.second = $('#tools output').value;
  await key('p');
  found.back = $('#tools output').value;
  for (let i = 0; i < 2; i++) await key('+');
  found.zoomed = ticks(figure);
  await key('ArrowRight');
  found.moved = ticks(figure);
  await key('0');
  found.whole = ticks(figure) === found.ticks;
  const before = pixels();
  await key('d');
  found.look = document.documentElement.dataset.look;
  await key('d');
  found.other = document.documentElement.dataset.look;
  await key('?');
  found.help = $('dialog').open;
  $('dialog').close();
  $('#events ol').focus();
  $('#events ol').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true, cancelable: true}));
  await pause(200);
  found.listed = $('#events [aria-selected=true]').textContent.slice(0, 10);
  const slider = $('#tools input');
  slider.value = slider.max;
  slider.dispatchEvent(new Event('input'));
  await pause(300);
  found.end = $('#tools output').value;
  found.follows = machine() !== still;
  /* Everything a mouse can press can be reached by the tab key and has a name. */
  const controls = [...document.querySelectorAll('button, select, input, a[href]')].filter((c) => c.getClientRects().length);
  found.named = controls.every((c) => c.tabIndex >= 0 && (c.getAttribute('aria-label') || c.textContent.trim()));
  for (const f of document.querySelectorAll('figure')) { f.scrollIntoView(); await pause(150); }
  found.narrow = document.documentElement.scrollWidth <= innerWidth;
  found.fetched = performance.getEntriesByType('resource').length;
  found.wrong = wrong;
  for (const name in found) console.log('FOUND ' + name + ': ' + JSON.stringify(found[name]));
  console.log('FOUND all');
})();
</script>
END
visit() {
  awk 'FNR == NR { first = first $0 "\n"; next } { print } /^<head>/ { printf "%s", first }' first.html "$1" |
    awk '/^<\/body>/ { while ((getline line < "last.html") > 0) print line } { print }' >visited.html
  : >log
  browse "--window-size=$2" "file://$work/visited.html" &
  visitor=$!
  waited=0
  until grep -aq '"FOUND all"' log || [ $waited -ge 900 ]; do
    sleep 1
    waited=$((waited + 1))
  done
  kill $visitor 2>/dev/null || true
  wait $visitor || true
  sed -n 's/.*"\(FOUND .*\)", source: file:.*/\1/p' log >found
  grep -qxF 'FOUND all' found || fail "the visitor was lost: $(tail -n 5 log)"
  no_complaints
}
found() {
  grep -qxF "FOUND $1: $2" found || fail "$1 is not $2: $(grep "FOUND $1:" found)"
}

# ticks WHAT NAME A B C D: the first label of the axis lies from A to B, the last from C to D.
ticks() {
  sed -n "s/^FOUND $2: \"\(.*\)\"/\1/p" found |
    awk -v a="$3" -v b="$4" -v c="$5" -v d="$6" '{ exit !($1 >= a && $1 <= b && $NF >= c && $NF <= d) }' ||
    fail "$1: $(grep "FOUND $2:" found)"
}

if grep -qF 'built without dygraphs' report.html; then alive=false; else alive=true; fi
visit report.html 1400,900
found wrong '[]'
found fetched 0
found alive $alive
found machine true
found follows true
found event '"t = 0.400 s"'
found second '"t = 0.800 s"'
found back '"t = 0.400 s"'
found look '"dark"'
found other '"light"'
found help true
found listed '"0.4 s gate"'
found end '"t = 1.000 s"'
found named true
if $alive; then
  found drawn true
  found whole true
  ticks 'whole run' ticks 0 0 1 1
  # A quarter of the run about the cursor at 0.4 s, then a quarter of that further on.
  ticks 'zoom about the cursor' zoomed 0.3 0.325 0.525 0.55
  ticks 'view moved' moved 0.3625 0.4 0.6 0.6125
  # The value beside the truth's key at 0.4 s, in degrees.
  near "$(sed -n 's/^FOUND value: "\(.*\)"/\1/p' found)" \
    "$(awk -v a="$(cell truth.csv 402 'crank.angle[rad]')" 'BEGIN { print a * 180 / 3.14159265358979 }')" 0.001 'value under the cursor'
fi
visit report.html 500,900
found wrong '[]'
found narrow true

# Without the library: static plots, and all else works.
awk '/<script>/ { getline next_line; if (next_line ~ /dygraphs/) skip = 1; else { print; $0 = next_line } }
  !skip { print } /<\/script>/ { skip = 0 }' report.html >static.html
visit static.html 1400,900
found wrong '[]'
found alive false
found follows true
found event '"t = 0.400 s"'

# ---- looks and paper ----

# take OPTION URL: one that ends by itself.
take() {
  (browse --window-size=1400,1000 --virtual-time-budget=10000 "$@") || fail "the browser does not run: $(tail -n 5 log)"
  no_complaints
}
for look in light dark; do
  take "--screenshot=$work/$look.png" "file://$work/report.html?look=$look"
  [ "$(wc -c <$look.png)" -gt 20000 ] || fail "the $look look is empty"
done
if cmp -s light.png dark.png; then fail 'both looks are the same'; fi
take "--print-to-pdf=$work/report.pdf" "file://$work/report.html?look=dark"
[ "$(head -c 5 report.pdf)" = '%PDF-' ] || fail 'no paper'
[ "$(wc -c <report.pdf)" -gt 50000 ] || fail 'the paper is empty'
