// Opens what an expression names (data/data_expression.h), part by part, with open_data().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/data/catalog.h"
#include "stoker/data/data_expression.h"

namespace stoker::detail {

// Empty where the text is a name, a path that is there, or a URL as it stands.
[[nodiscard]] std::vector<DataTerm> expression_terms(const std::string& text);

// The parts that all terms without a split have; none where every term names its split.
[[nodiscard]] DataParts terms_parts(const std::vector<DataTerm>& terms, const DataOptions& options);

// Terms without a split mean `split`.
[[nodiscard]] std::shared_ptr<const Source> open_terms(const std::vector<DataTerm>& terms,
                                                       Split split, const DataOptions& options);

}  // namespace stoker::detail
