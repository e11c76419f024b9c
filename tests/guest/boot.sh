#!/usr/bin/env bash
# boot.sh WEIR OUT: boots one guest for all suites, or for $WEIR_GUEST_ONLY alone, and leaves
# OUT/<suite>.log, .json and .status of each, or OUT/skipped with the reason.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
weir=$1 out=$2
. "$here/suites.sh"
rm -rf "$out"
mkdir -p "$out"

qemu=${WEIR_QEMU:-qemu-system-x86_64}
nics=() suites=()
for pair in "${pairs[@]}"; do
  name=${pair%% *} both=${pair#* }
  [ "${WEIR_GUEST_ONLY:-$name}" = "$name" ] || continue
  if [[ "$name" = igb* ]] && ! "$qemu" -device igb,help 2>/dev/null | grep -q "^igb options"; then
    echo "$("$qemu" --version | head -n 1) has no igb; WEIR_QEMU=\$(testbed/guest/newer_qemu.sh) is newer" >"$out/$name.log"
    echo 77 >"$out/$name.status"
    continue
  fi
  nics+=(--nics "$both")
  suites+=("$name")
done
rdma=()
for name in "${others[@]}"; do
  [ "${WEIR_GUEST_ONLY:-$name}" = "$name" ] || continue
  if [[ "$name" = soft_roce* ]]; then
    if ! "$weir" nic probe | grep -q '^verbs:'; then
      echo "this build has no verbs driver; install libibverbs-dev and build again" >"$out/$name.log"
      echo 77 >"$out/$name.status"
      continue
    fi
    rdma=(--rdma)
  fi
  suites+=("$name")
done

status=0
if [ ${#suites[@]} -gt 0 ]; then
  "$here/../../testbed/guest/run.sh" ${nics[@]+"${nics[@]}"} ${rdma[@]+"${rdma[@]}"} \
    --timeout 480 --out "$out" -- \
    bash "$here/in_guest.sh" "$weir" "${suites[@]}" | tee "$out/boot.log" || status=$?
fi
[ "$status" -ne 77 ] || tail -n 1 "$out/boot.log" >"$out/skipped"
exit "$status"
