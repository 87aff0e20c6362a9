#!/bin/sh
# Native code of a machine: the bytes of the tape, from the compiler or from the cache; whatever is wrong with these leaves the
# tape, and is told by --how and JSON alone.
# shellcheck source=test/cli/common.sh
. "${BRAMAH_SOURCE_ROOT:?}/test/cli/common.sh"
[ -z "${BRAMAH_WRAP:-}" ] || exit 77 # Valgrind does not know all instructions of this processor
data=$BRAMAH_SOURCE_ROOT/datasets/rotary-actuator
export BRAMAH_NATIVE=wait XDG_CACHE_HOME="$PWD/cache" CC="${BRAMAH_CC:-cc}"
cache=$XDG_CACHE_HOME/bramah

# The replay, which the measurements contradict, by native code in the manner that $1 tells, with the bytes of the tape.
replay() {
  run 3 replay "$data/act1.yaml" "$data/act1-base-3.tsv" --to 0.3 --output native.csv --how --json native.json
  quiet err
  grep -q "steps by it, .* by the interpreter[^;]*; $1\$" out || fail "$1: not said by --how"
  cmp tape.csv native.csv || fail "$1: other bytes than those of the tape"
}

BRAMAH_NATIVE=off run 3 replay "$data/act1.yaml" "$data/act1-base-3.tsv" --to 0.3 --output tape.csv --how --json tape.json
says out '; native code is off'
[ ! -e "$cache" ] || fail 'a cache though native code is off'
replay 'native code compiled in [0-9.]* s'
grep -q '"compiled": 1,' native.json || fail 'JSON does not tell'
same "$(stat -c %a "$cache")" 700 'mode of the cache'
same "$(find "$cache" -type f | wc -l)" 1 'files in the cache'
replay 'native code from the cache'

# A file that ends too early, one of somebody else's making, and one that anybody can write to: made again.
library=$(echo "$cache"/*.so)
for damage in 'truncate -s 9000' 'cp /bin/true' 'chmod 666'; do
  $damage "$library"
  replay 'native code compiled in .* s; no native code: a file in the cache was damaged'
done
replay 'native code from the cache'

# A folder that others can read, a link, no compiler, one that fails: the tape.
chmod 755 "$cache"
replay 'no native code: the cache is not a folder of the user.s alone'
chmod 700 "$cache"
mv "$cache" real
ln -s "$PWD/real" "$cache"
replay 'no native code: the cache is not a folder of the user.s alone'
rm "$cache"
CC=no-such-compiler
replay 'no native code: no C compiler'
CC=false
replay 'no native code: the C compiler failed; its log is in the cache'
same "$(find "$cache" -type f ! -name '*.log')" '' 'files left behind'
replay 'no native code: the C compiler failed; its log is in the cache'

# No home: a folder of its own, which goes with the program.
unset XDG_CACHE_HOME HOME
CC=${BRAMAH_CC:-cc} TMPDIR=$PWD/temporary
export TMPDIR
mkdir temporary
replay 'native code compiled in .* s'
same "$(ls temporary)" '' 'temporary files'

# The oldest of too many files go.
HOME=$PWD
export HOME
mkdir -p .cache
mkdir -m 700 .cache/bramah
i=0
while [ $i -lt 210 ]; do
  : >".cache/bramah/$i.so"
  touch -d "2020-01-01 00:00:$((i / 10))" ".cache/bramah/$i.so"
  i=$((i + 1))
done
replay 'native code compiled in .* s'
same "$(find .cache/bramah -type f | wc -l)" 200 'files in the cache'
[ ! -e .cache/bramah/0.so ] || fail 'the oldest file is still there'
