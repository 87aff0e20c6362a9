#!/bin/sh
# Prints the folder of the serial OpenBLAS, or nothing where the distribution does not keep one apart.
for dir in /usr/lib/*/openblas-serial; do
  if [ -e "$dir/libopenblas.so" ]; then
    echo "$dir"
    exit 0
  fi
done
exit 0
