#!/usr/bin/env bash
# Fetches the QEMU of Debian's backports, which has igb, beside the installed one, and prints the
# program that starts it, for WEIR_QEMU. Nothing is installed; kept where image.sh keeps its own.
# Exit code 77: this machine cannot; the reason stands on stderr.
set -euo pipefail

skip() {
  printf 'no newer QEMU: %s\n' "$*" >&2
  exit 77
}
cache=${WEIR_GUEST_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/weir/guest}
program=$cache/newer_qemu/qemu
if [ -x "$program" ]; then
  echo "$program"
  exit 0
fi
command -v apt-get >/dev/null || skip "apt-get is missing"
mkdir -p "$cache"
work=$(mktemp -d "$cache/building.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/lists/partial "$work"/debs "$work"/none
keys=/usr/share/keyrings/debian-archive-keyring.gpg
# From where this machine has its other packages.
site=$(apt-get indextargets --format '$(CODENAME) $(SITE)' 'Created-By: Packages' |
  sed -n 's/^bookworm //p' | head -n 1)
[ -n "$site" ] || skip "apt knows no source of Debian 12's packages"
echo "deb [signed-by=$keys] $site bookworm-backports main" >"$work/sources"
apt=(apt-get -qq -o Dir::Etc::sourcelist="$work/sources" -o Dir::Etc::sourceparts="$work/none"
  -o Dir::State::lists="$work/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
[ "$(id -u)" -ne 0 ] || apt+=(-o APT::Sandbox::User=root)
"${apt[@]}" update >"$work/log" 2>&1 || skip "$(tail -n 1 "$work/log")"
(cd "$work/debs" && "${apt[@]}" download qemu-system-x86 qemu-system-common qemu-system-data) \
  >"$work/log" 2>&1 || skip "$(tail -n 1 "$work/log")"
for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/root"; done
rm -rf "$cache/newer_qemu"
mv "$work/root" "$cache/newer_qemu"
cat >"$program" <<START
#!/bin/sh
export QEMU_MODULE_DIR="$cache/newer_qemu/usr/lib/x86_64-linux-gnu/qemu"
exec "$cache/newer_qemu/usr/bin/qemu-system-x86_64" -L "$cache/newer_qemu/usr/share/qemu" \
  -L /usr/share/seabios -L /usr/share/qemu "\$@"
START
chmod +x "$program"
"$program" --version >/dev/null 2>"$cache/newer_qemu/log" || {
  rm -f "$program"
  skip "it does not start here: $(head -n 1 "$cache/newer_qemu/log")"
}
echo "$program"
