#!/usr/bin/env bash
# Builds the guest's kernel, modules and first root file system from Debian's packages, once a kernel
# version, and prints the folder that holds them:
#
#   vmlinux        uncompressed: a compressed kernel costs 10 s of a boot in software
#   initrd.gz      busybox, the modules that reach the host's files, init.sh
#   modules/       what a suite may want: lib/modules/<version>, with kmod to load them
#
# Kept in $WEIR_GUEST_CACHE, else $XDG_CACHE_HOME/weir/guest; nothing is fetched while that is whole.
# Exit code 77: this machine cannot; the reason stands on stderr.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

first=(virtio_pci 9pnet_virtio 9p overlay)
wanted=(vfio-pci vfio_iommu_type1 uio_pci_generic virtio_net igb
  rdma_rxe rdma_ucm ib_uverbs crc32_generic veth bridge sch_netem)
packages=(busybox-static kmod libkmod2)

skip() {
  printf 'no guest machine: %s\n' "$*" >&2
  exit 77
}

cache=${WEIR_GUEST_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/weir/guest}

# The newest that is whole; what is in it depends on these two scripts, too.
recipe=$(cat "$here/image.sh" "$here/init.sh" | cksum | cut -d' ' -f1)
cached() {
  ls -d "$cache"/*"-$recipe" 2>/dev/null | sort -V | tail -n 1
}

if image=$(cached) && [ -n "$image" ]; then
  echo "$image"
  exit 0
fi

for tool in apt-get dpkg-deb cpio xz gzip; do
  command -v "$tool" >/dev/null || skip "$tool is missing (a Debian 12 machine has it by ./run test)"
done

# "linux-image-amd64" names the package of the kernel of the day.
kernel_package() {
  apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: *\(linux-image-6.*\)/\1/p'
}
kernel=$(kernel_package)
if [ -z "$kernel" ] && [ "$(id -u)" -eq 0 ]; then
  apt-get update -qq >/dev/null 2>&1 || true
  kernel=$(kernel_package)
fi
[ -n "$kernel" ] || skip "apt knows no kernel package; run apt-get update"
version=${kernel#linux-image-}

mkdir -p "$cache"
work=$(mktemp -d "$cache/building.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir debs
sandbox=()
[ "$(id -u)" -ne 0 ] || sandbox=(-o APT::Sandbox::User=root)
(cd debs && apt-get "${sandbox[@]}" download -qq "$kernel" "${packages[@]}" >../apt.log 2>&1) ||
  skip "Debian's packages cannot be fetched: $(tail -n 1 apt.log)"
for deb in debs/*.deb; do dpkg-deb -x "$deb" root; done
ln -sf ../bin/kmod root/sbin/depmod
ln -sf ../bin/kmod root/sbin/modprobe
kmod() { LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu "$@"; }
kmod root/sbin/depmod -b "$work/root" "$version"

# Paths of modules and of what they need, in the order of loading.
closure() {
  kmod root/sbin/modprobe -d "$work/root" -S "$version" --show-depends -a "$@" 2>/dev/null |
    sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++'
}

mkdir image
vmlinuz=root/boot/vmlinuz-$version
at=$(LC_ALL=C grep -abo -m 1 -P '\xfd7zXZ\x00' "$vmlinuz" | head -n 1 | cut -d: -f1)
[ -n "$at" ] || skip "the kernel $version is not compressed by xz"
tail -c +$((at + 1)) "$vmlinuz" | xz -dc --single-stream >image/vmlinux 2>/dev/null || [ -s image/vmlinux ]

mkdir -p first/bin first/mods first/proc first/sys first/dev first/host first/ov first/new
cp root/bin/busybox first/bin/
number=100
closure "${first[@]}" | while read -r module; do
  cp "$module" "first/mods/$((number++))-$(basename "$module")"
done
cp "$here/init.sh" first/init
chmod 755 first/init
(cd first && find . | cpio -o -H newc --quiet | gzip -1) >image/initrd.gz

mkdir -p image/modules/sbin image/modules/lib/modules/"$version"
cp "root/lib/modules/$version"/modules.builtin* "root/lib/modules/$version"/modules.order \
  image/modules/lib/modules/"$version"/
closure "${first[@]}" "${wanted[@]}" | while read -r module; do
  to=image/modules/${module#"$work"/root/}
  mkdir -p "$(dirname "$to")"
  cp "$module" "$to"
done
kmod root/sbin/depmod -b "$work/image/modules" "$version"
cp root/bin/kmod root/bin/busybox image/modules/sbin/
cp -P root/usr/lib/x86_64-linux-gnu/libkmod.so.2* image/modules/sbin/ 2>/dev/null ||
  cp -P root/lib/x86_64-linux-gnu/libkmod.so.2* image/modules/sbin/

# Whoever built the same meanwhile was as good.
mv -T image "$cache/$version-$recipe" 2>/dev/null || [ -d "$cache/$version-$recipe" ]
echo "$cache/$version-$recipe"
