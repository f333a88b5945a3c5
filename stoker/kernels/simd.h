// Which version of the kernels runs. Chosen once from what the CPU offers; the variable STOKER_SIMD
// or force_simd() takes another, for tests and for measuring. All versions give the same bytes.
//
// Names: "reference" (the plain loops), then Highway's targets in lower case, on x86 "ssse3",
// "sse4", "avx2", "avx3" (AVX-512), "avx3_vnni" (with VNNI and VBMI, which some kernels have a
// version for; the others take avx3). force_simd() is not for use while kernels run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// What this CPU and this build can run, slowest first.
[[nodiscard]] std::vector<std::string> available_simd();

// The version that the next kernel call will take.
[[nodiscard]] std::string active_simd();

// Takes one of available_simd(), or "auto" for the best; anything else is an Error that lists them.
void force_simd(std::string_view name);

namespace detail {
// True where kernels must take their plain loops. Reads STOKER_SIMD at the first call.
[[nodiscard]] bool use_reference_kernels();
// True where kernels may take their version for AVX-512 with VNNI and VBMI.
[[nodiscard]] bool use_vnni_kernels();
}  // namespace detail

}  // namespace stoker
