#include "solve/shared_reading.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "network/bytes.hpp"
#include "operators/lane_sums.hpp"
#include "solve/guarded_rows.hpp"

namespace hearsay::detail {

namespace {

Block<double> as_block(const Vector<double>& numbers) { return numbers.transpose(); }
Vector<double> as_vector(const Block<double>& block) { return block.reshaped(); }

void put_sums(ByteWriter& writer, const LaneSums& sums) {
  writer.put(as_block(sums.terms));
  for (const GramSum& lane : sums.lanes) {
    const Block<double>& upper = lane.upper();
    const Index d = upper.cols();
    writer.put(static_cast<std::int64_t>(lane.rows()));
    writer.put(as_block(lane.sums()));
    Block<double> triangle(1, d * (d + 1) / 2);
    for (Index i = 0, at = 0; i < d; at += d - i, ++i) triangle.row(0).segment(at, d - i) = upper.row(i).tail(d - i);
    writer.put(triangle);
  }
}

GramSum sum_from(ByteReader& reader, Index d) {
  const auto rows = reader.get<std::int64_t>();
  Vector<double> sums = as_vector(reader.block());
  const Block<double> triangle = reader.block();
  if (sums.size() != d || triangle.size() != d * (d + 1) / 2)
    throw CommunicationError("a rank has summed up rows of another length");
  Block<double> upper = Block<double>::Zero(d, d);
  for (Index i = 0, at = 0; i < d; at += d - i, ++i) upper.row(i).tail(d - i) = triangle.row(0).segment(at, d - i);
  return {std::move(upper), std::move(sums), rows};
}

void put_lanes(ByteWriter& writer, const std::vector<ProductLane<double>>& lanes) {
  for (const ProductLane<double>& lane : lanes) {
    writer.put(lane.Y);
    writer.put(as_block(lane.sums));
    writer.put(lane.squares);
  }
}

ProductLane<double> lane_from(ByteReader& reader, Index d, Index p) {
  ProductLane<double> lane{.Y = reader.block(), .sums = as_vector(reader.block()), .squares = reader.get<double>()};
  if (lane.Y.rows() != d || lane.Y.cols() != p) throw CommunicationError("a rank has multiplied a block of other size");
  return lane;
}

std::vector<ByteReader> readers_of(const std::vector<std::string>& said) { return {said.begin(), said.end()}; }

// The reading of a rank by itself. Whoever stops it must not leave the others waiting.
void read_everywhere(Transport& ranks, const std::function<void()>& body) {
  bool stopped = false;
  try {
    ranks.everywhere([&] {
      try {
        body();
      } catch (const ReadingStopped&) {
        stopped = true;
        throw DataError("the reading was stopped");
      }
    });
  } catch (const DataError&) {
    if (stopped) throw ReadingStopped();
    throw;
  }
}

template <class Source>
Leaves leaves_of(const Source& source) {
  if constexpr (std::is_same_v<Source, SparseRowSource>)
    return leaves_of_sparse_sums(source.cols());
  else
    return leaves_of_sums(source.cols());
}

template <class S>
Vector<double> shift_of_sums(RowSource<S>& source) {
  return first_shift<S>(source, rows_for_provisional_mean);
}
Vector<double> shift_of_sums(SparseRowSource& source) { return first_shift(source); }

std::unique_ptr<ProductLanes<double>> lanes_of(RowSource<float>& source, bool center, const ReadingOptions& reading,
                                               const ReadingPart& part) {
  return product_lanes<double, float>(source, center, reading, part);
}
std::unique_ptr<ProductLanes<double>> lanes_of(RowSource<double>& source, bool center, const ReadingOptions& reading,
                                               const ReadingPart& part) {
  return product_lanes<double, double>(source, center, reading, part);
}
std::unique_ptr<ProductLanes<double>> lanes_of(SparseRowSource& source, bool center, const ReadingOptions& reading,
                                               const ReadingPart& part) {
  return product_lanes(source, center, reading, part);
}

}  // namespace

// Lane l is with rank l mod n, after those of its lanes that come before it.
template <class Source>
class SharedReading<Source>::Pass final : public StreamPass<double> {
 public:
  Pass(SharedReading& shared, bool center, const WatchReading& watch)
      : shared_(shared),
        center_(center),
        lanes_(lanes_of(shared.source_, center, with(shared.reading_, watch), shared.part())) {}

  Index multiply(ConstBlockView<double> X, BlockView<double> Y, bool first) override {
    if (first) lanes_->find_shift();
    ByteWriter task;
    task.put(center_);
    task.put(first);
    task.put(as_block(lanes_->shift()));
    task.put(Block<double>(X));
    shared_.call(Task::product, task.bytes());
    Index count = 0;
    read_everywhere(shared_.ranks_, [&] { count = lanes_->read(X, first); });
    ByteWriter own;
    own.put(static_cast<std::int64_t>(count));
    const std::vector<std::string> said = shared_.ranks_.gather(own.bytes());
    std::vector<ByteReader> readers = readers_of(said);
    Index all = 0;
    for (ByteReader& reader : readers) all += reader.get<std::int64_t>();
    begin_adding();
    const auto parts = static_cast<std::size_t>(shared_.ranks_.size());
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(product_lane_count); ++lane) {
      const std::size_t rank = lane % parts;
      if (rank == 0)
        add(lanes_->lanes()[lane / parts], Y);
      else
        add(lane_from(readers[rank], X.rows(), X.cols()), Y);
    }
    return all;
  }
  void shift_to(const Vector<double>& mean) override { lanes_->shift_to(mean); }
  const Vector<double>& shift() const override { return lanes_->shift(); }

 private:
  static ReadingOptions with(ReadingOptions reading, const WatchReading& watch) {
    reading.watch = watch;
    return reading;
  }

  SharedReading& shared_;
  const bool center_;
  const std::unique_ptr<ProductLanes<double>> lanes_;
};

template <class Source>
void SharedReading<Source>::call(Task task, const std::string& bytes) {
  ranks_.broadcast(std::string(1, static_cast<char>(task)) + bytes);
}

template <class Source>
std::unique_ptr<StreamPass<double>> SharedReading<Source>::pass(bool center, const WatchReading& watch) {
  return std::make_unique<Pass>(*this, center, watch);
}

template <class Source>
FormedCovariance SharedReading<Source>::form_covariance(bool center, const WatchReading& watch) {
  const Vector<double> shift = center ? shift_of_sums(source_) : Vector<double>(Vector<double>::Zero(source_.cols()));
  ByteWriter task;
  task.put(center);
  task.put(as_block(shift));
  call(Task::covariance, task.bytes());
  LaneSums own;
  ReadingOptions reading = reading_;
  reading.watch = watch;
  read_everywhere(ranks_, [&] { own = sum_lanes(source_, center, reading, part(), &shift); });
  const std::vector<std::string> said = ranks_.gather({});
  std::vector<ByteReader> readers = readers_of(said);
  for (std::size_t rank = 1; rank < readers.size(); ++rank) {
    const Vector<double> terms = as_vector(readers[rank].block());
    if (terms.size() == own.terms.size()) own.terms = own.terms.cwiseMax(terms);
  }
  const Leaves leaves = leaves_of(source_);
  const auto parts = static_cast<std::size_t>(ranks_.size());
  LaneSums all{.lanes = {}, .shift = std::move(own.shift), .terms = std::move(own.terms)};
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(leaves.lanes); ++lane) {
    const std::size_t rank = lane % parts;
    if (rank == 0 ? lane / parts >= own.lanes.size() : readers[rank].at_end()) break;  // fewer leaves than lanes
    GramSum next = rank == 0 ? std::move(own.lanes[lane / parts]) : sum_from(readers[rank], source_.cols());
    if (all.lanes.empty())
      all.lanes.push_back(std::move(next));
    else
      all.lanes.front().add(next);
  }
  return covariance_of_lanes(std::move(all), leaves, center, source_.name());
}

template <class Source>
void SharedReading<Source>::sum_up(const std::string& bytes) {
  ByteReader task(bytes);
  const bool center = task.flag();
  const Vector<double> shift = as_vector(task.block());
  LaneSums own;
  ranks_.everywhere([&] {
    require(shift.size() == source_.cols(), "rank 0 reads rows of another length");
    own = sum_lanes(source_, center, reading_, part(), &shift);
  });
  ByteWriter found;
  put_sums(found, own);
  ranks_.gather(found.bytes());
}

template <class Source>
void SharedReading<Source>::multiply(const std::string& bytes, std::unique_ptr<ProductLanes<double>>& lanes) {
  ByteReader task(bytes);
  const bool center = task.flag(), first = task.flag();
  Vector<double> shift = as_vector(task.block());
  const Block<double> X = task.block();
  Index count = 0;
  ranks_.everywhere([&] {
    require(shift.size() == source_.cols() && X.rows() == source_.cols(), "rank 0 reads rows of another length");
    if (!lanes) lanes = lanes_of(source_, center, reading_, part());
    lanes->set_shift(std::move(shift));
    count = lanes->read(X, first);
  });
  ByteWriter found;
  found.put(static_cast<std::int64_t>(count));
  put_lanes(found, lanes->lanes());
  ranks_.gather(found.bytes());
}

// What goes wrong in a reading all ranks know, and rank 0 says what becomes of it.
template <class Source>
void SharedReading<Source>::serve() {
  std::unique_ptr<ProductLanes<double>> lanes;
  for (;;) {
    const std::string said = ranks_.broadcast({});
    ByteReader reader(said);
    const Task task = reader.choice(Task::product);
    const std::string bytes = said.substr(1);
    if (task == Task::end) {
      const Failure failure = failure_from(bytes);
      if (failure.any()) raise(failure.kind, failure.message);
      return;
    }
    try {
      task == Task::covariance ? sum_up(bytes) : multiply(bytes, lanes);
    } catch (const LinkError&) {
      throw;
    } catch (const Error&) {
    }
  }
}

template class SharedReading<RowSource<float>>;
template class SharedReading<RowSource<double>>;
template class SharedReading<SparseRowSource>;

}  // namespace hearsay::detail
