# SPDX-License-Identifier: MIT
# The public headers as Doxygen wants them. Their comments are plain; here
#   - the comment that describes a header is marked as such,
#   - a comment before declarations becomes theirs, all of them up to the next empty line,
#   - a comment behind a member becomes the member's,
#   - what is set in, equations and lists, is kept as it stands; the rest is text, whatever signs it has.

# A comment waits until it is seen whether a function follows, whose neighbours share it.
function out(line) { if (waiting) held = held line "\n"; else print line }

function release(shared) {
  if (shared) { print "///@{"; grouped = 1 }
  printf "%s", held
  held = ""
  waiting = 0
}

function escape(text) {
  gsub(/[\\@#<>&%"~|]/, "\\\\&", text)
  gsub(/\\%/, "%%", text)
  gsub(/\*/, "\\*", text)
  gsub(/_/, "_", text)
  return text
}

# One line of a comment, without its frame; `inset` says whether it stands further in than the text.
function tell(text, inset) {
  if (inset && !verbatim) { out(" @verbatim"); verbatim = 1 }
  if (!inset && verbatim && text != "") { out(" @endverbatim"); verbatim = 0 }
  out(verbatim ? text : " " escape(text))
}

function close_comment() {
  if (verbatim) { out(" @endverbatim"); verbatim = 0 }
  out(" */")
  inside = 0
}

# The body of a comment line: without " * " or leading blanks.
function body(line) {
  sub(/^ ?\* ?/, "", line)
  return line
}

function take(line,    ends, inset) {
  ends = sub(/ *\*\/ *$/, "", line)
  line = body(line)
  inset = line ~ /^ +/
  tell(line, inset)
  if (ends) close_comment()
}

/SPDX-License-Identifier/ { print "//"; next }

inside == 1 { take($0); next }

# A comment behind a member, over several lines.
inside == 2 {
  line = $0
  ends = sub(/ *\*\/ *$/, "", line)
  sub(/^ +\*? ?/, "", line)
  print " " escape(line) (ends ? " */" : "")
  if (ends) inside = 0
  next
}

/^ *\/\* ----.*---- \*\/ *$/ { print "//"; next }

/^ *\/\*/ {
  line = $0
  match(line, /^ */)
  top = RLENGTH == 0
  waiting = top && described && !grouped
  out(described ? "/**" : "/** @file")
  described = 1
  inside = 1
  sub(/^ *\/\* ?/, "", line)
  if (line != "") take(line)
  next
}

# What the comment was for.
waiting { release(/^BRAMAH_API/) }

/\/\*/ && !/^#/ {
  at = index($0, "/*")
  text = substr($0, at + 2)
  ends = sub(/ *\*\/ *$/, "", text)
  print substr($0, 1, at - 1) "/**<" escape(text) (ends ? " */" : "")
  if (!ends) inside = 2
  next
}

/^$/ { if (grouped) print "///@}"; grouped = 0 }

{ print }

END { if (grouped) print "///@}" }
