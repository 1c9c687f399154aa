#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <hearsay/datasets.hpp>
#include <hearsay/error.hpp>

#include "support/reference.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

namespace fs = std::filesystem;

// The tests below read the real files from $HEARSAY_DATA.
class RealData : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const directory = std::getenv("HEARSAY_DATA");
    if (directory == nullptr)
      GTEST_SKIP()
          << "HEARSAY_DATA is not set; `hearsay datasets fetch` gets the data, `hearsay datasets path` says where";
    directory_ = directory;
  }

  fs::path directory_;
};

TEST_F(RealData, IsWhatItsDigestsSay) {
  for (const char* const name : {"digits", "fed-heart-disease", "ego-facebook"})
    for (const FileReport& report : verify(find_dataset(name), directory_))
      EXPECT_EQ(report.state, FileState::valid) << report.path << ": " << report.detail;
}

TEST_F(RealData, CanBeFetchedFromALocalCopy) {
  const test::TempDir target;
  Dataset digits = find_dataset("digits");
  digits.files[0].urls = {"file://" + fs::absolute(directory_ / digits.files[0].path).string()};

  digits.files[0].content = nullptr;

  EXPECT_EQ(fetch(digits, target.path()).size(), 1u);
  EXPECT_EQ(load_digits(target.path()).values, load_digits(directory_).values);
}

TEST_F(RealData, OfTheHeartHasThePublishedSpectrum) {
  const FederatedTable heart = load_fed_heart_disease(directory_);

  EXPECT_EQ(heart.centers, (std::vector<std::string>{"cleveland", "hungarian", "switzerland", "va"}));
  ASSERT_EQ(heart.features.size(), 13u);
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(13, 13);
  std::vector<Index> rows;
  for (const Block<double>& table : heart.tables) {
    rows.push_back(table.rows());
    gram += table.transpose() * table;
  }
  EXPECT_EQ(rows, (std::vector<Index>{199, 172, 30, 85}));
  const Eigen::VectorXd ascending = test::reference_eigenvalues<double>(gram / 486.0);
  const double expected[] = {2.6797, 1.3737, 1.3195, 1.1584};
  for (Index i = 0; i < 4; ++i) EXPECT_NEAR(ascending(12 - i), expected[i], 5e-5) << i;
}

TEST_F(RealData, OfTheHeartIsStandardisedAtEachCenter) {
  for (const Block<double>& table : load_fed_heart_disease(directory_).tables) {
    const auto count = static_cast<double>(table.rows());
    for (Index j = 0; j < table.cols(); ++j) {
      EXPECT_NEAR(table.col(j).mean(), 0.0, 1e-12);
      const double variance = table.col(j).squaredNorm() / (count - 1);
      const double expected = variance > 0 ? 1.0 : 0.0;  // a column may be constant at a center
      EXPECT_NEAR(variance, expected, 1e-7) << j;        // the 1e-9 beside the deviation shows in the eighth digit
    }
  }
}

TEST_F(RealData, OfTheDigitsHasAllImagesAndLabels) {
  const LabelledTable digits = load_digits(directory_);

  EXPECT_EQ(digits.values.rows(), 1797);
  EXPECT_EQ(digits.values.cols(), 64);
  EXPECT_EQ(digits.values.minCoeff(), 0.0);
  EXPECT_EQ(digits.values.maxCoeff(), 16.0);
  ASSERT_EQ(digits.labels.size(), 1797u);
  for (std::int32_t digit = 0; digit < 10; ++digit)
    EXPECT_GE(std::count(digits.labels.begin(), digits.labels.end(), digit), 174) << digit;
}

TEST_F(RealData, OfFacebookHasAllNodesAndEdges) {
  const Graph graph = load_ego_facebook(directory_);

  EXPECT_EQ(graph.nodes, 4039);
  EXPECT_EQ(graph.edges.size(), 88234u);
}

TEST(Loaders, SayHowToGetWhatIsNotThere) {
  const test::TempDir empty;

  try {
    (void)load_digits(empty.path());
    FAIL() << "there is nothing to load";
  } catch (const DataError& error) {
    EXPECT_EQ(error.what(),
              (empty.path() / "digits.csv.gz").string() + ": not there; `hearsay datasets fetch digits` gets it");
  }
  EXPECT_THROW((void)load_fed_heart_disease(empty.path()), DataError);
  EXPECT_THROW((void)load_ego_facebook(empty.path()), DataError);
  EXPECT_THROW((void)load_amazon0302(empty.path()), DataError);
}

TEST(Loaders, RefuseAHeartFileTheSplitWasNotMadeFor) {
  const test::TempDir directory;
  for (const DatasetFile& file : find_dataset("fed-heart-disease").files)
    directory.file(file.path.string(), "63,1,1,145,233,1,2,150,0,2.3,3,0,6,0\n");

  try {
    (void)load_fed_heart_disease(directory.path());
    FAIL() << "one line is not a center";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("has 1 lines: the split was made for 303"), std::string::npos)
        << error.what();
  }
}

TEST(Loaders, NameTheCellOfTheHeartThatIsNoNumber) {
  const test::TempDir directory;
  for (const DatasetFile& file : find_dataset("fed-heart-disease").files)
    directory.file(file.path.string(), "63,1,1,145,?,1,2,150,0,2.3,3,0,6,0\n");

  try {
    (void)load_fed_heart_disease(directory.path());
    FAIL() << "a value is missing";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("processed.cleveland.data:1:5: '?'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace hearsay::io
