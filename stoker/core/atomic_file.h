// Writes a file so that whoever looks, also after a crash at any moment, finds either the old whole
// file or the new whole file: a temporary name in the same folder, fsync, rename, fsync of the
// folder.
//
// A failure is an Error with the path and the reason; the old file stays and no temporary is left.
// A process that is killed may leave one: `.stoker-PID-N.tmp`, which nothing ever reads.
// One thread at a time; any number of objects at once, also for the same path: the last wins.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

class AtomicFile {
 public:
  // Opens the temporary file. `subject` is for messages: "cannot write the {subject}". A symbolic
  // link stays and the file it names is replaced, but for own_folder.h. A device or pipe is written
  // in place: it has no old content to keep, and a rename would put a file where it was.
  explicit AtomicFile(const std::filesystem::path& path, std::string subject = "file");
  // Discards what was written unless commit() has returned.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Appends; no buffer of its own, so a call for every few bytes is slow. Throws Error, after which
  // only the destructor is of use.
  void write(std::span<const std::byte> bytes);

  // Puts the file in its place; once. Where it throws, the old file is still there, with one
  // exception: the disk fails while the folder is made durable, then the new one is.
  void commit();

 private:
  void create_temporary();
  void open_in_place();
  void sync_folder() const;
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;       // as the user wrote it: messages name this one
  std::filesystem::path target_;     // with links resolved
  std::filesystem::path temporary_;  // empty: nothing to remove
  std::string subject_;
  int descriptor_ = -1;
};

// All of a file at once, in the same way.
void write_whole_file(const std::filesystem::path& path, std::string_view text,
                      const std::string& subject = "file");

}  // namespace stoker
