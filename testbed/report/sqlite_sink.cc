#include <sqlite3.h>

#include <filesystem>

#include "absl/strings/str_format.h"
#include "testbed/report/columns.h"
#include "testbed/report/table_sink.h"

namespace weir {
namespace {

const char* TypeName(ColumnType type) {
  switch (type) {
    case ColumnType::kInteger:
      return "INTEGER";
    case ColumnType::kReal:
      return "REAL";
    case ColumnType::kText:
      return "TEXT";
  }
  return "TEXT";
}

// "CREATE TABLE name ("a" INTEGER, ...)".
std::string Creation(const std::string& name, const Columns& columns) {
  std::string out = "CREATE TABLE " + name + " (";
  for (size_t i = 0; i < columns.size(); ++i) {
    out += absl::StrFormat("%s\"%s\" %s", i == 0 ? "" : ", ", columns[i].first,
                           TypeName(columns[i].second));
  }
  return out + ")";
}

std::string Insertion(const std::string& name, size_t columns) {
  std::string out = "INSERT INTO " + name + " VALUES (";
  for (size_t i = 0; i < columns; ++i) out += i == 0 ? "?" : ", ?";
  return out + ")";
}

class SqliteSink final : public TableSink {
 public:
  static absl::StatusOr<std::unique_ptr<TableSink>> Open(
      const std::string& file, const std::vector<std::string>& factor_keys) {
    auto sink = std::make_unique<SqliteSink>(file, factor_keys);
    std::error_code none;
    std::filesystem::remove(file, none);
    if (sqlite3_open(file.c_str(), &sink->db_) != SQLITE_OK) return sink->Failed();
    const Columns factors{
        {"run", ColumnType::kInteger}, {"key", ColumnType::kText}, {"value", ColumnType::kText}};
    const std::string set_up[] = {"PRAGMA journal_mode = OFF", "BEGIN",
                                  Creation("runs", RunColumns()), Creation("factors", factors),
                                  Creation("transfers", TransferColumns())};
    for (const std::string& statement : set_up) {
      if (absl::Status s = sink->Execute(statement); !s.ok()) return s;
    }
    sink->runs_ = sink->Prepare(Insertion("runs", RunColumns().size()));
    sink->factors_ = sink->Prepare(Insertion("factors", factors.size()));
    sink->transfers_ = sink->Prepare(Insertion("transfers", TransferColumns().size()));
    if (!sink->runs_ || !sink->factors_ || !sink->transfers_) return sink->Failed();
    return sink;
  }

  SqliteSink(const std::string& file, const std::vector<std::string>& factor_keys)
      : file_(file), factor_keys_(factor_keys) {}
  ~SqliteSink() override {
    for (sqlite3_stmt* s : {runs_, factors_, transfers_}) sqlite3_finalize(s);
    sqlite3_close(db_);
  }

  absl::Status Add(const std::vector<std::string>& factors, const RunResult& result) override {
    if (absl::Status s = Insert(runs_, RunRow(++number_, result)); !s.ok()) return s;
    for (size_t i = 0; i < factors.size(); ++i) {
      absl::Status s = Insert(factors_, {number_, factor_keys_[i], factors[i]});
      if (!s.ok()) return s;
    }
    for (const TransferResult& t : result.transfers) {
      if (absl::Status s = Insert(transfers_, TransferRow(number_, t)); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  absl::Status Finish() override {
    absl::Status s = Execute("CREATE INDEX transfers_run ON transfers (run)");
    return s.ok() ? Execute("COMMIT") : s;
  }

 private:
  struct Binder {
    sqlite3_stmt* statement;
    int at;
    int operator()(std::monostate) const { return sqlite3_bind_null(statement, at); }
    int operator()(int64_t n) const { return sqlite3_bind_int64(statement, at, n); }
    int operator()(double x) const { return sqlite3_bind_double(statement, at, x); }
    int operator()(const std::string& text) const {
      return sqlite3_bind_text(statement, at, text.data(), static_cast<int>(text.size()),
                               SQLITE_TRANSIENT);
    }
  };

  absl::Status Failed() const {
    return absl::UnavailableError(
        absl::StrFormat("%s: %s; check the folder, the rights and the room on the disk", file_,
                        db_ == nullptr ? "no memory" : sqlite3_errmsg(db_)));
  }
  absl::Status Execute(const std::string& statement) {
    const bool ok = sqlite3_exec(db_, statement.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
    return ok ? absl::OkStatus() : Failed();
  }
  sqlite3_stmt* Prepare(const std::string& text) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(db_, text.c_str(), -1, &statement, nullptr);
    return statement;
  }
  absl::Status Insert(sqlite3_stmt* statement, const Row& row) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (std::visit(Binder{statement, static_cast<int>(i) + 1}, row[i]) != SQLITE_OK) {
        return Failed();
      }
    }
    if (sqlite3_step(statement) != SQLITE_DONE) return Failed();
    return sqlite3_reset(statement) == SQLITE_OK ? absl::OkStatus() : Failed();
  }

  std::string file_;
  std::vector<std::string> factor_keys_;
  sqlite3* db_ = nullptr;
  sqlite3_stmt* runs_ = nullptr;
  sqlite3_stmt* factors_ = nullptr;
  sqlite3_stmt* transfers_ = nullptr;
  int64_t number_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TableSink>> MakeSqliteSink(
    const std::string& file, const std::vector<std::string>& factor_keys) {
  return SqliteSink::Open(file, factor_keys);
}

}  // namespace weir
