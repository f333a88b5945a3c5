#include "stoker/io/data_order_record.h"

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

TEST(DataOrderRecord, WhatIsRecordedIsAccepted) {
  SafetensorsMetadata metadata;
  record_data_order(metadata);
  EXPECT_EQ(metadata.at("stoker.data_order_version"), std::to_string(kDataOrderVersion));
  EXPECT_EQ(metadata.at("stoker.release"), release_version());
  EXPECT_NO_THROW(check_data_order(metadata, "a"));
}

TEST(DataOrderRecord, AnotherVersionIsRefusedWithTheReleaseToUse) {
  const SafetensorsMetadata metadata = {{"stoker.data_order_version", "7"},
                                        {"stoker.release", "1.4.2"}};
  const ErrorDetails error = error_of([&] { check_data_order(metadata, "runs/a", 3); });
  EXPECT_EQ(error.path, "runs/a");
  EXPECT_NE(error.expected.find("version 3"), std::string::npos) << error.expected;
  EXPECT_EQ(error.found, "version 7, of Stoker 1.4.2");
  EXPECT_NE(error.hint.find("with Stoker 1.4.2"), std::string::npos) << error.hint;
}

TEST(DataOrderRecord, AFileWithoutAVersionIsOfTheFirst) {
  EXPECT_NO_THROW(check_data_order({}, "a", 1));
  const ErrorDetails error = error_of([] { check_data_order({}, "a", 2); });
  EXPECT_NE(error.hint.find("with Stoker 0.2,"), std::string::npos) << error.hint;
}

TEST(DataOrderRecord, TextsOfTheFileAreNotObeyedByTheTerminal) {
  const SafetensorsMetadata metadata = {{"stoker.data_order_version", "1\x1b[31m"},
                                        {"stoker.release", std::string(1000, 'x')}};
  const ErrorDetails error = error_of([&] { check_data_order(metadata, "a"); });
  EXPECT_EQ(error.found.find('\x1b'), std::string::npos);
  EXPECT_LT(error.found.size(), 100U);
}

}  // namespace
}  // namespace stoker
