// Which labels of a dataset a model doubts. The models of a cross-validation (`--folds`) say it of
// images that they have not seen, which is what makes the ranking good; a single run has learnt the
// labels that it is asked about, wrong ones too.
#pragma once

#include "stoker/doctor/label_suspects.h"

namespace stoker {

// Every image of the parts that have labels; those that cannot be read are passed over. Of a
// cross-validation's folder, each training image is seen by the model that did not train on it,
// other parts by the first model. Throws Error where the data's classes are not the model's.
[[nodiscard]] LabelCheck check_labels(const LabelCheckRequest& request);

}  // namespace stoker
