#!/bin/sh
# Runs a file of tests of the Python package, which must have been built. usage: run.sh FILE.py
set -eu
if [ -z "${BRAMAH_PYTHON:-}" ]; then
  echo "skipped: the Python package was not built (python3-cffi, python3-numpy and python3-dev; no sanitizer)"
  exit 77
fi
cd "$(dirname "$0")"
export PYTHONDONTWRITEBYTECODE=1
exec "$BRAMAH_PYTHON" -W error::SyntaxWarning -m unittest -q "$1"
