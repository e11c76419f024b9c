// A self-contained HTML page: text, tables, pictures and charts in one file that needs no network.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace weir {

// With &, <, > and quotes as entities.
std::string Escaped(const std::string& text);

// A cell of a table; `html` is markup already.
struct HtmlCell {
  std::string html{};
  bool head = false;
  bool number = false;  // to the right
};
using HtmlRow = std::vector<HtmlCell>;
// The first row is the head.
std::string HtmlTable(const std::vector<HtmlRow>& rows);
HtmlCell TextCell(const std::string& text);
HtmlCell NumberCell(const std::string& text);
HtmlCell HeadCell(const std::string& text);

// A line chart. Units as in PrettyIn ("ns", "bytes", "bps"), "Bps", "share" or "".
struct Chart {
  std::string title{};
  std::string note{};  // below it
  std::string x_label{};
  std::string x_unit{};
  std::string y_label{};
  std::string y_unit{};
  bool x_log = false;
  bool points = false;  // marked
  std::vector<double> x{};
  struct Series {
    std::string label{};
    std::vector<double> y{};  // NaN: nothing there
  };
  std::vector<Series> series{};
};

class HtmlPage {
 public:
  explicit HtmlPage(std::string title) : title_(std::move(title)) {}

  // Markup, in this order.
  void Add(const std::string& html) { body_ += html; }
  void Heading(const std::string& text) { body_ += "<h2>" + Escaped(text) + "</h2>\n"; }
  // Charts beside each other where there is room.
  void Charts(const std::vector<Chart>& charts);
  std::string Text() const;

 private:
  std::string title_;
  std::string body_;
  nlohmann::json charts_ = nlohmann::json::array();
};

}  // namespace weir
