#!/bin/sh
# The lines of the container recipe, one after the other, in chroots made of a bare Debian: there is a program at the end that
# replays a log. Only as root, and where BRAMAH_DEBIAN_ROOT names such a Debian, as `debootstrap --variant=minbase bookworm
# FOLDER` makes it. Not tried: a container engine, its images, volumes and the entry point's own process.
set -eu
root=${BRAMAH_SOURCE_ROOT:?}
[ -n "${BRAMAH_DEBIAN_ROOT:-}" ] && [ "$(id -u)" -eq 0 ] || { echo "no BRAMAH_DEBIAN_ROOT, or not root"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A stage is a copy of the bare system, whatever its image is called.
stage=
begin_stage() { # IMAGE [AS NAME]
  stage=$scratch/${3:-last}
  cp -a "$BRAMAH_DEBIAN_ROOT" "$stage"
  [ -e "$stage/dev/null" ] || mknod -m 666 "$stage/dev/null" c 1 3
}

copy() { # [--from=NAME] SOURCE TARGET
  case $1 in
  --from=*) cp -a "$scratch/${1#--from=}$2" "$stage$3" ;;
  *) mkdir -p "$stage$2" && (cd "$root" && tar -c --exclude='./build*' --exclude=./.git .) | tar -x -C "$stage$2" ;;
  esac
}

# Lines that go on are joined; comments go.
sed -e '/^ *#/d' -e ':more' -e '/\\$/{N;s/\\\n//;b more' -e '}' "$root/lib/packages/Containerfile" >"$scratch/lines"
while read -r word rest; do
  [ -z "$word" ] || echo "$word $rest"
  # Words are meant to be split.
  # shellcheck disable=SC2086
  case $word in
  FROM) begin_stage $rest ;;
  COPY) copy $rest ;;
  RUN) chroot "$stage" sh -c "$rest" </dev/null ;;
  WORKDIR) mkdir -p "$stage$rest" && folder=$rest ;;
  ENTRYPOINT) program=$(echo "$rest" | tr -d '[]"') ;;
  '') ;;
  *) echo "$word is not known here" >&2 && exit 1 ;;
  esac
done <"$scratch/lines"

cp "$root"/datasets/four-bar/*.yaml "$root/datasets/four-bar/log.csv" "$stage$folder"
chroot "$stage" sh -c "cd $folder && $program replay sensors-2.yaml log.csv --output estimate.csv" >"$scratch/summary"
grep '^verdict: no contradiction found' "$scratch/summary"
