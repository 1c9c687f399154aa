// A program with something for each guard to guard; its own bytes are looked at, in whatever build.
#include <cstdio>
#include <cstring>
#include <vector>

int main(int argc, char** argv) {
  char text[64];
  std::strncpy(text, argv[0], static_cast<std::size_t>(argc) * 8 % sizeof text);
  text[sizeof text - 1] = 0;
  const std::vector<int> numbers(static_cast<std::size_t>(argc), 1);
  std::printf("%s %d\n", text, numbers[static_cast<std::size_t>(argc) - 1]);
  return 0;
}
