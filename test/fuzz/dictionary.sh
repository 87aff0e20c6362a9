#!/bin/sh
# dictionary.sh log|mat|mdf|hdf5|can|units|machine|study|plan|cycles|serve|merge|snapshot: words for libFuzzer (-dict=), taken from the tables of lib/io, so that a new key
# is tried without anybody writing it down here.
set -eu
io=$(cd "$(dirname "$0")/../../lib/io" && pwd)
# Keys with a colon, and the words a key may have.
keys() {
  sed -nE 's/.*(KEY|SECTION|PORT|CHANGES|NAMES|NUMBER|CONDITIONS|IN_UNIT)\("([a-z_]+)".*/\2:/p; s/.*\{?\.name = "([a-z_]+)".*/\1:/p; s/.*FINDING_NAME\(([a-z]+)\).*/\1:/p' "$@"
  grep -oE '\{"[a-z0-9-]+", +[A-Z_]+' "$@" | sed -E 's/.*\{"([^"]*)".*/\1/'
}

units() {
  grep -oE '\{"[A-Za-z1]+", "[a-zA-Z]*", ' "$io/units.c" | sed -E 's/\{"([^"]*)".*/\1/'
  printf '%s\n' mm cm^3 MPa GPa kN L/min rad/s^2/Hz^0.5 m^3/s/Pa^0.5/V 'N*s/m' 'kg*m^2' '^2' '^-1' '^0.5' '(1/2)' 'sqrt(' ')' '*' / . ' '
}

yaml() {
  printf '%s\n' '[' ']' '{' '}' ', ' ': ' '- ' '&a ' '*a' '? ' '|' '>' '"' "'" '#' '---' '...' '!!str ' '%YAML 1.1' '<<: *a' '~' '[[' ']]' ground ' 5 %' ' +- 1 kg' fixed others
}

# What stands in the first line of a log of the corpus (dialect.h).
dialect() {
  for word in '!' semicolon tab blank bar comma decimal-comma decimal-point comment=%_// missing=nan_- skip=2 no-header units-row \
    units-header skip-cells skip-rows time last counter unit=ms unit=iso8601 ignore restate '! time blank'; do
    echo "$word "
  done
}

words() {
  case $1 in
  log) printf '%s\n' ',' ';' '|' '"' '""' '#' '[' ']' '[s]' '[MPa]' nan inf -0 1e308 1e-320 0x1 '","' ' ,' t time '[]' '(bar)' 12:34:56.789 2024-03-05T12:34:56Z +01:00 && dialect ;;
  mat) printf '%s\n' t time Time tout Data data TimeInfo DataInfo Units units names signals values label 'MATLAB ' seconds ms bar && dialect ;;
  mdf) printf '%s\n' 'MDF     ' 'UnFinMF ' '##HD' '##DG' '##CG' '##CN' '##CC' '##CA' '##TX' '##MD' '##SI' '##DT' '##DL' '##HL' '##DZ' '##LD' '##DV' '##DI' '<TX>' '</TX>' DT DV && dialect ;;
  units) units ;;
  machine) keys "$io"/machine_*.c && yaml && units ;;
  study) keys "$io"/study_*.c && yaml && units ;;
  merge) keys "$io"/study_*.c && words log && printf '%s\n' ===== 100 '10?' first join skip counts gauge iso8601 ;;
  snapshot) grep -ohE '\(s(napshot)?, "[a-z ]+"' "$io"/../assess/*.c | sed -E 's/.*"(.*)"/\1/' && echo BRAMAHSN ;;
  can) grep -ohE '"[A-Z][A-Za-z_]+"' "$io"/../logs/dbc.c | tr -d '"' && printf '%s\n' '@1-' '@0+' '|' ' m1M ' '%%' '(1.5) can0 100#' '##1' 'date ' 'base hex timestamps absolute' CANFD ' Rx d 8 ' LOGG LOBJ x 1CECFF21#20140003FF00F000 1CEBFF21#01 18EC4421#10 18EC2144#11 ;;
  restore) ;;
  hdf5) dialect ;;
  plan) keys "$io/plan_file.c" "$io/display_file.c" && yaml && units ;;
  cycles) keys "$io/work_file.c" && yaml && units ;;
  serve) printf '%s\n' GET POST HEAD / /events /control localhost:8080 '[::1]:8080' cab-7.local http:// same-origin bramah80= bramah8080= 'Bearer ' application/json \
    0123456789abcdef0123456789abcdef '{"pause": true}' '"speed": ' '{"seek": ' '{"restart": ' false -1.5e3 ';' '}' ;;
  *) exit 2 ;;
  esac
}

words "$1" | sort -u | sed 's/[\\"]/\\&/g; s/.*/"&"/'
# Bytes that no word has: line ends, byte-order marks, a zero, the signs µ and ±, separators of YAML.
for bytes in '\x0a' '\x0d' '\x0d\x0a' '\x09' '\x00' '\xef\xbb\xbf' '\xff\xfe' '\xc2\xb5' '\xc2\xb1' '\x1f' '\x0b' '\xc2\x85' '\xe2\x80\xa8'; do
  echo "\"$bytes\""
done
