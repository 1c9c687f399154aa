#include "files/run_files.hpp"

#include <gtest/gtest.h>

#include "hearsay/options.hpp"

namespace hearsay::app {
namespace {

// An option added to the table without a word about its file would escape the check for clashes.
TEST(RunFiles, KnowEveryOptionThatNamesAFile) {
  for (const OptionRecord& record : option_table())
    EXPECT_EQ(registers(record.name), names_a_file(record)) << record.name;
}

}  // namespace
}  // namespace hearsay::app
