#include "stoker/distributed/gradients.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/distributed/test_ranks.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

// Tensors of several shapes and layouts, whose gradients are easy to say.
struct Parameters {
  std::vector<NamedTensor> list;
  explicit Parameters(bool by_autograd) {
    // Not from LibTorch's generator, which the ranks of this test share, nor by a function of MKL,
    // whose first calls may differ between threads (nn/layers/vector_math.h).
    const auto values = [](at::IntArrayRef sizes) {
      return at::arange(c10::multiply_integers(sizes), at::kFloat)
          .mul_(0.37)
          .remainder_(2)
          .sub_(0.9)
          .view(sizes);
    };
    const auto add = [&](const char* name, const at::Tensor& tensor) {
      list.push_back({name, tensor.detach().requires_grad_(by_autograd)});
    };
    add("a", values({3, 4}));
    add("b", values({8, 3, 5, 5}).contiguous(at::MemoryFormat::ChannelsLast));
    add("c", values({700}));
    add("d", values({}));
  }
  // Gradient of a parameter p: factor * p.
  void backward(double factor, std::size_t without = 99) {
    at::Tensor loss = at::zeros({});
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i != without) loss = loss + list[i].tensor.square().sum() * (factor / 2);
    }
    loss.backward();
  }
  void expect_gradients(double factor, double tolerance, std::size_t without = 99) const {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const at::Tensor& gradient = list[i].tensor.grad();
      EXPECT_EQ(gradient.defined(), i != without) << list[i].name;
      if (!gradient.defined()) continue;
      EXPECT_TRUE(at::allclose(gradient, list[i].tensor.detach() * factor, tolerance, tolerance))
          << list[i].name;
    }
  }
  void forget() {
    for (const NamedTensor& named : list) named.tensor.mutable_grad().reset();
  }
};

ReductionOptions small_buckets(ReductionKind kind, bool bfloat16 = false) {
  return {.kind = kind, .bfloat16 = bfloat16, .bucket_bytes = 2048, .first_bucket_bytes = 512};
}

class BothKinds : public ::testing::TestWithParam<ReductionKind> {};

TEST_P(BothKinds, SumsOverRanksStepAfterStep) {
  test::run_ranks(3, [](Group& group) {
    Parameters parameters(true);
    const auto reduction =
        make_gradient_reduction(group, parameters.list, small_buckets(GetParam()));
    for (int step = 1; step <= 3; ++step) {
      reduction->begin();
      parameters.backward(step * (group.rank() + 1));
      reduction->finish();
      parameters.expect_gradients(6 * step, 1e-6);
      parameters.forget();
    }
    EXPECT_GE(reduction->times().bytes, 3U * 4 * (12 + 600 + 700 + 1));
    EXPECT_GT(reduction->times().seconds, 0);
  });
}

// Passes before the last one add up locally and send nothing.
TEST_P(BothKinds, EarlierPassesOfAStepAreAccumulated) {
  test::run_ranks(2, [](Group& group) {
    Parameters parameters(true);
    const auto reduction =
        make_gradient_reduction(group, parameters.list, small_buckets(GetParam()));
    for (int step = 0; step < 2; ++step) {
      parameters.backward(1);
      parameters.backward(2);
      const std::uint64_t before = reduction->times().bytes;
      reduction->begin();
      parameters.backward(4);
      EXPECT_EQ(before, step == 0 ? 0 : before);
      reduction->finish();
      parameters.expect_gradients(14, 1e-6);
      parameters.forget();
    }
  });
}

TEST_P(BothKinds, Bfloat16HalvesTheBytes) {
  test::run_ranks(2, [](Group& group) {
    Parameters parameters(true);
    std::uint64_t bytes[2] = {};
    for (const bool bfloat16 : {false, true}) {
      const auto reduction =
          make_gradient_reduction(group, parameters.list, small_buckets(GetParam(), bfloat16));
      reduction->begin();
      parameters.backward(1);
      reduction->finish();
      parameters.expect_gradients(2, bfloat16 ? 1e-2 : 1e-6);
      parameters.forget();
      bytes[bfloat16 ? 1 : 0] = reduction->times().bytes;
    }
    EXPECT_EQ(bytes[1] * 2, bytes[0]);
  });
}

INSTANTIATE_TEST_SUITE_P(Gradients, BothKinds,
                         ::testing::Values(ReductionKind::kOverlapped, ReductionKind::kAfterwards));

TEST(Gradients, ThoseThatAutogradDidNotMakeAreSummedAfterwards) {
  test::run_ranks(2, [](Group& group) {
    Parameters parameters(false);
    for (const NamedTensor& named : parameters.list) {
      named.tensor.mutable_grad() = named.tensor * (group.rank() + 1);
    }
    const auto reduction = make_gradient_reduction(group, parameters.list, {});
    reduction->begin();
    reduction->finish();
    parameters.expect_gradients(3, 1e-6);
  });
}

// Used on one rank alone it counts; on none, it stays without a gradient.
TEST(Gradients, UnusedParametersAreHandledAfterwards) {
  test::run_ranks(2, [](Group& group) {
    Parameters parameters(true);
    const auto reduction =
        make_gradient_reduction(group, parameters.list, small_buckets(ReductionKind::kAfterwards));
    reduction->begin();
    parameters.backward(1, 2);
    reduction->finish();
    parameters.expect_gradients(2, 1e-6, 2);
    parameters.forget();
    reduction->begin();
    parameters.backward(1, group.rank() == 0 ? 2 : 99);
    reduction->finish();
    EXPECT_TRUE(at::allclose(parameters.list[2].tensor.grad(), parameters.list[2].tensor));
  });
}

TEST(Gradients, AnUnusedParameterOverlappedIsNamed) {
  test::run_ranks(2, [](Group& group) {
    Parameters parameters(true);
    const auto reduction =
        make_gradient_reduction(group, parameters.list, small_buckets(ReductionKind::kOverlapped));
    reduction->begin();
    parameters.backward(1, 1);
    try {
      reduction->finish();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("got b"));
    }
  });
}

}  // namespace
}  // namespace stoker
