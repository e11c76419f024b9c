// An algorithm, a policy and their parameters as configuration says them: `cc`, `lb`, `cc_params`,
// `lb_params` and `paths` of a table.
#pragma once

#include "datapath/sender.h"
#include "datapath/text/table_reader.h"

namespace weir {

// Complaints go to `reader`; without `cc` and `lb` it is nscc over reps.
void ReadBinding(TableReader& reader, Binding& out);

}  // namespace weir
