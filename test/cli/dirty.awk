# SPDX-License-Identifier: GPL-3.0-or-later
# A clean log made dirty: awk -F, -v faults="bom semicolon" -v second=FILE -f dirty.awk log.csv >dirty.csv
# Faults are applied in this order: what the sensors write, times, rows, how the file is written. `second` takes what
# belongs into another file (faults split, parts).

function has(fault) { return index(" " faults " ", " " fault " ") > 0 }

function mod(x, m) { return x - m * (x >= 0 ? int(x / m) : int(x / m) - (x / m != int(x / m))) }

function pad(x, digits) { return sprintf("%0" digits "d", x) }

# 2024-02-29T23:59:59.9Z and so many milliseconds: the day, the month and the leap day go by.
function date(ms,   of_day) {
  of_day = 86399900 + ms
  if (of_day < 86400000)
    return "2024-02-29T23:59:" pad(int((of_day - 86340000) / 1000), 2) "." pad(of_day % 1000, 3) "Z"
  return "2024-03-01T00:00:" pad(int((of_day - 86400000) / 1000), 2) "." pad(of_day % 1000, 3) "Z"
}

function number(x) { return sprintf("%.17g", x) }

# What the devices write: 3 encoder, 4 gyro, 5 to 7 pressures.
function change_values(r,   deg) {
  deg = 0.017453292519943295
  if (has("gauge")) cell[r, 5] = number(cell[r, 5] - 101325)
  if (has("units")) {
    cell[r, 3] = number(cell[r, 3] / deg)
    for (i = 5; i <= 7; i++) cell[r, i] = number(cell[r, i] * 1e-5)
  }
  if (has("counts")) cell[r, 3] = number(-(cell[r, 3] - 0.5) / (0.01 * deg))
  if (has("wrap")) cell[r, 3] = number(mod(cell[r, 3] - 20 * deg, 40 * deg))
  if (has("volts")) cell[r, 6] = number(cell[r, 6] / 5e6)
}

function change_time(r,   ms) {
  ms = r - 1
  if (has("reset") && r > 150) ms = r - 151
  t[r] = cell[r, 1]
  if (has("reset")) t[r] = number(ms / 1000)
  if (has("ms")) t[r] = ms
  if (has("iso")) t[r] = date(ms)
  if (has("counter")) t[r] = ms + 1000
  if (has("clockwrap")) t[r] = ms % 128
  if (has("offset")) t[r] = number(ms / 1000 + 100)
  if (has("drift")) t[r] = sprintf("%.9f", ms / 1000 * 1.0002)
  if (has("spike") && r == 60) t[r] = number(ms / 1000 + 3)
  if (has("jump") && r >= 60) t[r] = number(ms / 1000 + 30)
  if (has("notime") && r == 60) t[r] = ""
  if (has("badtime") && r == 60) t[r] = "noon"
}

function add(r) { order[++m] = r }

# Which rows stand in the file, and where.
function arrange(r) {
  for (r = 1; r <= rows; r++) {
    if (has("gap") && r > 80 && r <= 110) continue
    if ((has("late") || has("straggler")) && r % 30 == 7) {
      held = r
      continue
    }
    add(r)
    if (has("repeat") && r % 20 == 0) add(r)
    if (held && (r == held + 3 || r == rows)) {
      add(held)
      held = 0
    }
  }
}

# ---- how it is written ----

function text_of(x) {
  if (x == "" && has("missing")) return "NaN"
  if (has("decimal") && x !~ /[-:]..:|T/) sub(/\./, ",", x)
  if (has("quoted")) return "\"" x "\""
  return x
}

function put(line, file) {
  if (has("crlf")) line = line "\r"
  if (file != "")
    print line > file
  else
    print line
}

# Cells from..to of the line; which: those of 2 to 7 that have something in this line.
function line_of(time, r, from, to,   s, i, x) {
  s = text_of(time)
  for (i = from; i <= to; i++) {
    x = r ? cell[r, i] : head[i]
    if (r && has("badcell") && r == 60 && i == 4) x = "broken"
    if (r && has("nan") && r == 60 && i == 4) x = "nan"
    if (r) x = text_of(x)
    if (r == 60 && i == 4 && has("mixed")) sub(/,/, ".", x)
    s = s delimiter x
  }
  if (has("text")) s = delimiter == " " ? s : s delimiter (r ? "it's fine" : "remark")
  if (r == 60 && has("badrow")) s = substr(s, 1, length(s) / 2)
  return s
}

function blank(r, from, to,   i) {
  for (i = from; i <= to; i++) {
    kept[i] = cell[r, i]
    cell[r, i] = ""
  }
}
function restore(r, from, to,   i) { for (i = from; i <= to; i++) cell[r, i] = kept[i] }

# The header.
function put_head(from, to, file,   i, s) {
  for (i = 1; i <= n; i++) {
    head[i] = name[i] "[" unit[i] "]"
    if (has("nounits") || has("unitsrow")) head[i] = name[i]
  }
  if (has("units")) {
    head[3] = name[3] "[deg]"
    for (i = 5; i <= 7; i++) head[i] = name[i] "[bar]"
  }
  if (has("counts")) head[3] = name[3]
  if (has("volts")) head[6] = name[6] "[V]"
  if (has("iso") || has("counter") || has("clockwrap")) head[1] = name[1]
  if (has("ms")) head[1] = name[1] "[ms]"
  if (has("skip")) for (i = 0; i < 3; i++) put("Recorder 7; run, 3", file)
  if (!has("noheader")) put(line_of(head[1], 0, from, to), file)
  if (!has("unitsrow")) return
  s = unit[1]
  for (i = from; i <= to; i++) s = s delimiter unit[i]
  put(s, file)
}

function put_row(r, k, file) {
  if (has("comment") && k % 7 == 3) put("# all is well; 1,5 at most", file)
  if (has("emptyline") && k % 9 == 3) put("", file)
  if (has("events")) {
    blank(r, 4, n)
    put(line_of(t[r], r, 2, n), file)
    restore(r, 4, n)
    blank(r, 2, 3)
    put(line_of(t[r], r, 2, n), file)
    restore(r, 2, 3)
  } else if (has("split")) {
    put(line_of(t[r], r, 2, 4), file)
    put(line_of(t[r], r, 5, n), second)
  } else {
    put(line_of(t[r], r, 2, n), file)
  }
  if (has("contradiction") && r == 60) {
    sub(/[0-9]/, "9", cell[r, 5])
    put(line_of(t[r], r, 2, n), file)
  }
}

NR == 1 {
  n = NF
  for (i = 1; i <= n; i++) {
    name[i] = unit[i] = $i
    sub(/\[.*/, "", name[i])
    sub(/.*\[/, "", unit[i])
    sub(/\]/, "", unit[i])
  }
  next
}
{
  rows++
  for (i = 1; i <= n; i++) cell[rows, i] = $i
}
END {
  delimiter = ","
  if (has("semicolon") || (has("decimal") && !has("tab") && !has("blank"))) delimiter = ";"
  if (has("tab")) delimiter = "\t"
  if (has("blank")) delimiter = " "
  for (r = 1; r <= rows; r++) {
    change_values(r)
    change_time(r)
  }
  # Cells and rows that the reference has lost too.
  if (has("lostcell")) cell[60, 4] = ""
  if (has("lostgap")) for (r = 81; r <= 110; r++) blank(r, 2, n)
  if (has("lostrow")) blank(60, 2, n)
  arrange()
  if (has("bom")) printf "\357\273\277"
  if (has("split")) {
    put_head(2, 4, "")
    put_head(5, n, second)
  } else {
    put_head(2, n, "")
    if (has("parts")) put_head(2, n, second)
  }
  for (k = 1; k <= m; k++) put_row(order[k], k, has("parts") && k > 120 ? second : "")
  if (has("cut")) printf "%s", substr(line_of("0.201", rows, 2, n), 1, 20)
}
