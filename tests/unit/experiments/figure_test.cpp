#include "drawings/figure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace hearsay::app {
namespace {

using namespace experiments;

PanelSpec panel(std::size_t curves, bool logarithmic) {
  PanelSpec spec{.name = "p",
                 .title = "a < b",
                 .x = {.label = "t", .logarithmic = logarithmic},
                 .y = {.label = "error", .logarithmic = true},
                 .curves = {}};
  for (std::size_t c = 0; c < curves; ++c) spec.curves.push_back({"curve " + std::to_string(c), PlantedRun{}});
  return spec;
}

Band falling(double from) {
  Band band;
  for (int t = 1; t <= 100; ++t) {
    const double value = from / t;
    band.x.push_back(t);
    band.median.push_back(value);
    band.low.push_back(value / 2);
    band.high.push_back(value * 2);
  }
  return band;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Figures, DrawEveryCurveWithItsBandAndNameItInTheLegend) {
  const PanelSpec spec = panel(3, false);

  const std::string svg = panel_svg({spec, {falling(1), falling(2), falling(3)}}, "id");

  EXPECT_EQ(count(svg, "class=\"hs-l c1\""), 2u) << "the curve and its sample in the legend";
  EXPECT_EQ(count(svg, "class=\"hs-b c"), 3u);
  EXPECT_NE(svg.find(">curve 2</text>"), svg.npos);
  EXPECT_NE(svg.find("a &lt; b"), svg.npos);
  EXPECT_EQ(svg.find("nan"), svg.npos);
}

TEST(Figures, TellCurvesApartWithoutColour) {
  const PanelSpec spec = panel(8, false);
  const std::string svg = panel_svg({spec, std::vector<Band>(8, falling(1))}, "id");

  std::vector<std::string> dashes;
  for (std::size_t at = svg.find("stroke-dasharray=\""); at != svg.npos; at = svg.find("stroke-dasharray=\"", at + 1))
    dashes.push_back(svg.substr(at, svg.find('"', at + 18) - at));
  std::sort(dashes.begin(), dashes.end());

  EXPECT_EQ(std::unique(dashes.begin(), dashes.end()) - dashes.begin(), 8);
}

TEST(Figures, LabelDecadesOnALogarithmicAxis) {
  const PanelSpec spec = panel(1, true);

  const std::string svg = panel_svg({spec, {falling(1)}}, "id");

  EXPECT_NE(svg.find(">−2</tspan>"), svg.npos) << "1e-2 on the axis of the error";
  EXPECT_NE(svg.find(">10</text>"), svg.npos) << "10 on the axis of t";
}

TEST(Figures, LeaveOutWhatIsNoNumber) {
  const PanelSpec spec = panel(1, false);
  Band broken = falling(1);
  broken.median[3] = broken.high[3] = std::numeric_limits<double>::quiet_NaN();
  broken.median[4] = broken.low[4] = 0;  // no place on a logarithmic axis

  const std::string svg = panel_svg({spec, {broken}}, "id");

  EXPECT_EQ(svg.find("nan"), svg.npos);
  EXPECT_EQ(svg.find("inf"), svg.npos);
}

TEST(Figures, StandAloneInAFile) {
  const PanelSpec first = panel(1, false), second = panel(2, true), third = panel(1, true);

  const std::string svg =
      figure_svg({{first, {falling(1)}}, {second, {falling(1), falling(2)}}, {third, {falling(1)}}}, "three & more");

  EXPECT_TRUE(svg.starts_with("<?xml"));
  EXPECT_NE(svg.find("prefers-color-scheme"), svg.npos);
  EXPECT_NE(svg.find("three &amp; more"), svg.npos);
  EXPECT_EQ(count(svg, "<clipPath id="), 3u);
}

// Where a text begins and ends, when a letter takes 9 units of its usual 14 (a digit of DejaVu Sans takes 8.9).
struct Reach {
  double begin, end;
};

double attribute(const std::string& element, const std::string& name, double otherwise) {
  const std::size_t at = element.find(name);
  return at == element.npos ? otherwise : std::stod(element.substr(at + name.size()));
}

std::vector<Reach> reaches(const std::string& svg) {
  std::vector<Reach> found;
  for (std::size_t at = svg.find("<text "); at != svg.npos; at = svg.find("<text ", at + 1)) {
    const std::size_t tag_end = svg.find('>', at), end = svg.find("</text>", at);
    const std::string tag = svg.substr(at, tag_end - at), text = svg.substr(tag_end + 1, end - tag_end - 1);
    if (tag.find("rotate") != tag.npos) continue;
    const double x = attribute(tag, " x=\"", 0);
    const double width = static_cast<double>(letters(text.substr(0, text.find('<')))) * 9 *
                         attribute(tag, "font-size:", text_size) / text_size;
    const double before = tag.find("\"middle\"") != tag.npos ? width / 2 : tag.find("\"end\"") != tag.npos ? width : 0;
    found.push_back({x - before, x - before + width});
  }
  return found;
}

class FiguresUpTo : public testing::TestWithParam<double> {};

TEST_P(FiguresUpTo, KeepEveryTextOnThePage) {
  PanelSpec spec = panel(2, false);
  spec.y.logarithmic = false;
  spec.title = std::string(90, 'n');
  spec.x.label = std::string(90, '5');
  spec.curves[1].name = std::string(80, 'a');
  Band band = falling(GetParam());
  for (double& x : band.x) x *= GetParam() / 100;

  const auto found = reaches(panel_svg({spec, {band, band}}, "id"));

  EXPECT_GE(found.size(), 10u);
  for (const auto& [begin, end] : found) {
    EXPECT_GE(begin, 0);
    EXPECT_LE(end, panel_width);
  }
}

INSTANTIATE_TEST_SUITE_P(, FiguresUpTo, testing::Values(1, 12, 1400, 20000, 600000, 5e6, 3e-4, 1e300, 1e-300));

TEST(Figures, KeepLongTicksOnThePage) {
  PanelSpec spec = panel(1, false);
  spec.x.low = 1e8, spec.x.high = 1e8 + 5e-6;
  spec.y = {.label = "y", .low = 1e8, .high = 1e8 + 5e-6};

  for (const auto& [begin, end] : reaches(panel_svg({spec, {falling(1)}}, "id"))) {
    EXPECT_GE(begin, 0);
    EXPECT_LE(end, panel_width);
  }
}

}  // namespace
}  // namespace hearsay::app
