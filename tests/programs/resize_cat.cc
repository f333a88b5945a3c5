// Test program: reads jobs from standard input until its end, writes the resized pixels to standard
// output. A job is a line
//   HEIGHT WIDTH CHANNELS OUT_HEIGHT OUT_WIDTH LEFT TOP RIGHT BOTTOM FILTER ORDER MIRROR SIMD
// (FILTER and ORDER as in ResizeFilter and ResizeOrder, counted from 0; MIRROR 0 or 1) and then the
// pixels.
// tests/resize_test.py compares what it writes with Pillow's results.
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "stoker/kernels/resize/resize.h"
#include "stoker/kernels/simd.h"

namespace {

struct Job {
  stoker::ImageShape in, out;
  stoker::ResizeBox box{};
  stoker::ResizeOptions options;
  std::string simd;
};

bool read_job(Job& job) {
  int filter = 0, order = 0;
  std::cin >> job.in.height >> job.in.width >> job.in.channels >> job.out.height >> job.out.width >>
      job.box.left >> job.box.top >> job.box.right >> job.box.bottom >> filter >> order >>
      job.options.mirror >> job.simd;
  job.out.channels = job.in.channels;
  job.options.filter = static_cast<stoker::ResizeFilter>(filter);
  job.options.order = static_cast<stoker::ResizeOrder>(order);
  return std::cin.get() == '\n';
}

void do_job(const Job& job, stoker::ResizeScratch& scratch) {
  stoker::Image in(job.in), out(job.out);
  std::cin.read(reinterpret_cast<char*>(in.view().data),
                static_cast<std::streamsize>(job.in.bytes()));
  stoker::force_simd(job.simd);
  stoker::resize(out.view(), in.view(), job.box, job.options, scratch);
  std::cout.write(reinterpret_cast<const char*>(out.view().data),
                  static_cast<std::streamsize>(job.out.bytes()));
}

}  // namespace

// `resize_cat simd` prints the names of the versions instead.
int main(int count, char**) {
  try {
    if (count == 2) {
      for (const auto& name : stoker::available_simd()) fmt::print("{}\n", name);
      return 0;
    }
    std::ios::sync_with_stdio(false);
    Job job;
    for (stoker::ResizeScratch scratch; read_job(job);) do_job(job, scratch);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "resize_cat: {}\n", error.what());
    return 1;
  }
}
