// Keys of a model file's metadata that others than its reader know.
#pragma once

namespace stoker {

// By this a model file is known: its metadata has it.
inline constexpr const char* kArchitectureKey = "stoker.architecture";
// Ranges for int8 (nn/calibration.h), and how fast engines were (nn/engine_trial.h).
inline constexpr const char* kCalibrationKey = "stoker.calibration";
inline constexpr const char* kEnginesKey = "stoker.engines";

}  // namespace stoker
