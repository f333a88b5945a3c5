// Test program: reads jobs from standard input until its end, writes the results to standard
// output. A job is a line
//   KERNEL TYPES ROWS COLUMNS KERNEL_ROWS KERNEL_COLUMNS SIMD
// and then the values of both operands in the machine's bytes:
//   correlation, sobel   image and kernel; TYPES are f32, f64, i32, u8i32 (bytes, whole weights),
//                        u8f32 (bytes, f32 weights); sobel knows f32, f64 and u8f32
//   maximum              two matrices of ROWS x COLUMNS; u8, i32, i64
//   gram                 one matrix (KERNEL_ROWS and KERNEL_COLUMNS are 0); f32, f64
// tests/kernels_test.py compares what it writes with scipy's and numpy's results.
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/kernels/correlation/correlation.h"
#include "stoker/kernels/gram/gram.h"
#include "stoker/kernels/maximum/maximum.h"
#include "stoker/kernels/simd.h"
#include "stoker/kernels/sobel/sobel.h"

namespace {

using stoker::Plane;

struct Job {
  std::string kernel, types, simd;
  int rows = 0, columns = 0, kernel_rows = 0, kernel_columns = 0;
};

bool read_job(Job& job) {
  std::cin >> job.kernel >> job.types >> job.rows >> job.columns >> job.kernel_rows >>
      job.kernel_columns >> job.simd;
  return std::cin.get() == '\n';
}

// A matrix with its memory.
template <class T>
struct Values {
  int rows, columns;
  std::vector<T> values;

  Values(int row_count, int column_count)
      : rows(row_count), columns(column_count), values(std::size_t{1} * row_count * column_count) {}
  static Values read(int rows, int columns) {
    Values result(rows, columns);
    std::cin.read(reinterpret_cast<char*>(result.values.data()), result.bytes());
    return result;
  }
  void write() const { std::cout.write(reinterpret_cast<const char*>(values.data()), bytes()); }
  [[nodiscard]] std::streamsize bytes() const {
    return static_cast<std::streamsize>(values.size() * sizeof(T));
  }
  Plane<T> plane() { return {values.data(), rows, columns}; }
  [[nodiscard]] Plane<const T> plane() const { return {values.data(), rows, columns}; }
};

template <class Out, class In>
void correlation(const Job& job) {
  const auto image = Values<In>::read(job.rows, job.columns);
  const auto kernel = Values<Out>::read(job.kernel_rows, job.kernel_columns);
  Values<Out> out(job.rows, job.columns);
  correlate(out.plane(), image.plane(), kernel.plane());
  out.write();
}

template <class Out, class In>
void sobel_of(const Job& job) {
  const auto image = Values<In>::read(job.rows, job.columns);
  const auto filter = Values<Out>::read(job.kernel_rows, job.kernel_columns);
  Values<Out> out(job.rows, job.columns);
  sobel(out.plane(), image.plane(), filter.plane());
  out.write();
}

template <class T>
void maximum_of(const Job& job) {
  const auto a = Values<T>::read(job.rows, job.columns);
  const auto b = Values<T>::read(job.rows, job.columns);
  Values<T> out(job.rows, job.columns);
  maximum(out.plane(), a.plane(), b.plane());
  out.write();
}

template <class T>
void gram_of(const Job& job) {
  const auto x = Values<T>::read(job.rows, job.columns);
  Values<T> out(job.rows, job.rows);
  gram(out.plane(), x.plane());
  out.write();
}

void do_job(const Job& job) {
  struct Entry {
    const char* name;
    void (*run)(const Job&);
  };
  static constexpr Entry kEntries[] = {
      {"correlation f32", correlation<float, float>},
      {"correlation f64", correlation<double, double>},
      {"correlation i32", correlation<std::int32_t, std::int32_t>},
      {"correlation u8i32", correlation<std::int32_t, std::uint8_t>},
      {"correlation u8f32", correlation<float, std::uint8_t>},
      {"sobel f32", sobel_of<float, float>},
      {"sobel f64", sobel_of<double, double>},
      {"sobel u8f32", sobel_of<float, std::uint8_t>},
      {"maximum u8", maximum_of<std::uint8_t>},
      {"maximum i32", maximum_of<std::int32_t>},
      {"maximum i64", maximum_of<std::int64_t>},
      {"gram f32", gram_of<float>},
      {"gram f64", gram_of<double>},
  };
  stoker::force_simd(job.simd);
  const std::string name = job.kernel + " " + job.types;
  for (const Entry& entry : kEntries) {
    if (name == entry.name) return entry.run(job);
  }
  throw stoker::Error({.what = "no such job", .found = name});
}

}  // namespace

// `kernels_cat simd` prints the names of the versions instead.
int main(int count, char**) {
  try {
    if (count == 2) {
      for (const auto& name : stoker::available_simd()) fmt::print("{}\n", name);
      return 0;
    }
    std::ios::sync_with_stdio(false);
    for (Job job; read_job(job);) do_job(job);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kernels_cat: {}\n", error.what());
    return 1;
  }
}
