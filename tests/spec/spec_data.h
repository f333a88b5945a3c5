// Where the spec tests find real data, and how they say that it is missing.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "stoker/core/environment.h"
#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/data/catalog.h"

namespace stoker::spec {

// Null, with the reason in *why, where the data set is not on this machine. Any other error is one.
inline std::shared_ptr<const Source> open_or_null(const char* name, Split split, std::string* why) {
  try {
    DataPlaces places = system_data_places();
    places.environment = [](const char* variable) -> std::optional<std::string> {
      if (std::string(variable) == "STOKER_TEST_DATA") return test_data().string();
      return environment_variable(variable);
    };
    return open_data(name, split, {.places = places});
  } catch (const Error& error) {
    if (!error.details().what.starts_with("cannot find the data set")) throw;
    *why = error.what();
    return nullptr;
  }
}

}  // namespace stoker::spec

// Declares `name`, a source of real data, or skips the test and says what is missing.
#define STOKER_REAL_DATA(variable, data_name, split)                                         \
  std::string missing_##variable;                                                            \
  const auto variable = ::stoker::spec::open_or_null(data_name, split, &missing_##variable); \
  if (variable == nullptr) GTEST_SKIP() << missing_##variable
