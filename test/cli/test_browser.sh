#!/bin/sh
# The pages of reports in a browser, without a network: no errors, the verdict on the first screen, nothing clipped on a
# phone, plots and machine that follow the cursor, keys; and pictures of all pages in light, dark, on a phone and on paper, which
# stay beside the log of the tests. Skipped without Chromium.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
# shellcheck source=test/cli/browser.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/browser.sh"

# ---- the pages ----

make_log 1
sed -e "s,^machine: .*,machine: $machine," -e 's/\(p1: .*sigma: 0.5 bar\)/\1, gate: 4/' "$study" >gated.yaml
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "p1[Pa]") p1 = i }
  NR == 402 || NR == 802 { $p1 += 1e6 } { print }' log.csv >odd.csv
run 0 replay gated.yaml odd.csv --output estimate.csv --truth truth.csv --report replay.html
sed "s,^machine: .*,machine: $machine," "$source_root/datasets/four-bar/tuning.yaml" >tuning.yaml
run 0 tune tuning.yaml log.csv --budget 30 --report tune.html
four_bar=$source_root/datasets/four-bar
sed -e "s,: \(sensors-.\|four-bar\).yaml,: $four_bar/\1.yaml,; s/^duration: .*/duration: 1 s/; s/^settle: .*/settle: 0.5 s/" \
  "$four_bar/estimator-study.yaml" >plan.yaml
run 0 study plan.yaml --seeds 1 --scenario A --report study.html
run 0 modes "$source_root/datasets/crane/crane.yaml" --at rest --report modes.html
pages='replay tune study modes'

# Of 10 s at 1 kHz, and of a log that contradicts.
(cd "$source_root/datasets/four-bar" && "$program" replay sensors-2.yaml log.csv --truth truth.csv --output "$work/ten.csv" \
  --report "$work/ten.html" >"$work/out") || fail 'no report of the shipped log'
[ "$(wc -c <ten.html)" -le 1500000 ] || fail "the report of 10 s has $(wc -c <ten.html) bytes"
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "p1[Pa]") p1 = i }
  NR > 400 && NR < 700 { $p1 += 1e6 } { print }' log.csv >off.csv
run 3 replay gated.yaml off.csv --output other.csv --report off.html

# ---- what a page does ----

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
  const page = location.pathname.replace(/.*visited-|[.]html/g, '') + (location.hash || '#wide');
  const found = {}, $ = (s) => document.querySelector(s);
  const pause = (ms) => new Promise((go) => setTimeout(go, ms));
  await pause(300);
  const answer = $('#answer .headline').getBoundingClientRect();
  found.first = answer.bottom < 800 && answer.top > 0 && getComputedStyle($('#answer .headline')).display !== 'none';
  found.narrow = document.documentElement.scrollWidth <= innerWidth;
  const clipped = [...document.querySelectorAll('.p text, .headline, .reason, figcaption, summary')].filter((e) => {
    const r = e.getBoundingClientRect();
    return r.width && (r.left < -0.5 || r.right > innerWidth + 0.5);
  });
  found.clipped = clipped.map((e) => e.textContent).slice(0, 3);
  /* Everything a mouse can press can be reached by the tab key and has a name. */
  const controls = [...document.querySelectorAll('button, select, input, a[href], summary')].filter((c) => c.getClientRects().length);
  found.named = controls.every((c) => c.tabIndex >= 0 && (c.getAttribute('aria-label') || c.textContent.trim()));
  found.contents = document.querySelectorAll('nav').length;
  if (page === 'modes#wide') {
    const shape = () => [...document.querySelectorAll('#machine svg path:not(.ghost)')].map((p) => p.getAttribute('d')).join();
    const before = shape(), choice = $('#machine select');
    found.modes = choice.options.length;
    choice.value = 1;
    choice.dispatchEvent(new Event('change'));
    found.chosen = shape() !== before && $('#machine .told').textContent.includes('Hz');
  }
  if (page === 'off#wide') {
    $('#window').click();
    await pause(100);
    const link = $('#window').dataset;
    found.window = Math.abs(parseFloat($('#tools output').value.slice(4)) - (Number(link.begin) + Number(link.end)) / 2) < 1e-3;
  }
  if (page === 'replay#wide') {
    const key = async (k) => { document.dispatchEvent(new KeyboardEvent('keydown', {key: k, bubbles: true, cancelable: true})); await pause(100); };
    const machine = () => [...document.querySelectorAll('#machine svg path')].map((p) => p.getAttribute('d')).join();
    const figure = $('#plot0');
    const ticks = () => [...figure.querySelectorAll('.p .x')].map((l) => l.textContent).join(' ');
    const box = $('#machine svg').getBoundingClientRect();
    found.large = box.width >= 500 && box.bottom < 900;
    found.middle = $('#tools output').value;
    const still = machine();
    found.machine = still.length > 50;
    figure.scrollIntoView();
    await pause(200);
    found.ticks = ticks();
    await key('p');
    found.event = $('#tools output').value;
    found.value = figure.querySelector('.v').textContent;
    await key('n');
    found.second = $('#tools output').value;
    await key('[');
    found.back = $('#tools output').value;
    for (let i = 0; i < 2; i++) await key('+');
    found.zoomed = ticks();
    found.part = figure.querySelector('.i').viewBox.baseVal.width;
    await key('ArrowRight');
    found.moved = ticks();
    await key('0');
    found.whole = ticks() === found.ticks;
    await key('d');
    found.look = document.documentElement.dataset.look;
    await key('d');
    found.other = document.documentElement.dataset.look;
    await key('?');
    found.help = $('dialog').open;
    $('dialog').close();
    $('#events ol').focus();
    $('#events ol').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true, cancelable: true}));
    await pause(100);
    found.listed = $('#events [aria-selected=true]').textContent.slice(0, 10);
    const slider = $('#tools input');
    slider.value = slider.max;
    slider.dispatchEvent(new Event('input'));
    await pause(100);
    found.end = $('#tools output').value;
    found.follows = machine() !== still;
  }
  found.fetched = performance.getEntriesByType('resource').length;
  found.wrong = wrong;
  for (const name in found) console.log('FOUND ' + page + ' ' + name + ': ' + JSON.stringify(found[name]));
})();
</script>
END
for page in $pages off; do
  awk 'FNR == NR { first = first $0 "\n"; next } { print } /^<head>/ { printf "%s", first }' first.html $page.html |
    awk '/^<\/body>/ { while ((getline line < "last.html") > 0) print line } { print }' >visited-$page.html
done


# ticks WHAT NAME A B C D: the first label of the axis lies from A to B, the last from C to D; the name of the axis is behind.
ticks() {
  sed -n "s/^FOUND replay#wide $2: \"time .s. \(.*\)\"/\1/p; s/^FOUND replay#wide $2: \"\(.*\) time .s.\"/\1/p" found |
    awk -v a="$3" -v b="$4" -v c="$5" -v d="$6" '{ exit !($1 >= a && $1 <= b && $NF >= c && $NF <= d) }' ||
    fail "$1: $(grep "FOUND replay#wide $2:" found)"
}

# All pages at once, wide and narrow.
addresses=
for page in $pages off; do addresses="$addresses visited-$page.html#wide"; done
# addresses are words
# shellcheck disable=SC2086
sheet wide.html 1400 900 $addresses
addresses=
for page in $pages off; do addresses="$addresses visited-$page.html#phone"; done
# shellcheck disable=SC2086
sheet phone.html 390 900 $addresses
echo '<!DOCTYPE html><style>body{margin:0}iframe{border:0}</style><iframe width="7000" height="900" src="wide.html"></iframe>
<iframe width="7000" height="900" src="phone.html"></iframe>' >visit.html
browse --window-size=7000,1900 "--screenshot=$work/visit.png" "file://$work/visit.html"
no_complaints
sed -n 's/.*"\(FOUND .*\)", source: file:.*/\1/p' log >found
for page in $pages off; do
  for form in wide phone; do
    found "$page#$form wrong" '[]'
    found "$page#$form fetched" 0
    found "$page#$form first" true
    found "$page#$form narrow" true
    found "$page#$form clipped" '[]'
    found "$page#$form named" true
    found "$page#$form contents" 1
  done
done
found 'modes#wide modes' 7
found 'modes#wide chosen' true
found 'replay#wide large' true
found 'replay#wide middle' '"t = 0.500 s"'
found 'replay#wide machine' true
found 'replay#wide follows' true
found 'replay#wide event' '"t = 0.400 s"'
found 'replay#wide second' '"t = 0.800 s"'
found 'replay#wide back' '"t = 0.400 s"'
found 'off#wide window' true
found 'replay#wide look' '"dark"'
found 'replay#wide other' '"light"'
found 'replay#wide help' true
found 'replay#wide listed' '"0.4 s gate"'
found 'replay#wide end' '"t = 1.000 s"'
found 'replay#wide whole' true
ticks 'whole run' ticks 0 0 1 1
# A quarter of the run about the cursor at 0.4 s, then a quarter of that further on.
ticks 'zoom about the cursor' zoomed 0.3 0.325 0.525 0.55
ticks 'view moved' moved 0.3625 0.4 0.6 0.6125
# The value beside the estimate's key at 0.4 s, in degrees, by the picture.
near "$(sed -n 's/^FOUND replay#wide value: "\(.*\)"/\1/p' found)" \
  "$(awk -v a="$(cell estimate.csv 402 'crank.angle[rad]')" 'BEGIN { print a * 180 / 3.14159265358979 }')" 0.05 'value under the cursor'

# ---- pictures ----

pages="$pages off"
for look in light dark; do
  addresses=
  for page in $pages; do addresses="$addresses $page.html?look=$look"; done
  # shellcheck disable=SC2086
  sheet $look.html 1400 1000 $addresses
  browse "--window-size=$(($(echo "$pages" | wc -w) * 1400)),1000" "--screenshot=$pictures/$look.png" "file://$work/$look.html"
  no_complaints
  [ "$(wc -c <"$pictures/$look.png")" -gt 60000 ] || fail "the $look look is empty"
done
if cmp -s "$pictures/light.png" "$pictures/dark.png"; then fail 'both looks are the same'; fi
addresses=
for page in $pages; do addresses="$addresses $page.html?look=light"; done
# shellcheck disable=SC2086
sheet phone.html 390 2600 $addresses
browse "--window-size=$(($(echo "$pages" | wc -w) * 390)),2600" "--screenshot=$pictures/phone.png" "file://$work/phone.html"
no_complaints
for page in ${pages% off}; do
  browse "--print-to-pdf=$pictures/$page.pdf" "file://$work/$page.html?look=dark"
  no_complaints
  [ "$(head -c 5 "$pictures/$page.pdf")" = '%PDF-' ] || fail "no paper of $page"
  if command -v pdftoppm >/dev/null; then pdftoppm -r 60 -png -f 1 -l 2 "$pictures/$page.pdf" "$pictures/print-$page"; fi
done
echo "pictures: $pictures"
