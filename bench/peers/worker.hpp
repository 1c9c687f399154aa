// What the native workers of bench/peers share: arrays from files, one JSON command a line in, one JSON answer a line
// out. The basis goes into a file, because the driver, and nobody else, measures how good it is.
#pragma once

#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace hearsay::bench {

using Json = nlohmann::json;

/// A .npy file of one type, in C order: what NumPy writes for the arrays of an instance.
template <class T>
struct Array {
  std::int64_t rows = 0, cols = 1;
  std::vector<T> values;
};

template <class T>
Array<T> read_array(const std::filesystem::path& path) {
  const std::string type = std::is_floating_point_v<T> ? "'<f" : "'<i";
  std::ifstream file(path, std::ios::binary);
  char start[10];
  if (!file.read(start, 10) || std::memcmp(start, "\x93NUMPY\x01", 7) != 0)
    throw std::runtime_error(path.string() + ": not a .npy file of version 1");
  std::string header(static_cast<unsigned char>(start[8]) + 256U * static_cast<unsigned char>(start[9]), ' ');
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  if (header.find(type + std::to_string(sizeof(T)) + "'") == std::string::npos ||
      header.find("'fortran_order': False") == std::string::npos)
    throw std::runtime_error(path.string() + ": " + header + ": another type or order than expected");
  Array<T> array;
  const std::size_t shape = header.find("'shape': (") + 10;
  long long rows = 0, cols = 1;
  if (std::sscanf(header.c_str() + shape, "%lld, %lld", &rows, &cols) < 1)
    throw std::runtime_error(path.string() + ": " + header + ": no shape");
  array.rows = rows, array.cols = cols;
  array.values.resize(static_cast<std::size_t>(rows * cols));
  if (!file.read(reinterpret_cast<char*>(array.values.data()),
                 static_cast<std::streamsize>(array.values.size() * sizeof(T))))
    throw std::runtime_error(path.string() + ": cut short");
  return array;
}

/// rows x cols, C order.
inline void write_array(const std::filesystem::path& path, const double* values, std::int64_t rows, std::int64_t cols) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                       std::to_string(cols) + "), }";
  header.resize((header.size() + 10 + 64) / 64 * 64 - 10, ' ');
  header.back() = '\n';
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00", 8);
  file.put(static_cast<char>(header.size() % 256)).put(static_cast<char>(header.size() / 256));
  file << header;
  file.write(reinterpret_cast<const char*>(values), static_cast<std::streamsize>(rows * cols * 8));
  if (!file.flush()) throw std::runtime_error(path.string() + ": cannot be written");
}

/// VmRSS or VmHWM, in bytes.
inline double resident(const char* which) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(which, 0) == 0) return 1024.0 * std::stod(line.substr(line.find(':') + 1));
  return 0;
}

/// Seconds of the work, and the most memory it held beyond what was held before.
inline Json measured(const std::function<void()>& work) {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;  // the high-water mark begins anew
  const double before = resident("VmRSS");
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return {{"seconds", taken.count()}, {"memory_bytes", resident("VmHWM") - before}};
}

/// Answers commands until they end. What a solve throws is an answer too.
inline int serve(const std::function<Json(const Json& command)>& answer) {
  std::cout << R"({"ready": true})" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    Json reply;
    try {
      reply = answer(Json::parse(line));
    } catch (const std::exception& error) {
      reply = {{"error", error.what()}};
    }
    std::cout << reply.dump() << std::endl;
  }
  return 0;
}

}  // namespace hearsay::bench
