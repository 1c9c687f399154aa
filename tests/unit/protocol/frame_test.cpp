// Frames: what is written is read, and nothing else is.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/protocol/frame.hpp>

#include <algorithm>
#include <string>

#include "protocol/crc32c.hpp"
#include "protocol/flood.hpp"
#include "support/expect_error.hpp"

namespace hearsay::protocol {
namespace {

using test::expect_error;

std::span<const std::byte> bytes_of_text(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

Frame some_frame(std::span<const std::byte> payload) {
  return {.kind = FrameKind::block,
          .run = 0x1122334455667788,
          .configuration = 7,
          .epoch = 3,
          .sender = 5,
          .round = 1000000007,
          .message_bytes = payload.size(),
          .payload = payload};
}

constexpr std::uint64_t enough = 1 << 20;

TEST(Checksum, IsCrc32cWithOrWithoutTheInstruction) {
  EXPECT_EQ(crc32c(bytes_of_text("123456789")), 0xe3069283U);
  EXPECT_EQ(crc32c(bytes_of_text("")), 0U);
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text.push_back(static_cast<char>(i * 37));
    EXPECT_EQ(crc32c(bytes_of_text(text)), crc32c_by_table(bytes_of_text(text)));
    const std::size_t half = text.size() / 2;
    EXPECT_EQ(crc32c(bytes_of_text(text).subspan(half), crc32c(bytes_of_text(text).first(half))),
              crc32c(bytes_of_text(text)));
  }
}

TEST(Frame, HasTheLayoutThatIsWrittenDown) {
  const FrameBytes bytes = to_bytes(some_frame(bytes_of_text("abc")));
  const auto at = [&](std::size_t i) { return static_cast<int>(bytes[i]); };

  ASSERT_EQ(bytes.size(), 67U);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), 4), "HRSY");
  EXPECT_EQ(at(4), 3);  // version, the least significant byte first
  EXPECT_EQ(at(5), 0);
  EXPECT_EQ(at(6), 2);
  EXPECT_EQ(at(8), 0x88);
  EXPECT_EQ(at(15), 0x11);
  EXPECT_EQ(at(16), 7);
  EXPECT_EQ(at(24), 3);
  EXPECT_EQ(at(28), 5);
  EXPECT_EQ(at(32), 1000000007 & 0xff);
  EXPECT_EQ(at(40), 3);
  EXPECT_EQ(at(56), 3);
  EXPECT_EQ(at(64), 'a');
}

TEST(Frame, IsReadAsItWasWritten) {
  const std::string text(5000, 'x');
  const FrameBytes bytes = to_bytes(some_frame(bytes_of_text(text)));

  const Frame frame = frame_from(bytes, enough);

  EXPECT_EQ(frame.kind, FrameKind::block);
  EXPECT_EQ(frame.run, 0x1122334455667788U);
  EXPECT_EQ(frame.configuration, 7U);
  EXPECT_EQ(frame.epoch, 3U);
  EXPECT_EQ(frame.sender, 5U);
  EXPECT_EQ(frame.round, 1000000007U);
  EXPECT_TRUE(std::ranges::equal(frame.payload, bytes_of_text(text)));
}

TEST(Frame, IsRefusedWhereAnyBitIsFlippedOrAnyByteMissing) {
  const FrameBytes bytes = to_bytes(some_frame(bytes_of_text("a block")));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    FrameBytes flipped = bytes;
    flipped[bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_THROW(static_cast<void>(frame_from(flipped, enough)), CommunicationError) << "bit " << bit;
  }
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_THROW(static_cast<void>(frame_from(std::span(bytes).first(length), enough)), CommunicationError) << length;
  FrameBytes longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_THROW(static_cast<void>(frame_from(longer, enough)), CommunicationError);
}

// With its checksum right: only the field is wrong.
FrameBytes with_checksum(FrameBytes bytes) {
  const std::uint32_t sum =
      crc32c(std::span(bytes).subspan(header_bytes), crc32c(std::span<const std::byte>(bytes).first(60)));
  for (int i = 0; i < 4; ++i) bytes[60 + static_cast<std::size_t>(i)] = static_cast<std::byte>(sum >> 8 * i & 0xff);
  return bytes;
}

TEST(Frame, SaysWhichFieldIsWrongAndWhatItMustBe) {
  const auto refused = [](const FrameBytes& bytes, const std::string& words) {
    expect_error<CommunicationError>([&] { static_cast<void>(frame_from(bytes, 100)); }, {words});
  };
  const FrameBytes right = to_bytes(some_frame(bytes_of_text("abc")));
  const auto changed = [&](std::size_t place, int value) {
    FrameBytes bytes = right;
    bytes[place] = static_cast<std::byte>(value);
    return with_checksum(bytes);
  };
  refused({}, "a frame of 0 bytes: must have 64 at least");
  refused(changed(0, 'X'), "must begin with 59535248");
  refused(changed(4, 1), "protocol version 1: must be 3");
  refused(changed(6, 0), "of kind 0: must lie in [1, 6]");
  refused(changed(6, 7), "of kind 7: must lie in [1, 6]");
  refused(changed(7, 1), "reserved byte: must be 0");
  refused(changed(41, 1), "a message of 259 bytes: must be 100 at most");
  refused(changed(40, 4), "with 3 bytes of a message of 4 from byte 0 on: must have 4");
  refused(changed(48, 1), "at byte 1 of a message of 3: must be at a multiple of 262144");
  refused(changed(50, 4), "at byte 262144 of a message of 3");
  refused(changed(56, 2), "of 3 bytes after its header: must be 2, as it says");
  FrameBytes sum = right;
  sum[60] ^= std::byte{1};
  refused(sum, "whose checksum is");
}

TEST(Assembly, PutsChunksTogetherInAnyOrderAndDropsCopies) {
  std::string text(2 * chunk_bytes + 77, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 131);
  const auto frames = frames_of({.kind = FrameKind::gather, .run = 9}, bytes_of_text(text));
  ASSERT_EQ(frames.size(), 3U);

  Assembly message;
  for (const std::size_t i : {std::size_t{2}, std::size_t{0}, std::size_t{1}}) {
    EXPECT_FALSE(message.whole());
    EXPECT_TRUE(message.add(frame_from(frames[i], text.size())));
    EXPECT_FALSE(message.add(frame_from(frames[i], text.size())));
  }

  EXPECT_TRUE(message.whole());
  EXPECT_TRUE(std::ranges::equal(message.bytes(), bytes_of_text(text)));
}

TEST(Assembly, TakesAMessageWithoutBytesAndRefusesAnotherOne) {
  Assembly message;
  EXPECT_TRUE(message.add(frame_from(frames_of({.kind = FrameKind::block}, {}).front(), 0)));
  EXPECT_TRUE(message.whole());

  const auto other = frames_of({.kind = FrameKind::block}, bytes_of_text("x"));
  expect_error<CommunicationError>([&] { message.add(frame_from(other.front(), 1)); }, {"of 1 bytes", "of 0"});
}

TEST(Flood, RefusesWordsThatAreNotWhatWasSaid) {
  const auto said = [](Index agent, std::string words) {
    return Flood(9, agent, std::move(words), 100).message_for(-2);
  };
  Flood flood(3, 0, "mine", 10);
  flood.take(1, said(1, "one"));
  flood.take(2, said(1, "one"));

  expect_error<CommunicationError>([&] { flood.take(2, said(1, "two")); }, {"agent 2", "of agent 1", "before"});
  expect_error<CommunicationError>([&] { flood.take(2, said(0, "not mine")); }, {"agent 2", "of agent 0", "here"});
  expect_error<CommunicationError>([&] { flood.take(2, said(8, "far")); }, {"agent 8: must lie in [0, 3)"});
  expect_error<CommunicationError>([&] { flood.take(1, said(2, "far too long")); }, {"12 bytes", "must be 10 at most"});
  expect_error<CommunicationError>([&] { static_cast<void>(flood.all()); }, {"nothing was heard of agent 2"});
}

}  // namespace
}  // namespace hearsay::protocol
