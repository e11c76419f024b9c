#include "cc_algos/registry.h"

#include <cstring>

#include "cc_algos/admission.h"
#include "cc_algos/combined.h"
#include "cc_algos/dcqcn.h"
#include "cc_algos/dctcp.h"
#include "cc_algos/eqds.h"
#include "cc_algos/homa.h"
#include "cc_algos/ndp.h"
#include "cc_algos/none.h"
#include "cc_algos/nscc.h"
#include "cc_algos/rccc.h"
#include "cc_algos/sird.h"
#include "cc_algos/swift.h"

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
