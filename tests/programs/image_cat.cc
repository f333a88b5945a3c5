// Test program: reads lines `FILE [channels=1] [region=L,T,W,H] [target=W,H] [background=R,G,B]
// [depth=16] [window=LOW,HIGH] [window_of_image=1]` from standard input and writes for each a line
// of JSON, followed by the pixels where it says so. tests/image_test.py compares them with
// Pillow's. A target turns exact decoding off.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stoker/image/decode.h"

namespace {

// Numbers between commas.
std::vector<int> numbers(const std::string& text) {
  std::vector<int> found;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) found.push_back(std::stoi(part));
  return found;
}

void apply(stoker::DecodeOptions& options, const std::string& name, const std::vector<int>& v) {
  if (name == "channels") options.channels = v.at(0);
  if (name == "depth") options.depth = v.at(0);
  if (name == "window") options.window = {.low = v.at(0), .high = v.at(1)};
  if (name == "window_of_image") options.window = {.of_image = true};
  if (name == "region") options.region = stoker::Region{v.at(0), v.at(1), v.at(2), v.at(3)};
  if (name == "background") {
    options.background = {static_cast<std::uint8_t>(v.at(0)), static_cast<std::uint8_t>(v.at(1)),
                          static_cast<std::uint8_t>(v.at(2))};
  }
  if (name == "target") {
    options.exact = false;
    options.target_width = v.at(0);
    options.target_height = v.at(1);
  }
}

void print_error(const stoker::ErrorDetails& error) {
  std::string text = to_string(error);
  for (char& c : text) {
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = '\'';
  }
  fmt::print("{{\"error\": \"{}\"}}\n", text);
}

void print_pixels(const stoker::DecodedImage& image, const stoker::ImageHeader& header) {
  const auto& [pixels, scale, box, tolerated] = image;
  fmt::print(
      "{{\"format\": \"{}\", \"orientation\": {}, \"shape\": [{}, {}, {}], \"depth\": {}, "
      "\"scale\": {}, "
      "\"box\": [{}, {}, {}, {}], \"tolerated\": {}}}\n",
      format_name(header.format), header.orientation, pixels.shape.height, pixels.shape.width,
      pixels.shape.channels, pixels.shape.depth, scale, box.left, box.top, box.left + box.width,
      box.top + box.height, tolerated);
  for (int y = 0; y < pixels.shape.height; ++y) {
    std::fwrite(pixels.row(y), 1, pixels.shape.bytes_per_row(), stdout);
  }
}

void answer(stoker::ImageDecoder& decoder, const std::string& line) {
  std::istringstream words(line);
  std::string path, word;
  words >> path;
  stoker::DecodeOptions options;
  while (words >> word) {
    const std::size_t equals = word.find('=');
    apply(options, word.substr(0, equals), numbers(word.substr(equals + 1)));
  }
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  auto header = decoder.open(std::as_bytes(std::span(bytes)));
  if (!header) return print_error(header.error());
  auto image = decoder.decode(options);
  if (!image) return print_error(image.error());
  print_pixels(*image, *header);
}

}  // namespace

int main() {
  try {
    stoker::ImageDecoder decoder;
    for (std::string line; std::getline(std::cin, line);) {
      answer(decoder, line);
      std::fflush(stdout);
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "image_cat: {}\n", error.what());
    return 1;
  }
}
