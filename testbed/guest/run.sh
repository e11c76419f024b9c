#!/usr/bin/env bash
# Boots a guest machine with NICs of several makers, runs a command in it, and is gone again.
#
#   testbed/guest/run.sh [options] -- command [argument...]
#
#   --nics A,B         two NICs wired to each other; may be given again. Models: e1000e e1000
#                      vmxnet3 virtio igb, and igb_vf: a virtual function of an igb, whose
#                      physical one is the guest kernel's. The command finds them in $NIC0, $NIC1, ... as Weir
#                      names them, "dpdk:0000:00:10.0"; `/run/guest/link.sh 0 down` pulls the
#                      cable of the first, `/run/guest/link.sh 0 up` puts it back
#   --rdma             two Soft-RoCE devices, rxe0 and rxe1, at the ends of a wire;
#                      `/run/guest/rdma_link.sh down` takes its link down, `... up` up again
#   --iommu yes|no     yes: NICs reach memory through it, by vfio-pci; no: by uio_pci_generic
#   --memory MB        of the guest (1024)
#   --huge-pages N     of 2 MB, reserved in it (224)
#   --timeout SECONDS  for all of it (240)
#   --out FOLDER       what the command leaves in $WEIR_GUEST_OUT is copied there
#
# The guest sees the host's files as they are, so the command is the host's own build; what it
# changes stays in the guest's memory. Exit code: the command's; 77: this machine cannot, and why;
# 124: out of time; 125: the guest did not get as far as the command.
# $WEIR_QEMU: another qemu-system-x86_64, for models that the installed one lacks (newer_qemu.sh).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

usage() {
  sed -n '2,24s/^# \{0,1\}//p' "$0" >&2
  [ $# -eq 0 ] || printf '\n%s\n' "run.sh: $*" >&2
  exit 2
}
skip() {
  printf 'no guest machine: %s\n' "$*"
  exit 77
}

pairs=()
rdma=no iommu=yes memory=1024 huge_pages=224 timeout=240 out=
while [ $# -gt 0 ]; do
  case $1 in
    --rdma)
      rdma=yes
      shift
      ;;
    --)
      shift
      break
      ;;
    --nics | --iommu | --memory | --huge-pages | --timeout | --out)
      [ $# -gt 1 ] || usage "$1 wants a value"
      case $1 in
        --nics) pairs+=("$2") ;;
        --iommu) iommu=$2 ;;
        --memory) memory=$2 ;;
        --huge-pages) huge_pages=$2 ;;
        --timeout) timeout=$2 ;;
        --out) out=$2 ;;
      esac
      shift 2
      ;;
    *) usage "unknown option $1" ;;
  esac
done
[ $# -gt 0 ] || usage "which command is to run?"
case $iommu in yes | no) ;; *) usage "--iommu is yes or no, not $iommu" ;; esac
for number in "$memory" "$huge_pages" "$timeout"; do
  [[ $number =~ ^[0-9]+$ ]] || usage "$number is not a number"
done

qemu=${WEIR_QEMU:-qemu-system-x86_64}
command -v "$qemu" >/dev/null ||
  skip "$qemu is missing; apt-get install --no-install-recommends qemu-system-x86"
image=$("$here/image.sh" 2>&1) || {
  status=$?
  echo "$image"
  exit $status
}
image=${image##*$'\n'}

# In software always: where /dev/kvm is there, it need not work.
arguments=(-nodefaults -no-user-config -display none -no-reboot -M q35 -accel tcg,thread=multi
  -cpu max -smp 1 -m "$memory" -kernel "$image/vmlinux" -initrd "$image/initrd.gz"
  -device isa-debug-exit,iobase=0x501,iosize=4 -serial stdio)
# The second serial line is qemu's own monitor: the guest asks it to pull cables (link.sh).
monitor() {
  arguments+=(-chardev "socket,id=monitor,path=$1,server=on,wait=off" -mon chardev=monitor
    -chardev "socket,id=asked,path=$1" -serial chardev:asked)
}
kernel="console=ttyS0 panic=-1 quiet mitigations=off nokaslr tsc=reliable"
if [ "$iommu" = yes ]; then
  arguments+=(-device intel-iommu,intremap=on)
  kernel+=" intel_iommu=on"
fi

# Model and wire of one NIC, in a slot of its own.
slots=()
add_nic() { # model, wire
  local number=${#slots[@]} device virtual=
  [ "$1" != igb_vf ] || virtual=yes
  local slot
  slot=$(printf '%x' $((16 + number)))
  slots+=("$slot${virtual:+:vf}")
  case $1 in
    e1000e | e1000 | vmxnet3 | igb) device=$1 ;;
    igb_vf) device=igb ;;
    virtio)
      device=virtio-net-pci,disable-legacy=on
      [ "$iommu" = no ] || device+=,iommu_platform=on
      ;;
    *) usage "no NIC model \"$1\"; there are e1000e e1000 vmxnet3 virtio igb igb_vf" ;;
  esac
  "$qemu" -device "${device%%,*},help" 2>/dev/null | grep -q "^${device%%,*} options" ||
    skip "$("$qemu" --version | head -n 1) has no ${device%%,*}; WEIR_QEMU=\$(testbed/guest/newer_qemu.sh) is newer"
  arguments+=(-netdev "hubport,id=n$number,hubid=$2")
  device+=,netdev=n$number,mac=52:54:00:00:01:$(printf '%02x' $((number + 1)))
  if [[ $1 = igb* ]]; then # its virtual functions want a bus of their own
    arguments+=(-device "pcie-root-port,id=p$number,chassis=$((number + 1)),bus=pcie.0,addr=0x$slot")
    arguments+=(-device "$device,bus=p$number")
  else
    arguments+=(-device "$device,bus=pcie.0,addr=0x$slot")
  fi
}
for i in "${!pairs[@]}"; do
  [[ ${pairs[i]} =~ ^[^,]+,[^,]+$ ]] || usage "--nics wants two models: e1000e,vmxnet3"
  add_nic "${pairs[i]%,*}" "$((i + 1))"
  add_nic "${pairs[i]#*,}" "$((i + 1))"
done

run=$(mktemp -d "${TMPDIR:-/tmp}/weir_guest.XXXXXX")
qemu_pid=
clean_up() {
  [ -z "$qemu_pid" ] || kill "$qemu_pid" 2>/dev/null || true
  [ -z "$qemu_pid" ] || wait "$qemu_pid" 2>/dev/null || true
  rm -rf "$run"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

cp "$here/guest_main.sh" "$here/link.sh" "$here/rdma.sh" "$here/rdma_link.sh" "$run/"
monitor "$run/monitor"
: >"$run/output"
{
  printf 'IMAGE=%q SLOTS=%q IOMMU=%q HUGE_PAGES=%q RDMA=%q\n' \
    "$image" "${slots[*]-}" "$iommu" "$huge_pages" "$rdma"
} >"$run/job.env"
{
  printf 'cd %q\n' "$PWD"
  printf '%q ' "$@"
} >"$run/job.sh"

files=security_model=none,multidevs=remap
timeout -k 5 "$timeout" "$qemu" "${arguments[@]}" -append "$kernel" \
  -virtfs "local,path=/,mount_tag=host,readonly=on,$files" \
  -virtfs "local,path=$run,mount_tag=share,$files" </dev/null >"$run/console" 2>&1 &
qemu_pid=$!
tail -n +1 -s 0.2 -f --pid=$qemu_pid "$run/output"
status=0
wait "$qemu_pid" || status=$?
qemu_pid=

[ -z "$out" ] || { mkdir -p "$out" && cp -r "$run/out/." "$out/" 2>/dev/null || true; }
if [ -s "$run/status" ]; then exit "$(cat "$run/status")"; fi
if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
  echo "guest: not done after $timeout s; the last of its console:"
  tail -n 20 "$run/console"
  exit 124
fi
echo "guest: it did not get as far as the command (qemu ended with $status):"
tail -n 40 "$run/console"
exit 125
