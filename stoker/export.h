/// \file
/// What the shared libraries export. They are compiled with hidden symbols; a class or function
/// that programs outside use is marked with STOKER_API. The mark changes nothing for who links the
/// modules statically.
#pragma once

/// Visible outside the shared library that holds it.
#define STOKER_API __attribute__((visibility("default")))
