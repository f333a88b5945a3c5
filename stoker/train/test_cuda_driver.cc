// A CUDA driver for device_list_test.cc: two devices that do not exist. The names and signatures
// are those of NVIDIA's library.
#include <cstddef>
#include <cstdio>
#include <cstdlib>

extern "C" {

// The variable stands for a driver that does not work, such as after an update without a restart.
int cuInit(unsigned) { return std::getenv("STOKER_TEST_CUDA_BROKEN") != nullptr ? 803 : 0; }
int cuDriverGetVersion(int* version) {
  *version = 12080;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 2;
  return 0;
}
int cuDeviceGet(int* device, int index) {
  *device = 40 + index;
  return index < 2 ? 0 : 101;
}
int cuDeviceGetName(char* name, int length, int device) {
  std::snprintf(name, static_cast<std::size_t>(length), "Made-up T%d", device);
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{16} << 30;
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 75 ? 7 : device - 35;
  return 0;
}
}
