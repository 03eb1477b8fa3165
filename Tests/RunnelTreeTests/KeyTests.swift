import RunnelBase
import RunnelTree
import Testing

@Suite struct KeyTests {
  // MARK: Validity

  @Test(arguments: [
    "a", " ", "a b", "\"", "'", "%", "*", "-", "+1", "é", "日本語", "\u{1F600}", "\u{80}", "_",
    "~", "{", "}", "\\", "`", "\u{301}x",
  ])
  func everythingNotForbiddenIsAllowed(text: String) throws {
    #expect(try Key(text).text.utf8.elementsEqual(text.utf8))
  }

  @Test(arguments: [".", "#", "$", "/", "[", "]"])
  func reservedCharactersAreRefusedAnywhere(character: String) {
    for text in [character, "a" + character, character + "a", "é" + character + "é"] {
      let error = #expect(throws: TreeError.self) { try Key(text) }
      #expect(error?.code == .invalidKey)
      #expect(error?.message.contains("'\(character)'") == true)
    }
  }

  @Test func controlCharactersAreRefusedAndTheirNeighboursAllowed() throws {
    for value in [0x00, 0x01, 0x09, 0x0A, 0x1F, 0x7F] {
      let scalar = try #require(Unicode.Scalar(value))
      #expect(throws: TreeError.self) { try Key("a\(scalar)b") }
    }
    for value in [0x20, 0x7E, 0x80] {
      let scalar = try #require(Unicode.Scalar(value))
      #expect(throws: Never.self) { try Key("a\(scalar)b") }
    }
  }

  @Test func theEmptyTextIsNoKey() {
    #expect(throws: TreeError.self) { try Key("") }
  }

  @Test func aKeyHasAtMost768BytesOfUTF8() throws {
    #expect(try Key(String(repeating: "a", count: 768)).text.count == 768)
    #expect(throws: TreeError.self) { try Key(String(repeating: "a", count: 769)) }
    #expect(try Key(String(repeating: "é", count: 384)).text.count == 384)
    #expect(throws: TreeError.self) { try Key(String(repeating: "é", count: 384) + "a") }
  }

  @Test func theRefusalOfALongKeyIsShortAndPrintable() {
    let error = #expect(throws: TreeError.self) {
      try Key("\u{1B}[31m" + String(repeating: "a", count: 5000))
    }
    #expect((error?.message.count ?? .max) < 200)
    #expect(error?.message.unicodeScalars.contains { $0.value < 0x20 } == false)
  }

  // MARK: Equality

  @Test func canonicallyEquivalentTextsAreDifferentKeys() throws {
    let (composed, decomposed) = (try Key("é"), try Key("e\u{301}"))
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    #expect((composed < decomposed) != (decomposed < composed))
  }

  // MARK: Order

  /// The table of section 4.1.
  static let table = [
    "-5", "0", "-0", "1", "01", "9", "10", "2147483647", "-", "-0a", "2147483648", "A", "_", "a",
    "aa",
  ]

  @Test func theTableOfTheSpecificationIsAscending() throws {
    let keys = try KeyTests.table.map { try Key($0) }
    for (left, right) in zip(keys, keys.dropFirst()) {
      #expect(left < right, "\(left) before \(right)")
      #expect(!(right < left), "\(right) not before \(left)")
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func everyShuffleIsSortedToTheTable(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let keys = try KeyTests.table.shuffled(using: &random).map { try Key($0) }
    #expect(keys.sorted().map(\.text) == KeyTests.table)
  }

  @Test func everyPermutationOfSixKeysIsSortedAlike() throws {
    let sorted = try keys("0 -0 00 1 a \u{1F600}").sorted()
    var permutations: [[Key]] = [[]]
    for key in sorted {
      permutations = permutations.flatMap { shorter in
        (0...shorter.count).map { place in
          var longer = shorter
          longer.insert(key, at: place)
          return longer
        }
      }
    }
    #expect(permutations.count == 720)
    for permutation in permutations { #expect(permutation.sorted() == sorted) }
  }

  @Test(arguments: [
    ("1", "001"), ("01", "001"), ("-1", "-01"), ("2147483647", "a"), ("-2147483648", "0"),
    ("000000000001", "2"), ("0", "-"), ("9", "+1"), ("9", "1e3"), ("9", " 1"),
    ("2147483647", "-2147483649"), ("\u{D7FF}", "\u{1F600}"), ("\u{1F600}", "\u{E000}"),
    ("\u{1F600}", "\u{FFFD}"), ("Z", "a"), ("a", "a-"), ("a", "b"), ("-1", "-"),
  ])
  func theFirstKeyIsBeforeTheSecond(pair: (String, String)) throws {
    let (left, right) = (try Key(pair.0), try Key(pair.1))
    #expect(left < right)
    #expect(!(right < left))
  }

  /// Keys of every kind, with every pair that only the last rules tell apart.
  static let all = [
    "0", "-0", "00", "-00", "000", "1", "01", "-1", "-01", "001", "10", "9", "2147483647",
    "02147483647", "2147483648", "-2147483648", "-2147483649", "99999999999", "-", "--", "-a",
    "+1", "1e3", " 1", "1 ", "A", "Z", "_", "a", "aa", "ab", "b", "é", "e\u{301}", "z",
    "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{10000}", "\u{1F600}", "\u{1F600}a", "\u{10FFFF}",
  ]

  @Test func theOrderIsTotal() throws {
    let keys = try KeyTests.all.map { try Key($0) }
    for left in keys {
      for right in keys {
        let relations = [left < right, left == right, right < left].filter { $0 }
        #expect(relations.count == 1, "\(left) and \(right)")
        for third in keys where left < right && right < third {
          #expect(left < third, "\(left), \(right), \(third)")
        }
      }
    }
  }

  @Test func theOrderIsThatOfTheDefinition() throws {
    let keys = try KeyTests.all.map { try Key($0) }
    for left in keys {
      for right in keys {
        guard let expected = naiveOrder(left.text, right.text) else { continue }
        #expect((left < right) == expected, "\(left) and \(right)")
      }
    }
  }

  /// Section 4.1 word by word; nil where it leaves two keys equal.
  private func naiveOrder(_ left: String, _ right: String) -> Bool? {
    switch (naiveInteger(left), naiveInteger(right)) {
    case (let a?, let b?):
      if a != b { return a < b }
      return left.utf8.count == right.utf8.count ? nil : left.utf8.count < right.utf8.count
    case (_?, nil): return true
    case (nil, _?): return false
    case (nil, nil): return left.utf16.lexicographicallyPrecedes(right.utf16)
    }
  }

  private func naiveInteger(_ text: String) -> Int? {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    guard !digits.isEmpty, digits.allSatisfy({ "0123456789".contains($0) }),
      let value = Int(text), (-2_147_483_648...2_147_483_647).contains(value)
    else { return nil }
    return value
  }
}
