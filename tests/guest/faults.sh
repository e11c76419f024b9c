#!/usr/bin/env bash
# faults.sh WEIR: breaks a wire in ways that a host meets, and sees that `weir nic check` names each,
# by one process and by two.
set -uo pipefail
weir=$1
modprobe veth && modprobe sch_netem && modprobe bridge || exit 1
# Two ends, two switches, and a wire between those.
ip link add wa type veth peer name sa
ip link add wb type veth peer name sb
ip link add joina type veth peer name joinb
ip link add bra type bridge
ip link add brb type bridge
ip link set sa master bra
ip link set joina master bra
ip link set sb master brb
ip link set joinb master brb
for interface in lo wa sa wb sb joina joinb bra brb; do ip link set "$interface" up; done
# The other host of two.
exec 3< <(exec "$weir" nic answer dpdk:net_af_packet0,iface=wb --listen 127.0.0.1:14970)
answer=$!
trap 'kill $answer' EXIT
read -r _ <&3 || exit 1

status=0
expect() { # what is broken, the words that must be said
  local what=$1 words=$2 other said
  for other in dpdk:net_af_packet1,iface=wb "--with 127.0.0.1:14970"; do
    # shellcheck disable=SC2086
    said=$("$weir" nic check dpdk:net_af_packet0,iface=wa $other \
      --frames 400 --only MTU --only link --only frames 2>&1)
    if grep -q "$words" <<<"$said"; then
      echo "ok: $what ($other)"
    else
      printf 'NOT NAMED: %s (%s); "%s" is missing in:\n%s\n' "$what" "$other" "$words" "$said"
      status=1
    fi
  done
}

expect "nothing is broken" "3 passed, 0 failed"
tc qdisc add dev joina root netem loss 1%
expect "1 % loss from A to B" "A to B: [0-9.]* % of frames are lost.*lost on the way between"
tc qdisc del dev joina root
tc qdisc add dev joinb root netem loss 100%
expect "a filter that drops one direction" "no frame arrives from B to A, while from A to B they do"
tc qdisc del dev joinb root
ip link set wb mtu 1000
expect "a wrong MTU on one side" "the MTU of A is 1500 bytes, that of B 1000"
ip link set wb mtu 1500
ip link set joina mtu 1200
ip link set joinb mtu 1200
# A bridge leaves room for a tag of four bytes.
expect "a wrong MTU between" "A to B: packets of up to 1204 bytes.*B to A: packets of up to 1204"
ip link set joina mtu 1500
ip link set joinb mtu 1500
tc qdisc add dev joina root netem duplicate 5%
expect "a loop" "A to B: [0-9]* frames arrive twice"
exit $status
