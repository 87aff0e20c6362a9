#!/bin/sh
# Every public header compiles alone, as C11 and as C++, without a warning; bramah.h has all of them, and those of the core where
# only the core is asked for.
set -eu
cd "${BRAMAH_SOURCE_ROOT:-.}"
fail() {
  echo "$1" >&2
  exit 1
}
compiles() {
  echo "$1" | ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude -x c -fsyntax-only -
  if command -v "${CXX:-c++}" >/dev/null; then
    echo "$1" | ${CXX:-c++} -std=c++17 -Wall -Wextra -Wpedantic -Werror -Iinclude -x c++ -fsyntax-only -
  fi
}
for header in include/bramah/*.h; do
  name=bramah/${header##*/}
  compiles "#include \"$name\""
  grep -qF "#include <$name>" include/bramah.h || fail "bramah.h does not include $name"
  grep -qF "'${header##*/}'" include/bramah/meson.build || fail "$name is not installed"
done
compiles '#include <bramah.h>'
compiles '#define BRAMAH_CORE_ONLY
#include <bramah.h>'
# What only the tools have is GPL: the core's headers lead to none of it.
printf '#define BRAMAH_CORE_ONLY\n#include <bramah.h>\n' | ${CC:-cc} -Iinclude -x c -M - | tr ' ' '\n' | grep '^include/bramah/' |
  while read -r header; do
    head -n 1 "$header" | grep -q 'MIT' || fail "$header is of the core and not under the MIT licence"
  done
# What comments call by name is there: of the headers, and in the native code that they describe.
awk '
  function names(text, said, word) {
    while (match(text, /bramah_[a-z0-9_]+/)) {
      word = substr(text, RSTART, RLENGTH)
      text = substr(text, RSTART + RLENGTH)
      if (said) at[word] = FILENAME; else known[word] = 1
    }
  }
  BEGIN { known["bramah_parts"] = known["bramah_n_parts"] = 1 }
  {
    for (line = $0; line != ""; comment = end ? !comment : comment) {
      end = index(line, comment ? "*/" : "/*")
      names(end ? substr(line, 1, end - 1) : line, comment)
      line = end ? substr(line, end + 2) : ""
    }
  }
  END { for (word in at) if (!(word in known)) { print at[word] ": there is no " word; bad = 1 }; exit bad }' include/bramah/*.h >&2 ||
  fail 'a comment names what there is not'
