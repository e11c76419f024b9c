#!/bin/bash
# In the guest: loads drivers, gives the NICs to user space, runs the job and reports its end.
# /run/guest is the host's folder of this run: job.env, job.sh; out/, output and status come back.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
cd /
. /run/guest/job.env # IMAGE, SLOTS, IOMMU, HUGE_PAGES, RDMA
ln -s /proc/self/fd /dev/fd
ip link set lo up
# qemu's monitor is on this line (link.sh): it is not to hear its own words, and waits until what it
# says was read.
stty -F /dev/ttyS1 raw -echo
cat /dev/ttyS1 >/dev/null &

# The kernel's own calls of modprobe find it, too.
mkdir -p /lib/modules
mount --bind "$IMAGE/modules/lib/modules" /lib/modules
cp -P "$IMAGE"/modules/sbin/libkmod.so.2* /usr/lib/x86_64-linux-gnu/
cp "$IMAGE/modules/sbin/kmod" /usr/bin/kmod
ln -sf /usr/bin/kmod /usr/sbin/modprobe

finish() {
  echo "$1" >/run/guest/status
  sync
  # Ends the machine with a status that says that it came this far.
  printf '\x00' | dd of=/dev/port bs=1 seek=$((0x501)) conv=notrunc status=none
  "$IMAGE/modules/sbin/busybox" poweroff -f
}

problem() {
  echo "guest: $*" >>/run/guest/output
  finish 125
}

echo "$HUGE_PAGES" >/proc/sys/vm/nr_hugepages
driver=uio_pci_generic
[ "$IOMMU" = no ] || driver=vfio-pci
if [ -n "$SLOTS" ]; then
  modprobe "$driver" || problem "the kernel has no $driver"
  [ "$IOMMU" = no ] || modprobe vfio_iommu_type1 || problem "the kernel has no vfio_iommu_type1"
fi

# A NIC's address: its slot, or behind the port that is plugged there.
address_of() {
  local at=/sys/bus/pci/devices/0000:00:$1.0 behind
  for behind in "$at"/0000:*; do
    [ ! -d "$behind" ] || at=$behind
  done
  basename "$at"
}

# Of the first virtual function of a NIC, which the kernel keeps and brings up.
virtual_function_of() { # address, number
  local at=/sys/bus/pci/devices/$1 interface
  modprobe igb || problem "the kernel has no igb"
  echo 1 >"$at/sriov_numvfs" || problem "PCI device $1 has no virtual functions"
  interface=$(ls "$at/net" | head -n 1)
  ip link set "$interface" vf 0 mac "52:54:00:00:02:0$2" && ip link set "$interface" up
  basename "$(readlink "$at/virtfn0")"
}

number=0
for slot in $SLOTS; do
  bdf=$(address_of "${slot%:vf}")
  [ "$slot" = "${slot%:vf}" ] || bdf=$(virtual_function_of "$bdf" "$number")
  at=/sys/bus/pci/devices/$bdf
  [ ! -e "$at/driver" ] || echo "$bdf" >"$at/driver/unbind"
  echo "$driver" >"$at/driver_override"
  echo "$bdf" >/sys/bus/pci/drivers_probe
  [ -e "$at/driver" ] || problem "PCI device $bdf is not taken by $driver"
  export "NIC$number=dpdk:$bdf"
  number=$((number + 1))
done

[ "$RDMA" = no ] || . /run/guest/rdma.sh || problem "Soft-RoCE cannot be set up"

mkdir -p /run/guest/out
export WEIR_GUEST_OUT=/run/guest/out
bash /run/guest/job.sh >>/run/guest/output 2>&1 </dev/null
finish $?
