#!/bin/sh
# Builds bramah and replays the log of the hydraulic four-bar through its filter. Installs what that needs and is missing, or
# says the line that does. Results: build/quickstart-output/.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=test/install.sh
. "$root/test/install.sh"

install_missing program
setup_build "$root/build"
echo "compiling"
meson compile -C "$root/build" bramah:executable
bramah=$root/build/lib/cli/bramah
data=$root/datasets/four-bar
output=$root/build/quickstart-output
mkdir -p "$output"

echo
echo "replaying $data/log.csv through the filter of $data/sensors-2.yaml"
echo
"$bramah" replay "$data/sensors-2.yaml" "$data/log.csv" --truth "$data/truth.csv" \
  --output "$output/estimate.csv" --report "$output/report.html"

cat <<END

Look at
  $output/report.html    plots and tables, for a browser
  $output/estimate.csv   the estimates with their standard deviations

Next
  $bramah check $data/sensors-2.yaml $data/log.csv
  $bramah simulate $data/four-bar.yaml --duration "10 s" --output truth.csv \\
      --noise $data/sensors-3.yaml --seed 2 --log log.csv
  $bramah replay $data/sensors-3.yaml log.csv --truth truth.csv --output estimate.csv --report report.html
END
