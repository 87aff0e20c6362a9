#!/bin/sh
# make.sh OUTPUT.fmu [2|3] [-DSAVES=0 ...]: the crane as an FMU of that version (3). Needs a C compiler and python3.
# SERIALIZES=no: its description does not promise that saved states can be written as bytes; HEADERS: where those of the standard are.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
output=$(realpath -m "$1")
version=${2:-3}
[ $# -le 2 ] && set -- || shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $(uname -m) in
x86_64) platform2=linux64 platform3=x86_64-linux ;;
*) platform2=$(uname -m)-linux platform3=$(uname -m)-linux ;;
esac
[ "$version" = 2 ] && platform=$platform2 || platform=$platform3
saves=true
case " $* " in *" -DSAVES=0 "*) saves=false ;; esac
serializes=$saves
[ "${SERIALIZES:-yes}" = yes ] || serializes=false
mkdir -p "$work/binaries/$platform"
sed -e "s/@SAVES@/$saves/" -e "s/@SERIALIZES@/$serializes/" "$here/modelDescription-$version.xml" >"$work/modelDescription.xml"
${CC:-cc} -std=c11 -O2 -ffp-contract=off -shared -fPIC -DFMI_VERSION="$version" "$@" -I"${HEADERS:-$here/../../lib/fmi/headers}" "$here/crane.c" \
  -o "$work/binaries/$platform/crane.so" -lm
cd "$work"
rm -f "$output"
python3 -m zipfile -c "$output" modelDescription.xml binaries/
