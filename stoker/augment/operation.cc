#include "stoker/augment/operation.h"

#include "stoker/kernels/warp/warp.h"

namespace stoker {

std::string usage(const OperationSchema& schema) {
  std::string text = schema.name + "(";
  for (std::size_t i = 0; i < schema.parameters.size(); ++i) {
    text += (i == 0 ? "" : ",") + schema.parameters[i].name;
  }
  return text + ")";
}

std::vector<ParameterSchema> range_parameters(const std::string& meaning, double minimum,
                                              double maximum) {
  return {
      {.name = "low", .meaning = "smallest " + meaning, .minimum = minimum, .maximum = maximum},
      {.name = "high", .meaning = "largest " + meaning, .minimum = minimum, .maximum = maximum}};
}

Image warped(const ImageView& image, const Affine& map) {
  Image out(image.shape);
  WarpScratch scratch;
  warp_affine(out.view(), image, to_fixed(map), scratch);
  return out;
}

}  // namespace stoker
