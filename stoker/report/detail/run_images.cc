// Images: what the network got most wrong, what it was least sure of, what augmentation does.
#include <cmath>

#include <fmt/format.h>

#include "stoker/report/detail/run_sections.h"
#include "stoker/report/html.h"
#include "stoker/report/html_page.h"

namespace stoker::detail {
namespace {

// A number and its sign stay on one line.
std::string share_text(double share) {
  return std::isfinite(share) ? fmt::format("{:.0f}&nbsp;%", 100 * share) : "?";
}

// Of tasks whose answer is not one class.
std::string text_lines(const ReportPrediction& p) {
  return fmt::format("<b>{}</b><span>is {}</span><span>loss {:.3g}</span>",
                     escape_html(p.prediction_text), escape_html(p.truth_text), p.loss);
}

std::string prediction_html(const RunReport& run, const ReportPrediction& p, bool with_loss) {
  const bool right = p.label == p.first;
  const bool as_text = !p.prediction_text.empty() || !p.truth_text.empty();
  const std::string truth = as_text ? p.truth_text : run.class_name(p.label);
  const std::string taken = as_text ? p.prediction_text : run.class_name(p.first);
  std::string lines = fmt::format("<b class=\"{}\">{}</b> {}", right ? "good" : "bad",
                                  escape_html(taken), share_text(p.first_share));
  if (as_text) {
    lines = text_lines(p);
  } else if (with_loss) {
    lines += fmt::format("<span>is {}</span><span>loss {:.3g}</span>", escape_html(truth), p.loss);
  } else {
    lines += fmt::format("<span>or {} {}</span><span>is {}</span>",
                         escape_html(run.class_name(p.second)), share_text(p.second_share),
                         escape_html(truth));
  }
  return fmt::format(
      "<figure>{}<figcaption>{}<span class=\"sample\" title=\"{}\">{}</span></figcaption></figure>"
      "\n",
      image_html(p.image, fmt::format("{}, taken for {}", truth, taken)), lines,
      escape_html(p.sample), escape_html(p.sample.substr(p.sample.rfind('/') + 1)));
}

std::string images_section(const RunReport& run, const std::vector<ReportPrediction>& list,
                           const char* id, const char* title, const char* hint, bool with_loss) {
  if (list.empty()) return "";
  std::string out = fmt::format(
      "<section id=\"{}\" class=\"long\"><h2>{}</h2>\n<p class=\"hint\">{}</p>\n"
      "<div class=\"images\">\n",
      id, title, hint);
  for (const ReportPrediction& one : list) out += prediction_html(run, one, with_loss);
  return out + "</div></section>\n";
}

}  // namespace

std::string losses_section(const RunReport& run) {
  return images_section(run, run.top_losses, "losses", "Top losses",
                        run.task == Task::kClassify
                            ? "The validation images with the largest loss: predicted class, and "
                              "label. Often reveals mislabelled images."
                            : "The validation images with the largest loss: what was predicted, "
                              "and what is true. Often reveals mislabelled images.",
                        true);
}

std::string doubts_section(const RunReport& run) {
  return images_section(run, run.doubtful, "doubts", "Most doubtful",
                        "The validation images whose two most probable classes are closest.",
                        false);
}

std::string batch_section(const RunReport& run) {
  if (run.batch.empty()) return "";
  std::string out = fmt::format(
      "<section id=\"batch\" class=\"long\"><h2>Augmentation</h2>\n<p class=\"hint\">The first "
      "images of the first epoch, before (left) and after (right): {}.</p>\n"
      "<div class=\"pairs-grid\">\n",
      run.augmentation.empty() ? "no augmentation" : escape_html(run.augmentation));
  for (const ReportPair& pair : run.batch) {
    const std::string name = pair.label_text.empty() ? run.class_name(pair.label) : pair.label_text;
    out +=
        fmt::format("<figure><div class=\"pair\">{}{}</div><figcaption>{}</figcaption></figure>\n",
                    image_html(pair.before, name + " before"),
                    image_html(pair.after, name + " after"), escape_html(name));
  }
  return out + "</div></section>\n";
}

}  // namespace stoker::detail
