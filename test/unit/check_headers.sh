#!/bin/sh
# Every public header compiles alone, as C11 and as C++, without a warning.
set -eu
cd "${BRAMAH_SOURCE_ROOT:-.}"
for header in include/bramah/*.h; do
  name=bramah/${header##*/}
  echo "#include \"$name\"" | ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude -x c -fsyntax-only -
  if command -v "${CXX:-c++}" >/dev/null; then
    echo "#include \"$name\"" | ${CXX:-c++} -std=c++17 -Wall -Wextra -Wpedantic -Werror -Iinclude -x c++ -fsyntax-only -
  fi
done
