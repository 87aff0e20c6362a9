#!/bin/sh
# The JSON Schemas take every file that is shipped or that `bramah check` finds right, and find what an editor should.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

/usr/bin/python3 -c 'import jsonschema, yaml' 2>/dev/null || {
  echo 'skipped: python3-jsonschema and python3-yaml are not installed'
  exit 77
}
run 0 generate .
validate() {
  /usr/bin/python3 "$source_root/test/cli/schema.py" "$@" >out 2>&1
}

kind_of() {
  if grep -q '^plan:' "$1"; then echo plan; elif grep -q '^work:' "$1"; then echo work; elif grep -q '^display:' "$1" && ! grep -q '^study:' "$1"; then echo display; elif grep -q '^study:' "$1"; then echo study; else echo machine; fi
}
sh "$source_root/test/support/fenced.sh" "$source_root/README.md"

# The same machine and study in units of the trade.
sed -e 's/16 kg/35.274 lb ± 5 %/; s/76 bar/1102.3 psi/; s/-9.81, 0 m\/s^2/-1, 0 gn/; s/1 bar$/1.02 kgf\/cm²/' \
  "$source_root/datasets/four-bar/four-bar.yaml" >trade-machine.yaml
sed -e 's/^machine:.*/machine: trade-machine.yaml/; s/0.5 bar, rate/7.25 psi, scale: [[4 mA, 0 bar], [20 mA, 250 bar]], rate/' \
  -e 's/1 deg, rate: 1 kHz/1 °, scale: 0.1 deg, unit: counts, gate: off, rate: 1 kHz/' \
  "$source_root/datasets/four-bar/sensors-2.yaml" >trade-study.yaml
run 0 check trade-machine.yaml
run 0 check trade-study.yaml
for file in "$source_root"/datasets/*/*.yaml "$source_root"/test/campaign/*.yaml boom.yaml boom-study.yaml trade-*.yaml; do
  echo "$(kind_of "$file") $file"
done >files
[ "$(grep -c . files)" -gt 30 ] || fail "only $(grep -c . files) files were found"
for kind in machine study plan work display; do
  sed -n "s/^$kind //p" files >these
  # shellcheck disable=SC2046
  validate $kind.schema.json $(cat these) || fail "the schema of $kind does not take what is right"
done
validate machine.schema.json "$source_root"/test/fuzz/corpus/machine/*.yaml || :
sed -n 's/^\([^:]*\.yaml\):.*/\1/p' out | sort -u >refused
[ "$(grep -c . refused)" -gt 10 ] || fail 'nothing of the corpus is refused'
while read -r file; do
  ! "$program" check "$file" >/dev/null 2>&1 || fail "$file is refused, but nothing is wrong with it"
done <refused

# wrong FILE SED TEXT: changed so, it is found, and the message has the text.
wrongs=0
wrong() {
  wrongs=$((wrongs + 1))
  sed "$2" "$1" >"wrong-$wrongs.$(kind_of "$1").yaml"
  ! cmp -s "$1" "wrong-$wrongs.$(kind_of "$1").yaml" || fail "'$2' changes nothing"
  echo "$wrongs $3" >>wanted
}
bar=$source_root/datasets/four-bar
wrong "$bar/four-bar.yaml" 's/^gravity:/gravty:/' "'gravty' was unexpected"
wrong "$bar/four-bar.yaml" 's/^    mass:/    mas:/' "'mass' is a required property"
wrong "$bar/four-bar.yaml" 's/^    mass: .*/    mass: 3 bar/' "'3 bar' does not match"
wrong "$bar/four-bar.yaml" 's/^    mass: .*/    mass: 8.5e1 bar/' 'does not match'
wrong "$bar/four-bar.yaml" 's/^    mass: .*/    mass: -3 kg/' 'does not match'
wrong "$bar/four-bar.yaml" 's/^    mass: .*/    mass: 3/' '0 was expected'
wrong "$bar/four-bar.yaml" 's/type: revolute/type: revolut/' "'revolut' is not one of"
wrong "$bar/four-bar.yaml" 's/type: revolute/type: fixed/' 'False schema'
wrong "$bar/four-bar.yaml" 's/^gravity: .*/gravity: [0, -9.81 m\/s^2]/' 'is too short'
wrong "$bar/four-bar.yaml" 's/bulk_modulus:/bulk_modul:/' "'bulk_modul' was unexpected"
wrong "$bar/sensors-2.yaml" 's/^sensors:/sensor:/' "'sensor' was unexpected"
wrong "$bar/sensors-2.yaml" 's/type: encoder/type: encodr/' "'encodr' is not one of"
wrong "$bar/sensors-2.yaml" 's/volume: v1/joint: v1/' "'joint' was unexpected"
wrong "$bar/sensors-2.yaml" 's/sigma: 0.5 bar, rate: 1 kHz/sigma: 0.5 bar, rate: 1 m/' "'1 m' does not match"
wrong "$bar/estimator-study.yaml" 's/^seeds: .*/seeds: 0.5/' "is not of type 'integer'"
wrong "$bar/estimator-study.yaml" 's/transition: step/transition: steps/' "'steps' is not one of"
for kind in machine study plan work; do
  if validate $kind.schema.json wrong-*.$kind.yaml; then fail "nothing is wrong with a $kind"; fi
  cat out >>found
done
while read -r i text; do
  grep "^wrong-$i\." found | grep -qF -e "$text" || fail "mistake $i: '$text' is not said: $(grep "^wrong-$i\." found)"
done <wanted
