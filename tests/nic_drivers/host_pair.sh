#!/usr/bin/env bash
# host_pair.sh WEIR OUT KIND: `weir nic check` over two ports of this host, in a network namespace of
# its own; OUT/KIND.json is the report. Exit code 77: this host cannot, and why.
set -euo pipefail
weir=$1 out=$2 kind=$3

skip() {
  echo "skipped: $*"
  exit 77
}
[[ " ring memif virtio_user udp " = *" $kind "* ]] || {
  [ "$(id -u)" -eq 0 ] || skip "$kind needs root"
  command -v ip >/dev/null || skip "iproute2 is not installed"
  if [ -z "${WEIR_OWN_NETWORK:-}" ]; then
    unshare -n true 2>/dev/null || skip "no network namespaces here"
    WEIR_OWN_NETWORK=1 exec unshare -n "$0" "$@"
  fi
}
mkdir -p "$out"
rm -f "$out/$kind.json"
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT

check() { # what weir nic check is told
  local status=0
  "$weir" nic check "$@" --label "$kind" --json "$out/$kind.json" || status=$?
  [ "$status" -ne 3 ] || skip "this host does not open $kind; see above"
  return $status
}
# One queue, so that AF_XDP's socket on the first hears everything.
veth() {
  ip link add wa numrxqueues 1 numtxqueues 1 type veth peer name wb numrxqueues 1 numtxqueues 1
  ip link set wa up
  ip link set wb up
}

case $kind in
  ring) check ring ring ;;
  udp) check udp:lo udp:lo --address-a 127.0.94.1/8 --address-b 127.0.94.2/8 ;;
  af_packet)
    veth
    check dpdk:net_af_packet0,iface=wa dpdk:net_af_packet1,iface=wb --link-with "ip link set wa"
    ;;
  af_xdp)
    veth
    check dpdk:net_af_xdp0,iface=wa dpdk:net_af_xdp1,iface=wb --link-with "ip link set wa"
    ;;
  tap)
    ip link add br0 type bridge
    ip link set br0 up
    # Their interfaces have the devices' own MAC addresses; a bridge would keep their frames.
    cat >"$files/join" <<'JOIN'
for side in a b; do
  ip link set "tap$side" address "02:00:00:00:00:0$side" && ip link set "tap$side" master br0 &&
    ip link set "tap$side" up || exit 1
done
JOIN
    check dpdk:net_tap0,iface=tapa dpdk:net_tap1,iface=tapb --after-open "sh $files/join"
    ;;
  memif)
    # Passes, but now and then DPDK 22.11's memif crashes in its own interrupt thread as the link of
    # two memifs of one process goes down. tests/nic_drivers/virtual_devices_test.cc has two processes.
    [ -n "${WEIR_MEMIF_PAIR:-}" ] || skip "memif's driver may crash with both ends in one process;" \
      "WEIR_MEMIF_PAIR=1 tries"
    common=id=1,socket-abstract=no,socket=$files/socket
    check "dpdk:net_memif0,role=client,$common,mac=02:00:00:00:00:01" \
      "dpdk:net_memif1,role=server,$common,mac=02:00:00:00:00:02"
    ;;
  virtio_user)
    check "dpdk:net_virtio_user0,path=$files/socket,queues=4,mac=02:00:00:00:00:01" \
      "dpdk:net_vhost0,iface=$files/socket,queues=4" --argument=--single-file-segments
    ;;
  *)
    echo "host_pair.sh: no kind \"$kind\""
    exit 2
    ;;
esac
