#include <filesystem>
#include <fstream>

#include "absl/strings/str_format.h"
#include "testbed/report/columns.h"
#include "testbed/report/table_sink.h"

namespace weir {
namespace {

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

struct AsText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(int64_t n) const { return absl::StrFormat("%d", n); }
  std::string operator()(double x) const { return absl::StrFormat("%.17g", x); }
  std::string operator()(const std::string& text) const { return Quoted(text); }
};

void WriteRow(std::ofstream& out, const Row& row) {
  for (size_t i = 0; i < row.size(); ++i) {
    out << (i == 0 ? "" : ",") << std::visit(AsText(), row[i]);
  }
  out << "\r\n";
}

Row Names(const Columns& columns) {
  Row row;
  for (const auto& [name, type] : columns) row.emplace_back(name);
  return row;
}

class CsvSink final : public TableSink {
 public:
  CsvSink(const std::string& folder, const std::vector<std::string>& factor_keys)
      : folder_(folder),
        runs_(folder + "/runs.csv", std::ios::binary),
        transfers_(folder + "/transfers.csv", std::ios::binary) {
    Row names = Names(RunColumns());
    names.insert(names.begin() + 1, factor_keys.begin(), factor_keys.end());
    WriteRow(runs_, names);
    WriteRow(transfers_, Names(TransferColumns()));
  }

  absl::Status Add(const std::vector<std::string>& factors, const RunResult& result) override {
    Row row = RunRow(++number_, result);
    row.insert(row.begin() + 1, factors.begin(), factors.end());
    WriteRow(runs_, row);
    for (const TransferResult& t : result.transfers) {
      WriteRow(transfers_, TransferRow(number_, t));
    }
    return Status();
  }

  absl::Status Finish() override {
    runs_.close();
    transfers_.close();
    return Status();
  }

 private:
  absl::Status Status() const {
    if (runs_ && transfers_) return absl::OkStatus();
    return absl::UnavailableError(absl::StrFormat(
        "%s: runs.csv and transfers.csv can't be written; check the folder, the rights and the "
        "room on the disk",
        folder_));
  }

  std::string folder_;
  std::ofstream runs_;
  std::ofstream transfers_;
  int64_t number_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TableSink>> MakeCsvSink(
    const std::string& folder, const std::vector<std::string>& factor_keys) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s can't be made: %s; name a folder for --csv", folder, error.message()));
  }
  return std::make_unique<CsvSink>(folder, factor_keys);
}

}  // namespace weir
