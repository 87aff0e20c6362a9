#!/bin/sh
# What is made of the tables of the commands: help of one screen, manual pages, completion.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"

run 0 generate .
commands=$("$program" --help | sed -n 's/^  \([a-z]*\)  *[A-Z].*/\1/p')
same "$(echo "$commands" | wc -l)" 14 'commands in the help'
for one in '' $commands; do
  # shellcheck disable=SC2086
  run 0 $one --help
  awk -v name="$one" 'length > 80 { print name ": " $0; bad = 1 } END { exit bad || NR > 24 }' out ||
    fail "the help of '$one' is no screen of 24 x 80"
done

# Every option has its place in page and completion.
for one in $commands; do
  [ -s "bramah-$one.1" ] || fail "there is no page of $one"
  run 0 "$one" --help
  for option in $(sed -n 's/^  --\([a-z-]*\).*/\1/p' out); do
    grep -q "^.It Fl -$option" "bramah-$one.1" || fail "bramah-$one.1 does not explain --$option"
    grep -q "^    $one) .*--$option " bramah.bash || fail "$one --$option is not completed"
  done
  grep -q "^.It Xr bramah-$one 1" bramah.1 || fail "bramah.1 does not name $one"
done
if command -v mandoc >/dev/null; then
  mandoc -T lint -W warning ./*.1 || fail 'mandoc finds fault with the pages'
  mandoc -T ascii bramah-simulate.1 | sed "s/.$(printf '\010')//g" >page
  grep -q 'May be repeated' page || fail 'the page does not say what may be repeated'
fi

# What the documents call an option is one.
grep -ohE 'bramah [a-z]+ [^`|]*' "$source_root"/README.md "$source_root"/datasets/README.md "$source_root"/datasets/*/README.md |
  sed 's/[#;].*//' >shown
[ "$(grep -c . shown)" -gt 40 ] || fail 'the documents show no commands'
while read -r _ one rest; do
  [ -f "bramah-$one.1" ] || continue
  for option in $(echo "$rest" | grep -oE -e '--[a-z-]+'); do
    grep -q "^    $one) .*$option " bramah.bash || fail "a document says 'bramah $one $option', which there is not"
  done
done <shown

# complete WORD...: what bash offers for the last word.
complete() {
  # shellcheck disable=SC2016
  bash -c '. ./bramah.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bramah; echo "${COMPREPLY[@]}"' complete "$@"
}
if command -v bash >/dev/null; then
  same "$(complete bramah li)" linearize 'completion of a command'
  same "$(complete bramah replay a b --snap)" '--snapshot --snapshot-every' 'completion of an option'
  same "$(complete bramah tune a --method s)" 'scoring simplex' 'completion of a word'
  same "$(complete bramah replay a --every '')" '' 'completion of a number'
  same "$(complete bramah replay bramah-rep)" bramah-replay.1 'completion of a file'
  touch 'a log.csv'
  same "$(complete bramah replay 'a l')" 'a log.csv' 'completion of a name with a blank'
fi
