# The guest's suites by name, read by the scripts beside this one. Each runs over NICs of its own:
# suite, then the two models that are wired to each other. Those in _ab compare algorithms over the
# pair (testbed/experiments/port_pair.toml, rdma_pair.toml), the others check it (weir nic check).
pairs=(
  "e1000e e1000e,e1000e"
  "e1000 e1000,e1000"
  "vmxnet3 vmxnet3,vmxnet3"
  "virtio virtio,virtio"
  "e1000e_vmxnet3 e1000e,vmxnet3"
  "igb igb,igb"
  "igb_vf igb_vf,igb_vf"
  "e1000e_ab e1000e,e1000e"
)
# Suites without a NIC of QEMU's.
others=(
  "soft_roce"
  "soft_roce_ab"
  "soft_roce_rdma_ab"
  "faults"
)
