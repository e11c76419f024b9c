#!/usr/bin/env bash
# host_pair.sh WEIR OUT KIND: `weir nic check` over two ports of this host, in a network namespace of
# its own; OUT/KIND.json is the report. Kinds of two hosts have a process for each. Exit code 77: this
# host cannot, and why.
set -euo pipefail
weir=$1 out=$2 kind=$3

skip() {
  echo "skipped: $*"
  exit 77
}
[[ " ring memif memif_two_hosts virtio_user udp udp_two_hosts " = *" $kind "* ]] || {
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
helpers=()  # processes beside
trap 'kill "${helpers[@]}" 2>/dev/null || true; rm -rf "$files"' EXIT

check() { # what weir nic check is told
  local status=0
  "$weir" nic check "$@" --label "$kind" --json "$out/$kind.json" || status=$?
  [ "$status" -ne 3 ] || skip "this host does not open $kind; see above"
  return $status
}
# As `check`; the other host is where the words before -- run it: its port, and how it is reached.
two_hosts() {
  local answer=() line
  while [ "$1" != -- ]; do
    answer+=("$1")
    shift
  done
  shift
  exec 3< <(exec "${answer[@]}" --once)
  helpers+=($!)
  read -r line <&3
  check "$@:${line##*:}"
  cat <&3
  wait "${helpers[-1]}"
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
  udp_two_hosts)
    two_hosts "$weir" nic answer udp:lo --address 127.0.94.4/8 --listen 127.0.0.1:0 -- \
      udp:lo --address-a 127.0.94.3/8 --with 127.0.0.1
    ;;
  af_packet_two_hosts)
    veth
    # The other host is a network namespace; orders have a wire of their own.
    exec 4< <(exec unshare -n sh -c 'echo ready && exec sleep 300')
    far=$!
    helpers+=("$far")
    read -r _ <&4
    ip link add orders type veth peer name orders netns "$far"
    ip link set wb netns "$far"
    ip address add 10.95.0.1/24 dev orders
    ip link set orders up
    there=(nsenter -t "$far" -n)
    "${there[@]}" ip link set wb up
    "${there[@]}" ip address add 10.95.0.2/24 dev orders
    "${there[@]}" ip link set orders up
    two_hosts "${there[@]}" "$weir" nic answer dpdk:net_af_packet0,iface=wb -- \
      dpdk:net_af_packet0,iface=wa --link-with "ip link set wa" --with 10.95.0.2
    ;;
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
  memif_two_hosts)
    common=id=1,socket-abstract=no,socket=$files/socket
    two_hosts "$weir" nic answer "dpdk:net_memif0,role=server,$common,mac=02:00:00:00:00:02" \
      --listen 127.0.0.1:0 -- \
      "dpdk:net_memif0,role=client,$common,mac=02:00:00:00:00:01" --with 127.0.0.1
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
