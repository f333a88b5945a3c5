/* Prints the class of each image and the probabilities of all classes, from C.

     predict_c_example runs/first photo.jpg other.png */
#include <stdio.h>
#include <stdlib.h>

#include <stoker/stoker_predict.h>

static int print_class(const stoker_classifier* classifier, const char* path, float* probabilities) {
  stoker_prediction found;
  const int status = stoker_classify_file(classifier, path, -1, &found, probabilities);
  if (status != STOKER_OK) {
    printf("%s\t\t%s\n", path, stoker_last_error());
    return 1;
  }
  printf("%s\t%s\t%.6f", path, stoker_class_name(classifier, found.best), found.probability);
  for (size_t i = 0; i < stoker_class_count(classifier); ++i) printf("\t%.6f", probabilities[i]);
  printf("\n");
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return fprintf(stderr, "Usage: predict_c_example MODEL IMAGE...\n"), 2;
  stoker_classifier* classifier = stoker_classifier_create(argv[1], NULL);
  if (classifier == NULL) return fprintf(stderr, "%s\n", stoker_last_error()), 1;
  float* probabilities = malloc(stoker_class_count(classifier) * sizeof(float));
  int failed = probabilities == NULL;
  for (int i = 2; i < argc && probabilities != NULL; ++i) {
    failed |= print_class(classifier, argv[i], probabilities);
  }
  free(probabilities);
  stoker_classifier_free(classifier);
  return failed;
}
