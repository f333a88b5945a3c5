#include <gloo/context.h>  // all the names are there
