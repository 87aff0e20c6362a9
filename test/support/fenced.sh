#!/bin/sh
# fenced.sh FILE.md: writes the blocks whose fence says "LANGUAGE NAME" to files of these names, those that say "sh run" to
# run-01.sh, run-02.sh and so on, in the folder it is called in.
set -eu
awk '
  /^```/ && !on {on = 1; n = split(substr($0, 4), word, " ")
                 file = word[1] == "sh" && word[2] == "run" ? sprintf("run-%02d.sh", ++runs) : n == 2 ? word[2] : ""; next}
  /^```/ {on = 0; next}
  on && file != "" {print > file}' "$1"
