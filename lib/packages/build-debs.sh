#!/bin/sh
# Debian packages of the tree as it is: libbramah0.2 (the core), libbramah-tools0.2 (files, logs, tuning, reports), libbramah-dev,
# bramah (the program and the datasets) and python3-bramah. They are built in a copy of the tree; nothing is written beside it.
#
# usage: sh lib/packages/build-debs.sh [FOLDER]     where the packages go: build-debs/ if nothing is said
# Who made them is taken from DEBFULLNAME and DEBEMAIL, or from git.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=test/install.sh
. "$root/test/install.sh"
output=${1:-$root/build-debs}
mkdir -p "$output"
output=$(cd "$output" && pwd)
install_missing program packages

version=$(sed -n 's/^#define BRAMAH_VERSION "\(.*\)"$/\1/p' "$root/include/bramah/status.h")
name=${DEBFULLNAME:-$(git -C "$root" config user.name || id -un)}
mail=${DEBEMAIL:-$(git -C "$root" config user.email || echo "$(id -un)@$(uname -n)")}
# Their date is that of the last change of the tree.
date=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/bramah-$version
mkdir "$tree"
(cd "$root" && tar -c --exclude=./build --exclude='./build-*' --exclude=./.git .) | tar -x -C "$tree"
mv "$tree/lib/packages/debian" "$tree/debian"
{
  cat "$root/LICENSE"
  printf '\nOn Debian systems LICENSE.GPL-3 is /usr/share/common-licenses/GPL-3.\n'
} >"$tree/debian/copyright"
sed -i "s/@MAINTAINER@/$name <$mail>/" "$tree/debian/control"
cat >"$tree/debian/changelog" <<END
bramah ($version) unstable; urgency=medium

  * See changelog.gz (CHANGELOG.md).

 -- $name <$mail>  $(LC_ALL=C date -u -R -d "@$date")
END

echo "building packages of bramah $version"
cd "$tree"
export SOURCE_DATE_EPOCH="$date"
quietly dpkg-buildpackage --build=binary --no-sign --jobs=auto
cp "$scratch"/*.deb "$scratch"/*.buildinfo "$scratch"/*.changes "$output"
ls "$output"/*.deb
