// libstoker_ops_autograd.so: the gradients of stoker::correlation. The stable part of LibTorch
// knows no autograd functions, so this is a library of its own, bound to the version that it was
// built with; loading it loads libstoker_ops.so.
//
// With G the gradient of the result: the image's gradient is the correlation of G with the kernel
// rotated by 180° (odd sides and zero padding make both the same size), the kernel's is the
// correlation of the padded image with G. Both are made of differentiable operators, so second
// derivatives exist.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

namespace stoker::detail {
namespace {

at::Tensor correlation(const at::Tensor& image, const at::Tensor& kernel) {
  static const auto operation = c10::Dispatcher::singleton()
                                    .findSchemaOrThrow("stoker::correlation", "")
                                    .typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
  return operation.call(image, kernel);
}

// [1, images, rows, columns]: a convolution with one group sums over all images. Sizes stay
// symbols where torch.compile has made them such.
at::Tensor as_channels(const at::Tensor& images) {
  return images.reshape_symint({1, -1, images.sym_size(-2), images.sym_size(-1)});
}

at::Tensor kernel_gradient(const at::Tensor& gradient, const at::Tensor& image,
                           const at::Tensor& kernel) {
  if (image.sym_numel() == 0) return at::zeros_like(kernel);
  const c10::SymInt stride[] = {1, 1};
  const c10::SymInt padding[] = {kernel.sym_size(0) / 2, kernel.sym_size(1) / 2};
  const auto products =
      at::conv2d_symint(as_channels(image), as_channels(gradient), {}, stride, padding);
  return products.reshape_symint(kernel.sym_sizes()).to(kernel.device());
}

class Correlation : public torch::autograd::Function<Correlation> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& image,
                            const at::Tensor& kernel) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({image, kernel});
    return correlation(image, kernel);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &image = saved[0], &kernel = saved[1], &gradient = gradients[0];
    at::Tensor of_image, of_kernel;
    if (context->needs_input_grad(0)) of_image = correlation(gradient, kernel.flip({0, 1}));
    if (context->needs_input_grad(1)) {
      of_kernel = kernel_gradient(gradient, image.to(gradient.scalar_type()), kernel);
    }
    return {of_image, of_kernel};
  }
};

at::Tensor correlation_autograd(const at::Tensor& image, const at::Tensor& kernel) {
  return Correlation::apply(image, kernel);
}

}  // namespace

TORCH_LIBRARY_IMPL(stoker, Autograd, library) {
  library.impl("correlation", &correlation_autograd);
}

}  // namespace stoker::detail
