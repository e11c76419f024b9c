// An algorithm, a policy and their parameters as configuration says them: `cc`, `lb`, `cc_params`,
// `lb_params` and `paths` of a table.
#pragma once

#include "datapath/sender.h"
#include "datapath/text/table_reader.h"

namespace weir {

// nscc over reps, as they come.
Binding DefaultBinding();
// Complaints go to `reader`; what is not said is as in DefaultBinding.
void ReadBinding(TableReader& reader, Binding& out);

}  // namespace weir
