# shellcheck shell=sh
# For tests of pages in a browser, behind common.sh: `browse`, `no_complaints`, `sheet`, `found`, and the folder of pictures, which
# stays beside the log of the tests. Skipped without Chromium.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || exit 77
pictures=${BRAMAH_PICTURES:-$work/pictures}
mkdir -p "$pictures"
export PYTHONDONTWRITEBYTECODE=1 # scripts here import devtools.py

# Without network: no interface but a dead loopback where the system lets us, and nothing to reach in any case.
alone=
if unshare -rn true 2>/dev/null; then alone='unshare -rn'; fi
sandbox=
# Root, and root of a namespace, cannot have Chromium's own.
if [ "$(id -u)" -eq 0 ] || [ -n "$alone" ]; then sandbox=--no-sandbox; fi

# browse OPTION... URL: one that ends by itself, after a time that does not depend on the computer; what it has to say goes
# to the file log. Chromium hangs now and then, whatever the page: then it is started anew, with more patience and nothing of before.
browse() {
  for patience in 150 400 1000; do
    code=0
    # both are words
    # shellcheck disable=SC2086
    HOME=$work timeout -k 10 $patience $alone "$browser" --headless $sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
      --no-first-run --disable-background-networking --disable-component-update --disable-sync --no-pdf-header-footer \
      --user-data-dir="$work/profile" --proxy-server=127.0.0.1:9 --enable-logging=stderr \
      --virtual-time-budget=20000 "$@" >/dev/null 2>log || code=$?
    case $code in 124 | 137) rm -rf "$work/profile" ;; *) break ;; esac
  done
  [ $code -eq 0 ] || fail "the browser does not run: $(tail -n 5 log)"
}

# No word of a page on the console but what the visitor found.
no_complaints() {
  grep -a CONSOLE log | grep -av -e 'source: chrome:' -e '"FOUND ' >console || true
  [ ! -s console ] || fail "the browser complains: $(cat console)"
}

# sheet FILE WIDTH HEIGHT ADDRESS...: frames of that size side by side, each a page.
sheet() {
  sheet=$1 width=$2 height=$3
  shift 3
  {
    echo '<!DOCTYPE html><style>body{margin:0;display:flex}iframe{border:0;flex:none}</style>'
    for address; do echo "<iframe width=\"$width\" height=\"$height\" src=\"$address\"></iframe>"; done
  } >"$sheet"
}
found() {
  grep -qxF "FOUND $1: $2" found || fail "$1 is not $2: $(grep "FOUND $1:" found)"
}
