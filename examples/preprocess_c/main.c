/* Writes the numbers that a network takes for an image, float32 in the order of ONNX's inputs
   (channel, row, column), to a file. Needs no LibTorch: this is for runtimes of your own.

     preprocess_c_example runs/first/weights/best.safetensors photo.jpg input.bin */
#include <stdio.h>
#include <stdlib.h>

#include <stoker/stoker_preprocess.h>

static int write_file(const char* path, const void* bytes, size_t size) {
  FILE* file = fopen(path, "wb");
  if (file == NULL) return 1;
  const size_t written = fwrite(bytes, 1, size, file);
  return fclose(file) != 0 || written != size;
}

int main(int argc, char** argv) {
  if (argc != 4) return fprintf(stderr, "Usage: preprocess_c_example MODEL IMAGE OUT\n"), 2;
  stoker_preprocessor* preprocessor = stoker_preprocessor_from_model(argv[1], STOKER_FLOAT_NCHW);
  if (preprocessor == NULL) return fprintf(stderr, "%s\n", stoker_last_error()), 1;
  const size_t size = stoker_preprocessor_bytes(preprocessor);
  int32_t height, width, channels;
  stoker_preprocessor_shape(preprocessor, &height, &width, &channels);
  float* input = malloc(size);
  int failed = input == NULL;
  if (!failed && stoker_preprocess_file(preprocessor, argv[2], input, size) != STOKER_OK) {
    fprintf(stderr, "%s\n", stoker_last_error());
    failed = 1;
  }
  if (!failed) failed = write_file(argv[3], input, size);
  if (!failed) printf("%d x %d x %d\n", (int)channels, (int)height, (int)width);
  free(input);
  stoker_preprocessor_free(preprocessor);
  return failed;
}
