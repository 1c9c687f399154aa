#include "privacy/integer_products.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/memory.hpp"
#include "privacy/integer_rows.hpp"

namespace hearsay::privacy {

namespace {

// Integers in doubles: r'z is below 2^45 and a block's sum of r w' below 2^47, whatever the order, so that products in
// floating point are exact. The last column of every product is with secret numbers of our own: what it tells of the
// rows must be the same at each pass.
class StreamedProducts final : public IntegerProducts {
 public:
  StreamedProducts(RowSource<double>& rows, Vector<double> center, const PrivacySettings& settings,
                   const ReleasePlan& plan, const SecretWords& words)
      : source_(rows), center_(std::move(center)), bound_(settings.row_norm), plan_(plan), check_(rows.cols()) {
    std::vector<std::uint64_t> drawn(static_cast<std::size_t>(rows.cols()));
    words(drawn);
    for (Index i = 0; i < check_.size(); ++i) check_(i) = static_cast<double>(drawn[static_cast<std::size_t>(i)] >> 48);
  }

  PrivateWords sums(const Block<double>& Z, int bits) override {
    const Index d = Z.rows(), p = Z.cols();
    PrivateWords total(static_cast<std::size_t>(d * p));
    IntegerRows rows(source_, center_, bound_, plan_.unit, plan_.radius);
    Wiped<Block<double>> W(rows_of_a_block(source_), p), S(d, p);
    Block<double> Z_and_check(d, p + 1);
    Z_and_check.leftCols(p) = Z;
    Z_and_check.col(p) = check_;
    Wiped<Block<double>> products(W.rows(), p + 1);
    std::uint64_t met = 0, row = 0;
    while (rows.next()) {
      const auto r = rows.rows();
      const Index count = r.rows();
      const BorrowedBlock<double> borrowed(r.data(), count, d, Eigen::OuterStride<>(d));
      multiply<double>(borrowed, Z_and_check, products.topRows(count));
      for (Index i = 0; i < count; ++i) met += ++row * (as_word(products(i, p)) | 1);
      W.topRows(count) = (products.topRows(count).leftCols(p).array() * std::ldexp(1.0, -bits)).round();
      S.setZero();
      accumulate_transposed<double>(borrowed, W.topRows(count), S);
      for (Index i = 0; i < d; ++i)
        for (Index j = 0; j < p; ++j) total[i * p + j] += as_word(S(i, j));
    }
    if (met_.value_or(met) != met)
      throw DataError("data: rows are not those of the first reading, and of this reading nothing is told");
    met_ = met;
    return total;
  }

 private:
  static std::uint64_t as_word(double exact) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(exact)); }

  RowSource<double>& source_;
  Vector<double> center_;
  double bound_;
  ReleasePlan plan_;
  Vector<double> check_;
  std::optional<std::uint64_t> met_ = {};
};

class SparseProducts final : public IntegerProducts {
 public:
  SparseProducts(const CsrView<double>& rows, const PrivacySettings& settings, const ReleasePlan& plan) {
    require_memory(static_cast<std::uint64_t>(rows.nonzeros()), sizeof(Entry), "rounded rows");
    entries_.reserve(static_cast<std::size_t>(rows.nonzeros()));
    ends_.reserve(static_cast<std::size_t>(rows.rows));
    std::vector<std::pair<std::int32_t, double>> row;
    for (Index i = 0; i < rows.rows; ++i) {
      read(rows, i, row);
      Wiped<Vector<double>> values(static_cast<Index>(row.size()));
      for (std::size_t e = 0; e < row.size(); ++e) values(static_cast<Index>(e)) = row[e].second;
      if (values.size() > 0) round_row(values, settings.row_norm, plan.unit, static_cast<double>(plan.radius));
      for (std::size_t e = 0; e < row.size(); ++e)
        entries_.push_back({row[e].first, static_cast<std::int32_t>(values(static_cast<Index>(e)))});
      ends_.push_back(entries_.size());
      if (!row.empty()) explicit_bzero(row.data(), row.size() * sizeof row[0]);
    }
  }
  SparseProducts(const SparseProducts&) = delete;
  SparseProducts& operator=(const SparseProducts&) = delete;
  ~SparseProducts() override {
    if (!entries_.empty()) explicit_bzero(entries_.data(), entries_.size() * sizeof(Entry));
  }

  PrivateWords sums(const Block<double>& Z, int bits) override {
    const auto p = static_cast<std::size_t>(Z.cols());
    const std::vector<std::int64_t> z(Z.data(), Z.data() + Z.size());
    PrivateWords total(z.size()), w(p);
    const std::span<std::uint64_t> sum = total.span(), of_row = w.span();
    std::size_t e = 0;
    for (const std::size_t end : ends_) {
      std::ranges::fill(of_row, std::uint64_t{0});
      for (std::size_t at = e; at < end; ++at) add(entries_[at].value, z.data() + p * place(at), of_row);
      for (std::uint64_t& word : of_row)
        word = static_cast<std::uint64_t>((static_cast<std::int64_t>(word) + (std::int64_t{1} << (bits - 1))) >> bits);
      for (; e < end; ++e) {
        const auto value = static_cast<std::uint64_t>(std::int64_t{entries_[e].value});
        std::uint64_t* into = sum.data() + p * place(e);
        for (std::size_t j = 0; j < p; ++j) into[j] += value * of_row[j];
      }
    }
    return total;
  }

 private:
  struct Entry {
    std::int32_t feature, value;
  };

  // Whoever made the matrix may have named a feature twice.
  static void read(const CsrView<double>& rows, Index i, std::vector<std::pair<std::int32_t, double>>& row) {
    row.clear();
    for (auto e = rows.row_start[static_cast<std::size_t>(i)]; e < rows.row_start[static_cast<std::size_t>(i) + 1]; ++e)
      row.emplace_back(rows.columns[static_cast<std::size_t>(e)], rows.values[static_cast<std::size_t>(e)]);
    std::ranges::stable_sort(row, {}, &std::pair<std::int32_t, double>::first);
    std::size_t kept = 0;
    for (std::size_t e = 0; e < row.size(); ++e)
      if (kept > 0 && row[kept - 1].first == row[e].first)
        row[kept - 1].second += row[e].second;
      else
        row[kept++] = row[e];
    row.resize(kept);
    for (const auto& entry : row)
      if (!std::isfinite(entry.second)) refuse_entry();
  }

  std::size_t place(std::size_t at) const { return static_cast<std::size_t>(entries_[at].feature); }

  static void add(std::int32_t value, const std::int64_t* z, std::span<std::uint64_t> into) {
    for (std::size_t j = 0; j < into.size(); ++j) into[j] += static_cast<std::uint64_t>(value * z[j]);
  }

  std::vector<Entry> entries_;
  std::vector<std::size_t> ends_;  // of each row
};

}  // namespace

std::unique_ptr<IntegerProducts> products_of_stream(RowSource<double>& rows, const Vector<double>& center,
                                                    const PrivacySettings& settings, const ReleasePlan& plan,
                                                    const SecretWords& words) {
  return std::make_unique<StreamedProducts>(rows, center, settings, plan, words);
}

std::unique_ptr<IntegerProducts> products_of_sparse(const CsrView<double>& rows, const PrivacySettings& settings,
                                                    const ReleasePlan& plan) {
  return std::make_unique<SparseProducts>(rows, settings, plan);
}

}  // namespace hearsay::privacy
