import RunnelBase
import RunnelStorage
import RunnelTree
import Testing

@testable import RunnelDatabase

@Suite struct OrderedBytesTests {
  private static let keys = [
    "0", "-0", "00", "-00", "000", "1", "01", "-1", "-01", "001", "10", "9", "2147483647",
    "02147483647", "2147483648", "-2147483648", "-2147483649", "99999999999", "-", "--", "-a",
    "+1", "1e3", " 1", "1 ", "A", "Z", "_", "a", "aa", "ab", "a ", "b", "é", "e\u{301}", "z",
    "\u{301}", "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{10000}", "\u{1F600}", "\u{1F600}a",
    "\u{10FFFF}", String(repeating: "0", count: 768), String(repeating: "k", count: 768),
  ]

  @Test func bytesOfKeysAreInTheOrderOfKeys() throws {
    let keys = try OrderedBytesTests.keys.map { try Key($0) }
    for left in keys {
      for right in keys {
        let bytes = OrderedBytes.key(left).lexicographicallyPrecedes(OrderedBytes.key(right))
        #expect(bytes == (left < right), "\(left) and \(right)")
      }
    }
  }

  @Test func keysAreReadBack() throws {
    for text in OrderedBytesTests.keys {
      let key = try Key(text)
      #expect(OrderedBytes.key(from: OrderedBytes.key(key)) == key)
    }
  }

  @Test func bytesThatAreNoKeyAreRefused() {
    let broken: [[UInt8]] = [
      [], [0], [3], [1], [1, 0, 0, 0], [2], [2, 0], [2, 65], [1, 128, 0, 0, 5, 0, 0, 0],
      [1, 128, 0, 0, 5, 0, 1, 7], [2, 46, 0], [2, 255, 0], [1, 128, 0, 0, 5, 255, 255, 0],
      [1, 128, 0, 0, 5, 0, 1, 1, 0],
    ]
    for bytes in broken { #expect(OrderedBytes.key(from: bytes) == nil, "\(bytes)") }
  }

  @Test func bytesOfValuesAreInTheOrderOfValues() throws {
    let texts = [
      "null", "false", "true", "-1e300", "-9223372036854777856", "-9223372036854775808",
      "-9223372036854775807", "-1.5", "-1", "-0.5", "0", "0.5", "1", "1.5", "9007199254740992",
      "9007199254740993", "9007199254740994", "9223372036854775806", "9223372036854775807",
      "9223372036854775808", "1e300", #""""#, #""\u0000""#, #""\u0001""#, #""a""#, #""a\u0000""#,
      #""a\u0000b""#, #""a\u0001""#, #""aa""#, #""é""#, #""\uD7FF""#, #""\uD83D\uDE00""#,
      #""\uE000""#, #""\uFFFD""#, #"{"a":1}"#,
    ]
    let values = try texts.map { IndexValue(try node($0)) }
    for (left, leftText) in zip(values, texts) {
      for (right, rightText) in zip(values, texts) {
        let bytes = OrderedBytes.value(left).lexicographicallyPrecedes(OrderedBytes.value(right))
        #expect(bytes == (left < right), "\(leftText) and \(rightText)")
      }
    }
  }

  private static let elements: [IndexTuple.Content] =
    [
      IndexValue.null, .leaf(.bool(false)), .leaf(.bool(true)), .leaf(.number(-1)),
      .leaf(.number(0)), .leaf(.number(JSONNumber(0.5) ?? 0)), .leaf(.number(JSONNumber(.max))),
      .leaf(.number(JSONNumber(0x1p63) ?? 0)), .leaf(.number(JSONNumber(.min))),
      .leaf(.string("")), .leaf(.string("\0")), .leaf(.string("a")), .leaf(.string("a\0")),
      .leaf(.string("\u{1F600}")), .leaf(.string("\u{FFFD}")), .children,
    ].map(IndexTuple.Content.value) + [.lowest, .highest]

  /// All pairs of tuples of two elements, in all directions.
  @Test func bytesOfTuplesAreInTheOrderOfTuples() {
    for directions in [[false, false], [false, true], [true, false], [true, true]] {
      let tuples = OrderedBytesTests.elements.flatMap { first in
        OrderedBytesTests.elements.map { second in
          IndexTuple([
            .init(first, isDescending: directions[0]), .init(second, isDescending: directions[1]),
          ])
        }
      }
      let bytes = tuples.map { OrderedBytes.value(.tuple($0)) }
      for left in tuples.indices {
        for right in tuples.indices {
          let isBefore = bytes[left].lexicographicallyPrecedes(bytes[right])
          guard isBefore != (tuples[left] < tuples[right]) else { continue }
          Issue.record("\(tuples[left]) and \(tuples[right])")
        }
      }
    }
  }

  @Test func bytesOfKeysInTuplesAreInTheOrderOfKeys() throws {
    let keys = try OrderedBytesTests.keys.map { try Key($0) }
    for isDescending in [false, true] {
      func tuple(_ key: Key, _ value: IndexValue) -> IndexTuple {
        IndexTuple([
          .init(.key(key), isDescending: isDescending), .init(.value(value), isDescending: true),
        ])
      }
      for left in keys {
        for right in keys {
          let (a, b) = (tuple(left, .null), tuple(right, .children))
          let isBefore = OrderedBytes.value(.tuple(a))
            .lexicographicallyPrecedes(OrderedBytes.value(.tuple(b)))
          #expect(isBefore == (a < b), "\(left) and \(right)")
        }
      }
    }
  }
}
