#include "testbed/report/html_page.h"

#include <cmath>

#include "absl/strings/str_format.h"
#include "testbed/report/embedded.h"

namespace weir {
namespace {

using Json = nlohmann::json;

// Five digits are more than a chart shows.
Json Rounded(double value) {
  if (std::isnan(value)) return nullptr;
  if (value == 0) return 0;
  const double scale = std::pow(10, 5 - std::ceil(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

Json ChartJson(const Chart& c) {
  Json series = Json::array();
  Json data = Json::array();
  data.push_back(c.x);
  for (const Chart::Series& s : c.series) {
    series.push_back(s.label);
    Json values = Json::array();
    for (const double y : s.y) values.push_back(Rounded(y));
    data.push_back(values);
  }
  return {{"xLabel", c.x_label}, {"xUnit", c.x_unit},  {"yLabel", c.y_label}, {"yUnit", c.y_unit},
          {"xLog", c.x_log},     {"points", c.points}, {"series", series},    {"data", data}};
}

void Replace(std::string& text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  if (at != std::string::npos) text.replace(at, what.size(), with);
}

// JSON in a script element must not end it.
std::string ForScript(std::string text) {
  for (size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3) {
    text.replace(at, 2, "<\\/");
  }
  return text;
}

}  // namespace

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

HtmlCell TextCell(const std::string& text) { return {.html = Escaped(text)}; }
HtmlCell NumberCell(const std::string& text) { return {.html = Escaped(text), .number = true}; }
HtmlCell HeadCell(const std::string& text) { return {.html = Escaped(text), .head = true}; }

std::string HtmlTable(const std::vector<HtmlRow>& rows) {
  std::string out = "<div class=\"scroll\"><table>\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    out += i == 0 ? "<thead><tr>" : i == 1 ? "<tbody>\n<tr>" : "<tr>";
    for (const HtmlCell& cell : rows[i]) {
      const char* tag = i == 0 || cell.head ? "th" : "td";
      out += absl::StrFormat("<%s%s>%s</%s>", tag, cell.number ? " class=\"number\"" : "",
                             cell.html, tag);
    }
    out += i == 0 ? "</tr></thead>\n" : "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

void HtmlPage::Charts(const std::vector<Chart>& charts) {
  body_ += "<div class=\"charts\">\n";
  for (const Chart& chart : charts) {
    body_ += absl::StrFormat(
        "<figure><figcaption>%s</figcaption><div class=\"chart\" data-chart=\"%d\"></div>%s"
        "</figure>\n",
        Escaped(chart.title), charts_.size(),
        chart.note.empty() ? "" : "<p class=\"note\">" + Escaped(chart.note) + "</p>");
    charts_.push_back(ChartJson(chart));
  }
  body_ +=
      "</div>\n<noscript><p class=\"note\">The charts need script; the tables hold the same "
      "figures.</p></noscript>\n";
}

std::string HtmlPage::Text() const {
  std::string page = EmbeddedFile("report.html");
  Replace(page, "{{title}}", Escaped(title_));
  Replace(page, "{{style}}", EmbeddedFile("uplot.min.css") + EmbeddedFile("report.css"));
  Replace(page, "{{licence}}", EmbeddedFile("uplot.LICENSE"));
  Replace(page, "{{body}}", body_);
  Replace(page, "{{charts}}", ForScript(charts_.dump()));
  Replace(page, "{{uplot}}", EmbeddedFile("uplot.min.js"));
  Replace(page, "{{script}}", EmbeddedFile("report.js"));
  return page;
}

}  // namespace weir
