// Members of a JSON object that somebody else wrote: each is looked at before it is believed.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace weir {

// Reads member after member; the first that is missing, of another type or out of range is named by
// status(), and what is read from there on stays as it was.
class JsonFields {
 public:
  // `what` names the object in messages; both outlive this.
  JsonFields(const char* what, const nlohmann::json& object);

  void Read(const char* name, bool& out);
  void Read(const char* name, std::string& out);
  void Read(const char* name, std::vector<std::string>& out);
  // In [min, max].
  void Read(const char* name, int64_t min, int64_t max, int64_t& out);
  void Read(const char* name, uint32_t min, uint32_t max, uint32_t& out);
  void Read(const char* name, uint32_t& out) { Read(name, 0, UINT32_MAX, out); }
  void Read(const char* name, uint64_t& out);
  // As many numbers as there is room for.
  void Read(const char* name, std::span<uint64_t> out);
  // Of `most` items at most; empty once something was wrong.
  std::vector<nlohmann::json> ReadArray(const char* name, size_t most);
  // Any value; null once something was wrong.
  nlohmann::json ReadAny(const char* name);

  // What the caller finds wrong with a member.
  void Fail(const char* name, const std::string& wrong);
  void Update(const absl::Status& status) { status_.Update(status); }
  const absl::Status& status() const { return status_; }

 private:
  // nullptr: it is not there, or something was wrong before.
  const nlohmann::json* Find(const char* name);

  const char* what_;
  const nlohmann::json& object_;
  absl::Status status_;
};

}  // namespace weir
