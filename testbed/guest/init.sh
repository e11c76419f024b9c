#!/bin/busybox sh
# The guest's first process: puts the host's root, read-only, under a layer in memory, and goes on
# with guest_main.sh in there.
B=/bin/busybox
give_up() {
  echo "guest: $*"
  $B poweroff -f
}
$B mount -t proc proc /proc
$B mount -t sysfs sys /sys
$B mount -t devtmpfs dev /dev
for module in /mods/*.ko; do $B insmod "$module" || give_up "$module cannot be loaded"; done
nine=trans=virtio,version=9p2000.L,msize=512000
$B mount -t 9p -o $nine,cache=loose,ro host /host || give_up "the host's files cannot be reached"
$B mount -t tmpfs upper /ov
$B mkdir -p /ov/upper /ov/work
$B mount -t overlay -o lowerdir=/host,upperdir=/ov/upper,workdir=/ov/work root /new ||
  give_up "no layer over the host's files"
for folder in proc sys dev; do
  $B mkdir -p /new/$folder
  $B mount --move /$folder /new/$folder
done
$B mount -t tmpfs run /new/run
$B mkdir -p /new/dev/shm /new/dev/pts /new/run/guest
$B mount -t tmpfs shm /new/dev/shm
$B mount -t devpts pts /new/dev/pts
$B mount -t 9p -o $nine,access=any share /new/run/guest || give_up "no way to bring results back"
exec $B chroot /new /bin/bash /run/guest/guest_main.sh
