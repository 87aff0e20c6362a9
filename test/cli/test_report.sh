#!/bin/sh
# The report of a replay, its pictures and its numbers: what they hold, and that the page needs nothing from outside.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
make_log 1

# Sensors with gates; one sample far off and a stretch without any.
sed -e "s,^machine: .*,machine: $machine," -e 's/\(p1: .*sigma: 0.5 bar\)/\1, gate: 4/' "$study" >gated.yaml
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "p1[Pa]") p1 = i; if ($i == "crank_encoder[rad]") e = i } }
  NR == 402 { $p1 += 1e6 } NR > 602 && NR < 722 { $e = "" } { print }' log.csv >odd.csv

run 0 replay gated.yaml odd.csv --output estimate.csv --truth truth.csv --report report.html --plot plots.svg --plot-data plots.csv
quiet err
says out 'report: report.html'
says out 'plots: plots.svg'
says out 'plotted numbers: plots.csv'
cp estimate.csv first.csv
run 0 replay gated.yaml odd.csv --output estimate.csv
cmp estimate.csv first.csv || fail 'the report changes the estimates'

# ---- page ----

for section in 'Estimated states' 'Errors against the truth' 'Measurements over predictions' Innovations \
  'Autocorrelation of the innovations' 'Normalised innovations squared' 'Conditioning of the covariance' 'Time per step' Events; do
  grep -qF "<h2>$section</h2>" report.html || fail "no section '$section'"
done
grep -qF '<b>0.4 s</b> <i>gate</i> p1: rejected, innovation ' report.html || fail 'the gate is no event'
grep -Eq '<b>0.72 s</b> <i>gap</i> crank_encoder: no sample for 0.12 s' report.html || fail 'the gap is no event'
grep -qF '"motions":[{"name":"","text":"","parts":[[' report.html || fail 'no machine'

# ---- the answer ----

# answer CLASS HEADLINE FILE: this level, this sentence, before any plot.
answer() {
  awk '/<figure/ { exit } { print }' "$3" >top.html
  grep -qF "<section id=\"answer\" class=\"$1\"" top.html || fail "$3 is not $1"
  grep -qF "<strong>$2</strong>" top.html || fail "$3 does not say: $2"
}
answer fine 'Nothing contradicts these estimates' report.html
grep -q 'p class="reason">[0-9]* tests found nothing. The nearest to its limit: ' top.html || fail 'no reason'

# A sensor that is off for a while, and a log that ends in a bad row.
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "p1[Pa]") p1 = i }
  NR > 400 && NR < 700 { $p1 += 1e6 } { print }' log.csv >off.csv
run 3 replay gated.yaml off.csv --output other.csv --report off.html
answer wrong 'Do not trust these estimates: the log contradicts the filter' off.html
grep -q '<p class="reason">p1, .*, tolerated at most' top.html || fail 'no reason'
grep -q '<p class="advice"><b>What to do</b> A single cause would explain .* p1 bias ' top.html || fail 'no advice'
grep -q '<a id="window" href="#first" data-begin=' top.html || fail 'no way to the worst window'
grep -A2 '<section id="first">' off.html | grep -qF '<strong>p1: innovation</strong>' || fail 'the worst plot is not the first'
sed '502s/.*/0.5,not a number/' log.csv >bad.csv
run 1 replay gated.yaml bad.csv --output other.csv --report bad.html
answer wrong 'The run was broken off at 0.499 s: no verdict' bad.html
grep -q '<p class="reason">bad.csv:502:.*What was estimated before is not judged' top.html || fail 'no place'
if grep -qiE 'nothing contradicts|consistent' top.html; then fail 'a run that was broken off looks like a success'; fi

grep -qF "Content-Security-Policy\" content=\"default-src 'none'" report.html || fail 'no policy'
# Between the tags, scripts left out: nothing that would be fetched.
awk '/<script/ { skip = 1 } !skip { print } /<\/script>/ { skip = 0 }' report.html >tags.html
for outside in 'http:' 'https:' '<link' 'src=' '@import' 'url(' '<iframe' '<object'; do
  if grep -qF "$outside" tags.html; then fail "the page refers to something outside: $outside"; fi
done
# Every link within the page has its place, every plot its data.
grep -o 'href="#[a-z0-9]*"' report.html | sed 's/.*#//; s/"//' >links
[ -s links ] || fail 'no links within the page'
while read -r id; do
  grep -qF "id=\"$id\"" report.html || fail "a link leads to $id, which is not there"
done <links
[ "$(grep -c '<figure id=' report.html)" -gt 20 ] || fail 'too few plots'
# Tags are closed in their order.
sed 's/<style>/\n<style>/' report.html | awk '/<(script|style)/ { skip = 1 } !skip { print } /<\/(script|style)>/ { skip = 0 }' |
  grep -o '<[/a-z][a-z0-9]*[^>]*>' | awk '
    /^<(meta|br)/ || /\/>$/ { next }
    /^<\// { name = substr($0, 3, length($0) - 3); if (n == 0 || stack[n] != name) { print "closes nothing: " $0; exit 1 } n--; next }
    { match($0, /^<[a-z0-9]+/); stack[++n] = substr($0, 2, RLENGTH - 1) }
    END { if (n != 0) { print "left open: " stack[n]; exit 1 } }' >wrong || fail "the page is not well formed: $(cat wrong)"

# ---- numbers ----

same "$(head -n 1 plots.csv)" 'plot,unit,series,x,steps,min,mean,max,low,high' 'header of the numbers'
same "$(awk -F, '$1 == "crank.angle" && $3 == "estimate" { n += $5 } END { print n }' plots.csv)" 1001 'points of an estimate'
same "$(awk -F, '$1 == "p1: innovation" && $3 == "rejected" { print $4 }' plots.csv)" 0.4 'time of the rejected sample'
near "$(awk -F, '$1 == "crank.angle" && $3 == "estimate" && $4 == 1 { print $7 }' plots.csv)" \
  "$(awk -v a="$(cell estimate.csv 1002 'crank.angle[rad]')" 'BEGIN { print a * 180 / 3.14159265358979 }')" 1e-4 'plotted and written'

# ---- pictures ----

grep -qF '<svg xmlns="http://www.w3.org/2000/svg"' plots.svg || fail 'no picture'
run 2 replay gated.yaml odd.csv --output estimate.csv --plot two.pdf
says err 'ends in .svg'
run 1 replay gated.yaml odd.csv --output estimate.csv --plot-data odd.csv
run 1 replay gated.yaml odd.csv --output estimate.csv --plot estimate.svg --report estimate.svg

# Numbers to standard output; the summary goes elsewhere.
run 0 replay gated.yaml odd.csv --output estimate.csv --plot-data -
same "$(head -n 1 out)" 'plot,unit,series,x,steps,min,mean,max,low,high' 'numbers on standard output'
says err 'verdict'
