#include "lb_policies/registry.h"

#include <cstring>

#include "datapath/api/spreading.h"
#include "lb_policies/bitmap.h"
#include "lb_policies/ecmp.h"
#include "lb_policies/ev_set.h"
#include "lb_policies/flowlet.h"
#include "lb_policies/mixed.h"
#include "lb_policies/mprdma_paths.h"
#include "lb_policies/oblivious.h"
#include "lb_policies/pinned.h"
#include "lb_policies/plane.h"
#include "lb_policies/plb.h"
#include "lb_policies/power_of_two.h"
#include "lb_policies/prr.h"
#include "lb_policies/qp_scaling.h"
#include "lb_policies/random.h"
#include "lb_policies/reps.h"
#include "lb_policies/round_robin.h"
#include "lb_policies/size_gated.h"
#include "lb_policies/weighted.h"

namespace weir {
namespace {

constexpr LbEntry kAll[] = {
    LbPlugin<Ecmp>("ecmp", "one random path for each connection", "RFC 2992", Reordering::kNever),
    LbPlugin<RoundRobin>("round_robin", "every path in turn", "Dixit et al., INFOCOM 2013",
                         Reordering::kAlways),
    LbPlugin<Oblivious>("oblivious", "every path once, in a new order each pass",
                        "uet-htsim uec_mp.cpp", Reordering::kAlways),
    LbPlugin<Flowlet>("flowlet", "a new random path after each pause", "Sinha et al., HotNets 2004",
                      Reordering::kRarely),
    LbPlugin<Reps>("reps", "paths that returned unmarked are used again",
                   "Bonato et al., EuroSys 2026", Reordering::kAlways, Signal::kMarkEcho),
    LbPlugin<Random>("random", "a random path for each packet", "Dixit et al., INFOCOM 2013",
                     Reordering::kAlways),
    LbPlugin<Pinned>("pinned", "one given path", "Gangidi et al., SIGCOMM 2024",
                     Reordering::kNever),
    LbPlugin<QpScaling>("qp_scaling", "a few random paths, messages in turn",
                        "Gangidi et al., SIGCOMM 2024", Reordering::kAlways),
    LbPlugin<Bitmap>("bitmap", "every path in turn, bad ones passed over", "uet-htsim uec_mp.cpp",
                     Reordering::kAlways, Signal::kMarkEcho),
    LbPlugin<Mixed>("mixed", "as reps, and else the bitmap's choice", "uet-htsim uec_mp.cpp",
                    Reordering::kAlways, Signal::kMarkEcho),
    LbPlugin<Plb>("plb", "one path, left when it stays congested", "Qureshi et al., SIGCOMM 2022",
                  Reordering::kRarely, Signal::kMarkEcho),
    LbPlugin<Prr>("prr", "one path, left when it times out", "Wetherall et al., SIGCOMM 2023",
                  Reordering::kNever),
    LbPlugin<PowerOfTwo>("power_of_two", "of two random paths the faster one",
                         "Mitzenmacher, IEEE TPDS 2001; UCCL", Reordering::kAlways, Signal::kRtt),
    LbPlugin<Weighted>("weighted", "random paths, better ones more often",
                       "after Zhou et al., EuroSys 2014", Reordering::kAlways,
                       Signal::kRtt | Signal::kMarkEcho),
    LbPlugin<MprdmaPaths>("mprdma_paths", "the path that the acknowledgement names",
                          "Lu et al., NSDI 2018", Reordering::kAlways, Signal::kMarkEcho),
    LbPlugin<EvSet>("ev_set", "active paths in turn, backups for bad ones", "MRC, OCP 2026",
                    Reordering::kAlways, Signal::kMarkEcho),
    LbPlugin<Plane>("plane", "planes in turn, dead ones left out", "MRC, OCP 2026",
                    Reordering::kAlways),
    LbPlugin<SizeGated<Ecmp, Reps>>("size_gated", "short messages as ecmp, long ones as reps",
                                    "ours", Reordering::kAlways, Signal::kMarkEcho),
};

}  // namespace

std::span<const LbEntry> AllLb() { return kAll; }

const LbEntry* FindLb(const char* name) {
  for (const LbEntry& entry : kAll) {
    if (std::strcmp(entry.name, name) == 0) return &entry;
  }
  return nullptr;
}

}  // namespace weir
