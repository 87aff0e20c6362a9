#!/bin/sh
# Makes the reference manual from the public headers; warnings are errors. Argument: the folder it goes to.
set -eu
folder=$1
cd "$(dirname "$0")/.."
command -v doxygen >/dev/null || {
  echo "the manual needs doxygen" >&2
  exit 77
}
mkdir -p "$folder"

# doxygen with further settings from standard input
manual() {
  {
    cat include/Doxyfile
    echo "INPUT = include/manual.dox include/bramah"
    echo "FILTER_PATTERNS = \"*.h=awk -f include/manual.awk\""
    echo "OUTPUT_DIRECTORY = \"$folder\""
    echo "PROJECT_NUMBER = $(sed -n 's/^#define BRAMAH_VERSION "\(.*\)"$/\1/p' include/bramah/status.h)"
    cat
  } | doxygen -
}

manual </dev/null || {
  echo "the manual has warnings" >&2
  exit 1
}
# Every function and structure is described. (Members whose names say it all, and opaque types, need not be.)
echo "EXTRACT_ALL = NO
GENERATE_HTML = NO
WARN_AS_ERROR = NO" | manual 2>&1 | grep -E 'Compound|\(function\)' && {
  echo "these are not described" >&2
  exit 1
}
echo "manual: $folder/html/index.html"
