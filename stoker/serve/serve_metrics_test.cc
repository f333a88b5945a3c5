#include "stoker/serve/serve_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker {
namespace {

using testing::HasSubstr;

TEST(ServeMetrics, CountsResponsesAndTimes) {
  ServeMetrics metrics;
  metrics.add("classify", 200, 0.003);
  metrics.add("classify", 200, 0.2);
  metrics.add("infer", 429, 99);
  const std::string text =
      metrics.text({.callers = 2, .batches = 3, .images = 7, .bad_images = 1}, true);
  EXPECT_THAT(text, HasSubstr("stoker_responses_total{route=\"classify\",code=\"200\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("stoker_responses_total{route=\"infer\",code=\"429\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("stoker_request_seconds_bucket{le=\"0.005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("stoker_request_seconds_bucket{le=\"0.25\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("stoker_request_seconds_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("stoker_request_seconds_count 3\n"));
  EXPECT_THAT(text, HasSubstr("stoker_images_total 7\n"));
  EXPECT_THAT(text, HasSubstr("stoker_waiting_images 2\n"));
  EXPECT_THAT(text, HasSubstr("stoker_ready 1\n"));
}

}  // namespace
}  // namespace stoker
