#include "stoker/run/model_data.h"

#include <fmt/format.h>

#include "stoker/data/data_settings.h"
#include "stoker/data/sources/common_shape.h"

namespace stoker {

ModelData open_model_data(const ModelCard& card, const ModelDataRequest& request) {
  const ImageShape wanted = card.input.image;
  std::optional<Division> division;
  if (!card.division.empty()) division = parse_division(card.division, request.weights);
  DataOptions options = request.options;
  options.images.channels = wanted.channels;
  options.known_classes = card.class_names;
  options.images.depth = wanted.depth;
  options.images.window = parse_window(card.preprocessing.window);
  ModelData opened{.part = open_evaluation_part(request.data, request.split, division, options),
                   .policy = Policy::parse(card.preprocessing.framing)};
  const Source& source = *opened.part.source;
  if (opened.policy.framing() == nullptr && common_shape(source) != wanted) {
    opened.policy = Policy::parse(fmt::format("resize({},{})", wanted.height, wanted.width));
    opened.note =
        fmt::format("images are resized to {}x{}{}, as the model was trained", wanted.width,
                    wanted.height, wanted.channels == 1 ? " and converted to grey" : "");
  }
  check_image_shape(card, sample_shape(source, opened.policy), request.weights);
  return opened;
}

}  // namespace stoker
