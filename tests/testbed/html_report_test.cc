// The HTML report, by its text and in a real browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/str_format.h"
#include "testbed/report/html_page.h"
#include "tests/support/run_weir.h"
#include "tests/support/temp_folder.h"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HtmlPageTest, TextIsEscapedAndChartsCannotEndTheirScript) {
  HtmlPage page("a <b> & \"c\"");
  page.Charts({{.title = "x<y",
                .x = {1, 2},
                .series = {{.label = "</script><script>alert(1)", .y = {1, 2}}}}});
  const std::string text = page.Text();
  EXPECT_THAT(text, HasSubstr("<title>a &lt;b&gt; &amp; &quot;c&quot;</title>"));
  EXPECT_THAT(text, HasSubstr("<figcaption>x&lt;y</figcaption>"));
  EXPECT_THAT(text, Not(HasSubstr("</script><script>alert")));
}

TEST(HtmlPageTest, NothingIsFetchedAndTheLicenceIsThere) {
  const std::string text = HtmlPage("x").Text();
  EXPECT_THAT(text, Not(HasSubstr("src=")));
  EXPECT_THAT(text, Not(HasSubstr("@import")));
  EXPECT_THAT(text, Not(HasSubstr("{{")));
  EXPECT_THAT(text, HasSubstr("Copyright (c) 2022 Leon Sorokin"));
}

class HtmlReportTest : public testing::Test {
 protected:
  const std::string& folder() const { return folder_.path(); }
  std::string AbReport() const {
    const std::string path = folder() + "/ab.html";
    const Outcome ab = Weir(
        "ab --quiet --set fabric.leaves=2 --set fabric.hosts_per_leaf=4 --set fabric.spines=4 "
        "--set traffic.size=256kB --traffic permutation --cc nscc,none --lb reps "
        "--set arms.1.cc_params.window=30000B --set run.seeds=5 --set run.sample_every=500ns "
        "--html " +
        path);
    EXPECT_EQ(ab.exit_code, 0) << ab.text;
    return path;
  }

 private:
  TempFolder folder_;
};

TEST_F(HtmlReportTest, SaysWhatWasAskedTheVerdictTheDifferencesAndTheConfiguration) {
  const std::string text = Content(AbReport());
  const auto after = [&text](const std::string& what, size_t from) {
    const size_t at = text.find(what, from);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? from : at;
  };
  // In this order.
  size_t at = after("carry the same traffic", 0);
  at = after("<b>worse</b>", at);
  at = after("Completion time of transfers", at);
  at = after("Differences to nscc/reps", at);
  at = after("aria-label=\"95 % interval +", at);
  at = after("Window of one flow", at);
  at = after("window=30kB*", at);
  after("virtual time", at);
}

std::string BrowserPath() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    std::string path = RunShell(absl::StrFormat("command -v %s", name)).text;
    if (path.empty()) continue;
    path.pop_back();
    return path;
  }
  return "";
}

// What a browser makes of a page at several widths: a frame each, because no window is as narrow as
// a telephone. A probe in the page notes what is to be seen.
struct View {
  int inner = 0;    // width
  int scroll = 0;   // of the whole content
  int painted = 0;  // canvases that are not blank
  int charts = 0;
};
std::vector<View> LookAt(const std::string& page, const std::string& folder,
                         const std::vector<int>& widths, std::string& messages) {
  std::string text = Content(page);
  text.insert(text.rfind("</body>"),
              "<script>setTimeout(() => {const root = document.documentElement;"
              "const painted = [...document.querySelectorAll('canvas')].filter((c) => "
              "c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v) => v));"
              "root.dataset.probe = [innerWidth, root.scrollWidth, painted.length, "
              "document.querySelectorAll('.chart').length].join(' ');}, 300)</script>");
  std::string frames;
  for (const int width : widths) {
    frames += absl::StrFormat(
        "<iframe style=\"width:%dpx;height:900px;border:0\" srcdoc=\"%s\"></iframe>", width,
        Escaped(text));
  }
  std::ofstream(folder + "/frames.html")
      << "<!doctype html>" << frames
      << "<script>const look = setInterval(() => {"
         "const frames = [...document.querySelectorAll('iframe')];"
         "const probes = frames.map((f) => f.contentDocument?.documentElement?.dataset.probe);"
         "if (probes.includes(undefined)) return;"
         "clearInterval(look); document.body.dataset.probe = probes.join(';');"
         "frames.forEach((f) => f.remove())}, 50)</script>";
  const std::string dom =
      RunShell(absl::StrFormat("%s --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
                               "--user-data-dir=%s/profile --enable-logging=stderr "
                               "--window-size=1900,2000 --virtual-time-budget=30000 --dump-dom "
                               "file://%s/frames.html",
                               BrowserPath(), folder, folder))
          .text;
  std::istringstream lines(dom);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("CONSOLE") != std::string::npos) messages += line + "\n";
  }
  std::vector<View> views;
  const std::string mark = "data-probe=\"";
  size_t at = dom.find(mark);
  while (at != std::string::npos && views.size() < widths.size()) {
    at += views.empty() ? mark.size() : 1;
    View& v = views.emplace_back();
    std::sscanf(dom.c_str() + at, "%d %d %d %d", &v.inner, &v.scroll, &v.painted, &v.charts);
    at = dom.find(';', at);
  }
  return views;
}

TEST_F(HtmlReportTest, InABrowserEveryChartIsDrawnAndNothingSticksOutAt400And1400Pixels) {
  if (BrowserPath().empty()) GTEST_SKIP() << "there is no chromium; install it for this test";
  std::string messages;
  const std::vector<View> views = LookAt(AbReport(), folder(), {400, 1400}, messages);
  ASSERT_EQ(views.size(), 2u);
  EXPECT_EQ(messages, "");
  EXPECT_EQ(views[0].inner, 400);
  EXPECT_EQ(views[1].inner, 1400);
  for (const View& v : views) {
    EXPECT_LE(v.scroll, v.inner);
    EXPECT_EQ(v.charts, 8);
    EXPECT_EQ(v.painted, 8);
  }
}

TEST_F(HtmlReportTest, ASweepsReportHasEveryPoint) {
  const std::string file = folder() + "/s.toml";
  std::ofstream(file) << "[fabric]\nleaves = 2\nhosts_per_leaf = 2\nspines = 2\n"
                         "[traffic]\nsize = \"10kB\"\n[[arms]]\ncc = \"nscc\"\nlb = \"reps\"\n"
                         "[[arms]]\ncc = \"none\"\nlb = \"ecmp\"\n"
                         "[sweep]\ntraffic.size = [\"10kB\", \"20kB\", \"40kB\"]\n";
  ASSERT_EQ(Weir("sweep " + file + " --out " + folder() + "/s").exit_code, 0);
  const Outcome merge =
      Weir("merge " + folder() + "/s --out " + folder() + "/s.json --html " + folder() + "/s.html");
  ASSERT_EQ(merge.exit_code, 0) << merge.text;
  const std::string text = Content(folder() + "/s.html");
  for (const char* what : {"A sweep of 3 points, 6 runs", "<td>10kB</td>", "<td>40kB</td>",
                           "no verdict at 3 of 3 points"}) {
    EXPECT_THAT(text, HasSubstr(what));
  }
}

}  // namespace
}  // namespace weir
