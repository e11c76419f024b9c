#!/usr/bin/env bash
# result.sh OUT SUITE: what boot.sh left of a suite, as a test.
set -euo pipefail
out=$1 suite=$2
if [ -s "$out/skipped" ]; then
  cat "$out/skipped"
  exit 77
fi
[ ! -s "$out/$suite.log" ] || cat "$out/$suite.log"
if [ ! -s "$out/$suite.status" ]; then
  echo "the guest did not get to the end of this suite; its output:"
  cat "$out/boot.log" 2>/dev/null || echo "none"
  exit 1
fi
exit "$(cat "$out/$suite.status")"
