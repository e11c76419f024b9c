#include "testbed/nic/json_fields.h"

#include "absl/strings/str_format.h"

namespace weir {

using nlohmann::json;

JsonFields::JsonFields(const char* what, const json& object) : what_(what), object_(object) {
  if (object.is_object()) return;
  status_ = absl::InvalidArgumentError(absl::StrFormat("%s is no JSON object", what));
}

const json* JsonFields::Find(const char* name) {
  if (!status_.ok()) return nullptr;
  const auto found = object_.find(name);
  if (found != object_.end()) return &*found;
  Fail(name, "is missing");
  return nullptr;
}

void JsonFields::Fail(const char* name, const std::string& wrong) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(absl::StrFormat("%s: \"%s\" %s", what_, name, wrong));
}

void JsonFields::Read(const char* name, bool& out) {
  const json* value = Find(name);
  if (value == nullptr) return;
  if (!value->is_boolean()) return Fail(name, "is neither true nor false");
  out = value->get<bool>();
}

void JsonFields::Read(const char* name, std::string& out) {
  const json* value = Find(name);
  if (value == nullptr) return;
  if (!value->is_string()) return Fail(name, "is no text");
  out = value->get<std::string>();
}

void JsonFields::Read(const char* name, std::vector<std::string>& out) {
  const json* value = Find(name);
  if (value == nullptr) return;
  std::vector<std::string> texts;
  bool ok = value->is_array();
  for (size_t i = 0; ok && i < value->size(); ++i) {
    ok = (*value)[i].is_string();
    if (ok) texts.push_back((*value)[i].get<std::string>());
  }
  if (!ok) return Fail(name, "is no list of texts");
  out = std::move(texts);
}

void JsonFields::Read(const char* name, int64_t min, int64_t max, int64_t& out) {
  const json* value = Find(name);
  if (value == nullptr) return;
  // A number beyond int64_t is unsigned.
  const bool fits = value->is_number_integer() &&
                    !(value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX);
  if (!fits || value->get<int64_t>() < min || value->get<int64_t>() > max) {
    return Fail(name, absl::StrFormat("is no whole number from %d to %d", min, max));
  }
  out = value->get<int64_t>();
}

void JsonFields::Read(const char* name, uint32_t min, uint32_t max, uint32_t& out) {
  int64_t number = out;
  Read(name, int64_t{min}, int64_t{max}, number);
  out = static_cast<uint32_t>(number);
}

void JsonFields::Read(const char* name, uint64_t& out) {
  const json* value = Find(name);
  if (value == nullptr) return;
  if (!value->is_number_unsigned()) return Fail(name, "is no whole number from 0");
  out = value->get<uint64_t>();
}

void JsonFields::Read(const char* name, std::span<uint64_t> out) {
  const json* value = Find(name);
  if (value == nullptr) return;
  bool ok = value->is_array() && value->size() == out.size();
  for (size_t i = 0; ok && i < out.size(); ++i) ok = (*value)[i].is_number_unsigned();
  if (!ok) return Fail(name, absl::StrFormat("is no list of %d whole numbers from 0", out.size()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = (*value)[i].get<uint64_t>();
}

std::vector<json> JsonFields::ReadArray(const char* name, size_t most) {
  const json* value = Find(name);
  if (value == nullptr) return {};
  if (!value->is_array() || value->size() > most) {
    Fail(name, absl::StrFormat("is no list of at most %d items", most));
    return {};
  }
  return {value->begin(), value->end()};
}

json JsonFields::ReadAny(const char* name) {
  const json* value = Find(name);
  return value == nullptr ? json() : *value;
}

}  // namespace weir
