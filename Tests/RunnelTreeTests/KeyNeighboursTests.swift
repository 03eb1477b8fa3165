import RunnelBase
import Testing

@testable import RunnelTree

@Suite struct KeyNeighboursTests {
  private func text(_ bound: IndexPosition.KeyBound) -> String {
    switch bound {
    case .minimum: "[MIN_NAME]"
    case .maximum: "[MAX_NAME]"
    case .key(let key): key.text
    }
  }

  /// A text of the greatest length, from its beginning on.
  private func filled(_ head: String, with character: Character = "z") -> String {
    head + String(repeating: character, count: 786 - head.utf16.count)
  }

  // MARK: The table of section 10.2

  @Test(arguments: [
    ("2147483647", "-"), ("7", "8"), ("-1", "0"), ("0", "1"), ("-2147483648", "-2147483647"),
    ("-", "--"), ("abc", "abc-"), ("abc-", "abc--"),
    // And around it.
    ("01", "2"), ("-0", "1"), ("2147483648", "2147483648-"), ("\u{E9}", "\u{E9}-"), ("z", "z-"),
  ])
  func theSuccessorIs(row: (String, String)) throws {
    #expect(text(try Key(row.0).successor) == row.1)
  }

  @Test(arguments: [
    ("2147483647", "2147483646"), ("7", "6"), ("0", "-1"), ("-2147483648", "[MIN_NAME]"),
    ("-", "2147483647"), ("abc-", "abc"),
    // And around it.
    ("01", "0"), ("-02147483648", "-2147483648"), ("a!", "a"), (" ", "2147483647"),
  ])
  func thePredecessorIs(row: (String, String)) throws {
    #expect(text(try Key(row.0).predecessor) == row.1)
  }

  @Test(arguments: [
    ("abc", "abb"), ("A", "9"), ("a0", "a-"), ("\u{E9}", "z"), ("a\u{1F600}", "az"),
  ])
  func thePredecessorOfATextIsFilledUp(row: (String, String)) throws {
    #expect(text(try Key(row.0).predecessor) == filled(row.1))
  }

  @Test func aTextOf785UnitsGetsOneMoreAndOneOf786Does() {
    let shorter = String(filled("").dropLast())
    #expect(text(KeyNeighbour.successor(of: shorter, nil)) == shorter + "-")
    #expect(text(KeyNeighbour.successor(of: filled("abc"), nil)) == "abd")
    #expect(text(KeyNeighbour.successor(of: filled("abc", with: "y"), nil)).hasSuffix("yyz"))
    #expect(text(KeyNeighbour.successor(of: filled("a\u{E9}"), nil)) == "b")
    #expect(KeyNeighbour.successor(of: filled(""), nil) == .maximum)
    let lowered = text(KeyNeighbour.predecessor(of: filled("abc"), nil))
    #expect(lowered == String(filled("abc").dropLast()) + "y")
    #expect(text(KeyNeighbour.predecessor(of: filled("abc", with: "-"), nil)).utf16.count == 785)
  }

  // MARK: Properties

  private static let characters = Array(
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")

  /// All texts of one or two characters of the alphabet, and some of three.
  private static let universe: [Key] = {
    let ones = characters.map { String($0) }
    let twos = ones.flatMap { one in characters.map { one + String($0) } }
    let threes = twos.flatMap { two in ["-", "5", "z"].map { two + $0 } }
    return (ones + twos + threes).map(Key.init(unchecked:)).sorted()
  }()

  private func hasZerosInFront(_ key: Key) -> Bool {
    key.integer.map { String($0) != key.text } ?? false
  }

  @Test func neighboursLieOnTheirSideOfTheKey() throws {
    for key in KeyNeighboursTests.universe {
      #expect(.key(key) < key.successor, "\(key)")
      #expect(key.predecessor < .key(key), "\(key)")
    }
  }

  @Test func nothingOfTheAlphabetLiesBetweenAKeyAndItsSuccessor() throws {
    let universe = KeyNeighboursTests.universe
    for (key, next) in zip(universe, universe.dropFirst()) {
      // The next of all keys is not before the successor, unless it has zeros in front.
      if hasZerosInFront(next) { continue }
      #expect(.key(next) >= key.successor, "\(key) and \(next)")
    }
  }

  @Test func nothingOfTheAlphabetLiesBetweenAKeyAndItsPredecessor() throws {
    let universe = KeyNeighboursTests.universe
    for (previous, key) in zip(universe, universe.dropFirst()) {
      if hasZerosInFront(previous) || hasZerosInFront(key) { continue }
      // `1-` comes after all integers, and its predecessor `1` is one: what lies between is lost.
      if case .key(let text) = key.predecessor, text.integer != nil, key.integer == nil { continue }
      #expect(.key(previous) <= key.predecessor, "\(previous) and \(key)")
    }
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func longTextsKeepWhatIsPromised(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    func some(_ count: Int) -> String {
      String(
        (0..<count).map { _ in KeyNeighboursTests.characters[Int.random(in: 0..<64, using: &random)]
        })
    }
    let key = try Key("a" + some(Int.random(in: 0..<700, using: &random)))
    guard case .key(let successor) = key.successor, case .key(let predecessor) = key.predecessor
    else {
      Issue.record("A text has neighbours.")
      return
    }
    #expect(predecessor < key)
    #expect(key < successor)
    // What is greater than a key and shares its beginning is not before the successor, and so on.
    for _ in 0..<20 {
      let other = Key(unchecked: key.text.prefix(Int.random(in: 1..<700, using: &random)) + some(3))
      if key < other { #expect(successor <= other) }
      if other < key { #expect(other <= predecessor) }
    }
  }

  @Test func zerosInFrontAreWhatIntegersPassOver() throws {
    let zeros = IndexPosition.KeyBound.key(try Key("01"))
    #expect(try zeros > .key(Key("1")))
    #expect(try zeros < Key("1").successor)
    #expect(try Key("2").predecessor < zeros)
  }
}
