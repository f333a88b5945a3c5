// Text for people who look at a terminal, or at what a pipe passes on. The work of the program does
// not depend on them: where the reader is gone (`| head`, a closed terminal), what follows is
// dropped. Names of files in the text may come from anybody: control characters become \xNN.
#pragma once

#include <cstdio>
#include <string_view>

namespace stoker {

// Writes the text and flushes. Never throws and reports nothing: what cannot be written for another
// reason than a lost reader leaves the file's ferror() for the program's end.
void show(std::FILE* file, std::string_view text) noexcept;
// The same for text of ours alone, which may move the cursor.
void show_as_it_is(std::FILE* file, std::string_view text) noexcept;

// From here on, a pipe whose reader is gone does not end this process. For work that is saved
// elsewhere; a command whose output is its work ends with it, as users of pipes expect.
void outlive_readers() noexcept;

}  // namespace stoker
