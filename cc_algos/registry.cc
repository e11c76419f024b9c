#include "cc_algos/registry.h"

#include <cstring>

#include "cc_algos/admission.h"
#include "cc_algos/bbr.h"
#include "cc_algos/combined.h"
#include "cc_algos/dcqcn.h"
#include "cc_algos/dctcp.h"
#include "cc_algos/eqds.h"
#include "cc_algos/falcon.h"
#include "cc_algos/homa.h"
#include "cc_algos/hpcc.h"
#include "cc_algos/hpcc_pint.h"
#include "cc_algos/median_over_paths.h"
#include "cc_algos/mprdma.h"
#include "cc_algos/ndp.h"
#include "cc_algos/none.h"
#include "cc_algos/nscc.h"
#include "cc_algos/powertcp.h"
#include "cc_algos/rccc.h"
#include "cc_algos/rtt_probe.h"
#include "cc_algos/sird.h"
#include "cc_algos/smartt.h"
#include "cc_algos/strack.h"
#include "cc_algos/swift.h"
#include "cc_algos/theta_powertcp.h"
#include "cc_algos/timely.h"
#include "cc_algos/timely_patched.h"

namespace weir {
namespace {

constexpr CcEntry kAll[] = {
    CcPlugin<None>("none", "a fixed window and rate", "baseline", {}),
    CcPlugin<Dctcp>("dctcp", "window cut by the fraction of marked bytes", "RFC 8257",
                    Signal::kMarkEcho),
    CcPlugin<Dcqcn>("dcqcn", "rate cut by CNPs, timed recovery", "Zhu et al., SIGCOMM 2015",
                    Signal::kCnp),
    CcPlugin<Swift>("swift", "window held at a target delay", "Kumar et al., SIGCOMM 2020",
                    Signal::kRtt),
    CcPlugin<Nscc>("nscc", "window from marks and delay together", "UEC 1.0 section 3.6.13",
                   Signal::kMarkEcho | Signal::kRtt),
    CcPlugin<Rccc>("rccc", "credit from the receiver", "UEC 1.0 section 3.6.14", Signal::kCredit),
    CcPlugin<Combined<Nscc, Rccc>>("nscc+rccc", "the tighter of nscc and rccc",
                                   "UEC 1.0 sections 3.6.13 and 3.6.14",
                                   Signal::kMarkEcho | Signal::kRtt | Signal::kCredit),
    CcPlugin<Hpcc>("hpcc", "window from the records of every hop", "Li et al., SIGCOMM 2019",
                   Signal::kTelemetry),
    CcPlugin<PowerTcp>("powertcp", "window from queues and how they grow",
                       "Addanki et al., NSDI 2022", Signal::kTelemetry),
    CcPlugin<ThetaPowerTcp>("theta_powertcp", "window from RTTs and how they grow",
                            "Addanki et al., NSDI 2022", Signal::kRtt),
    CcPlugin<Timely>("timely", "rate by the gradient of the RTT", "Mittal et al., SIGCOMM 2015",
                     Signal::kRtt),
    CcPlugin<TimelyPatched>("timely_patched", "rate by the RTT, softly by its gradient",
                            "Zhu et al., CoNEXT 2016", Signal::kRtt),
    CcPlugin<Falcon>("falcon", "swift, and a window for the peer's receive queue",
                     "Falcon specification 0.9", Signal::kRtt),
    CcPlugin<Smartt>("smartt", "window from marks, RTT and what arrived",
                     "Bonato et al., arXiv 2404.01630", Signal::kMarkEcho | Signal::kRtt),
    CcPlugin<STrack>("strack", "window from delay, cut only on marks",
                     "Le et al., arXiv 2407.15266", Signal::kMarkEcho | Signal::kRtt),
    CcPlugin<MpRdma>("mprdma", "half a packet less for each marked one", "Lu et al., NSDI 2018",
                     Signal::kMarkEcho),
    CcPlugin<MedianOverPaths<Swift>>("mswift", "swift by the median delay over paths",
                                     "Gerstein et al., arXiv 2509.07907", Signal::kRtt),
    CcPlugin<MedianOverPaths<Nscc>>("mnscc", "nscc by the median delay over paths",
                                    "Gerstein et al., arXiv 2509.07907",
                                    Signal::kMarkEcho | Signal::kRtt),
    CcPlugin<Bbr>("bbr", "delivery rate, and twice what it needs in flight",
                  "Cardwell et al., ACM Queue 2016", Signal::kRtt),
    CcPlugin<RttProbe>("rtt_probe", "rate by the RTT of probes", "ours, after NVIDIA DOCA",
                       Signal::kRtt),
    CcPlugin<HpccPint>("hpcc_pint", "hpcc by one byte: the load of the busiest link",
                       "Ben Basat et al., SIGCOMM 2020", Signal::kPathLoad),
    // The receiver decides.
    CcPlugin<Eqds>("eqds", "pulls from the receiver, less if marked", "Olteanu et al., NSDI 2022",
                   Signal::kCredit),
    CcPlugin<Ndp>("ndp", "each packet that arrives pulls another", "Handley et al., SIGCOMM 2017",
                  Signal::kCredit),
    CcPlugin<Homa>("homa", "grants to those with the least left", "Montazeri et al., SIGCOMM 2018",
                   Signal::kCredit),
    CcPlugin<Sird>("sird", "bounded credit, by what each can use", "Prasopoulos et al., NSDI 2025",
                   Signal::kCredit),
    CcPlugin<Admission>("admission", "chunks that the receiver clears",
                        "Gangidi et al., SIGCOMM 2024", Signal::kCredit),
};

}  // namespace

std::span<const CcEntry> AllCc() { return kAll; }

const CcEntry* FindCc(const char* name) {
  for (const CcEntry& entry : kAll) {
    if (std::strcmp(entry.name, name) == 0) return &entry;
  }
  return nullptr;
}

}  // namespace weir
