#include "stoker/data/detail/open_expression.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "stoker/data/sources/joined_source.h"
#include "stoker/data/sources/source_range.h"

namespace stoker::detail {
namespace {

Split split_of(const DataTerm& term, Split asked) {
  return term.split.empty() ? asked : parse_split(term.split);
}

std::shared_ptr<const Source> open_term(const DataTerm& term, Split split,
                                        const DataOptions& options) {
  auto source = open_data(term.data, split_of(term, split), options);
  if (!term.range) return source;
  DataTerm whole = term;
  whole.range.reset();
  return std::make_shared<SourceRange>(std::move(source), *term.range, text_of(whole));
}

}  // namespace

std::vector<DataTerm> expression_terms(const std::string& text) {
  std::error_code ignored;  // a name too long for a path is none
  if (std::filesystem::exists(text, ignored)) return {};
  return parse_data_expression(text);
}

DataParts terms_parts(const std::vector<DataTerm>& terms, const DataOptions& options) {
  DataParts all;
  bool first = true;
  for (const DataTerm& term : terms) {
    if (!term.split.empty()) continue;
    const DataParts own = find_data_parts(term.data, options);
    all = first ? own
                : DataParts{.validation = all.validation && own.validation,
                            .test = all.test && own.test};
    first = false;
  }
  return all;
}

std::shared_ptr<const Source> open_terms(const std::vector<DataTerm>& terms, Split split,
                                         const DataOptions& options) {
  if (terms.size() == 1) return open_term(terms.front(), split, options);
  std::vector<JoinedSource::Part> parts;
  for (const DataTerm& term : terms) {
    parts.push_back({text_of(term), open_term(term, split, options)});
  }
  return std::make_shared<JoinedSource>(std::move(parts));
}

}  // namespace stoker::detail
