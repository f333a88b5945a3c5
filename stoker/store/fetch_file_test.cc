#include "stoker/store/fetch_file.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/store/sha256.h"
#include "stoker/store/test_http_server.h"

namespace stoker {
namespace {

using testing::HasSubstr;

const std::string kWeights(200'000, 'w');

std::string sha256_of(const std::string& text) {
  Sha256 sha256;
  sha256.add(std::as_bytes(std::span(text)));
  return sha256.hex_digest();
}

FetchRequest request_of(const TestHttpServer& server, const TempFolder& folder) {
  return {.prefix = server.url() + "/models",
          .name = "net-1.pth",
          .target = folder.path() / "cache" / "net-1.pth",
          .sha256 = sha256_of(kWeights).substr(0, 8),
          .retry = quick_retries()};
}

std::string fetch_refusal(const FetchRequest& request) {
  try {
    fetch_file(request);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

bool is_empty_folder(const std::filesystem::path& folder) {
  return !std::filesystem::exists(folder) || std::filesystem::is_empty(folder);
}

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Sha256, OfAnExampleOfTheStandard) {
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(FetchFile, TheFileIsWholeAndProgressReachesItsLength) {
  const TempFolder folder;
  const TestHttpServer server(std::vector<TestReply>{{.body = kWeights}});
  FetchRequest request = request_of(server, folder);
  std::uint64_t last = 0, total = 0;
  request.progress = [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_GT(done, last);
    last = done;
    total = all;
  };
  fetch_file(request);
  EXPECT_EQ(text_of_file(request.target), kWeights);
  EXPECT_EQ(last, kWeights.size());
  EXPECT_EQ(total, kWeights.size());
  EXPECT_EQ(server.requests().back().target, "/models/net-1.pth");
}

TEST(FetchFile, AnotherHashLeavesWhatWasThere) {
  const TempFolder folder;
  std::string other = kWeights;
  other[100'000] = 'x';
  const TestHttpServer server(std::vector<TestReply>{{.body = other}});
  const FetchRequest request = request_of(server, folder);
  EXPECT_THAT(fetch_refusal(request), HasSubstr(request.sha256));
  EXPECT_TRUE(is_empty_folder(folder.path() / "cache"));
  folder.write("cache/net-1.pth", {'o', 'l', 'd'});
  EXPECT_THAT(fetch_refusal(request), HasSubstr("No file was written"));
  EXPECT_EQ(text_of_file(request.target), "old");
}

TEST(FetchFile, ABodyThatEndsEarlyAgainAndAgainIsAnError) {
  const TempFolder folder;
  const TestHttpServer server([](const TestRequest& request) {
    TestReply reply{.body = kWeights};
    if (request.method == "GET") reply.cut_after = 0;
    return reply;
  });
  EXPECT_THAT(fetch_refusal(request_of(server, folder)), HasSubstr("net-1.pth"));
  EXPECT_TRUE(is_empty_folder(folder.path() / "cache"));
}

TEST(FetchFile, AMissingOrTooLongFileIsAnError) {
  const TempFolder folder;
  const TestHttpServer missing(std::vector<TestReply>{{.status = 404}});
  EXPECT_THAT(fetch_refusal(request_of(missing, folder)), HasSubstr("404"));
  const TestHttpServer server(std::vector<TestReply>{{.body = kWeights}});
  FetchRequest request = request_of(server, folder);
  request.at_most = 1000;
  EXPECT_THAT(fetch_refusal(request), HasSubstr("at most 1000 bytes"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "cache"));
}

TEST(FetchFile, AFolderThatCannotBeMadeIsNamed) {
  const TempFolder folder;
  const TestHttpServer server(std::vector<TestReply>{{.body = kWeights}});
  folder.write("cache", {1});  // a file where the folder should be
  EXPECT_THAT(fetch_refusal(request_of(server, folder)),
              HasSubstr("cannot make the folder: " + (folder.path() / "cache").string()));
  EXPECT_EQ(contents_of(folder.path() / "cache"), Bytes{1});
}

}  // namespace
}  // namespace stoker
