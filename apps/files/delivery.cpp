#include "files/delivery.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <exception>
#include <new>

#include "commands/commands.hpp"
#include "files/outputs.hpp"

namespace hearsay::app {

void Delivery::attempt(const std::function<void()>& write) try { write(); } catch (const std::bad_alloc&) {
  failures_.emplace_back("memory: there is not enough of it to write an output");
} catch (const std::exception& error) {
  failures_.emplace_back(error.what());
}

void Delivery::block(const std::filesystem::path& path, const Block<double>& values) {
  attempt([&] { write_block(path, values); });
}

void Delivery::block(const std::filesystem::path& path, const Block<double>& values,
                     const std::vector<std::string>& columns, const std::vector<io::RowNames>& rows) {
  attempt([&] { write_block(path, values, columns, rows); });
}

void Delivery::text(const std::filesystem::path& path, const std::string& text) {
  if (!path.empty()) attempt([&] { write_text(path, text); });
}

void Delivery::text(const std::filesystem::path& path, const std::function<std::string()>& make) {
  if (!path.empty()) attempt([&] { write_text(path, make()); });
}

void Delivery::json(const std::filesystem::path& path, const std::function<Json()>& make) {
  if (!path.empty()) attempt([&] { write_json(path, make()); });
}

void Delivery::print(const std::string& text) {
  attempt([&] { say(text); });
}

int Delivery::finish(int code) const {
  for (const std::string& failure : failures_) warn(fmt::format("not delivered: {}", failure));
  return complete() ? code : failed;
}

int deliver(Delivery& delivery, const Report& report, const std::function<Json()>& json, const std::string& more) {
  delivery.json(report.job.json, json);
  if (!report.job.prints_json()) delivery.print(summary(report) + more);
  return delivery.finish(exit_code(report.outcome.power.status));
}

int deliver(Delivery& delivery, const Report& report) {
  return deliver(delivery, report, [&report] { return result_json(report); }, {});
}

}  // namespace hearsay::app
