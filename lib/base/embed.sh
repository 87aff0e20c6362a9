#!/bin/sh
# embed.sh OUT NAME FILE [NAME FILE]...: C source with each text file as `const char NAME[]`, terminated, and its length NAME_size. No FILE ("-"): empty.
# Pointers to source maps are left out: the page refers to nothing outside it. Done with od, which every build machine has.
set -eu
out=$1
shift
{
  echo '/* Made by embed.sh. */'
  while [ $# -gt 1 ]; do
    # The texts go between tags of a page and must not close them; a page is one itself.
    if [ "$2" != - ] && [ "${2%.html}" = "$2" ] && grep -qi '</s\(cript\|tyle\)' "$2"; then
      echo "embed.sh: $2 holds a closing tag" >&2
      exit 1
    fi
    echo "extern const char $1[];"
    echo "const char $1[] = {"
    [ "$2" = - ] || sed 's|/[/*]# sourceMappingURL=[^ ]*\( \*/\)*||' "$2" | od -An -v -t o1 | sed "s/ *\([0-7][0-7][0-7]\)/'\\\\\1',/g"
    echo '0};'
    echo "extern const unsigned long $1_size;"
    echo "const unsigned long $1_size = sizeof $1 - 1;"
    shift 2
  done
} >"$out"
