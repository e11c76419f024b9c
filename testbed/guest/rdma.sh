# Two Soft-RoCE devices, rxe0 and rxe1, at the ends of a veth pair, read by guest_main.sh. Both are in
# one network namespace, as the driver wants it, so rules make their addresses speak across the wire.
modprobe rdma_rxe && modprobe rdma_ucm && modprobe veth || return 1
ip link add v0 type veth peer name v1
ip addr add 10.9.0.1/24 dev v0
ip addr add 10.9.1.1/24 dev v1
for end in v0 v1; do
  ip link set $end mtu 9000 up # 4096 bytes of RDMA payload fit
  echo 1 >/proc/sys/net/ipv4/conf/$end/accept_local
  echo 0 >/proc/sys/net/ipv4/conf/$end/rp_filter
done
echo 1 >/proc/sys/net/ipv4/conf/all/accept_local
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
rdma link add rxe0 type rxe netdev v0 && rdma link add rxe1 type rxe netdev v1 || return 1
# What arrives is local; what leaves takes the wire.
ip rule add pref 100 iif v0 lookup local
ip rule add pref 100 iif v1 lookup local
ip rule add pref 200 from 10.9.0.1 to 10.9.1.1 lookup 101
ip rule add pref 200 from 10.9.1.1 to 10.9.0.1 lookup 102
ip rule del pref 0
ip rule add pref 300 lookup local
/run/guest/rdma_link.sh up
