import TestSupport
import Testing

@testable import RunnelBase

/// Regular expressions: what they match, what is refused, and that no text makes them slow.
@Suite struct RegularExpressionTests {
  private func pattern(_ text: String, _ ignoresCase: Bool = false) throws -> RegularExpression {
    var budget = 1_000_000
    return try RegularExpression(Array(text.utf16), ignoresCase: ignoresCase, budget: &budget)
  }

  @Test(arguments: [
    ("a+?", "b", true), ("a+?", "aa", true), ("^(?:x)$", "?:x", true), ("^(?:x)$", "x", false),
    ("\\.", "a.b", true), ("^a\\.b$", "axb", false), ("^\\$$", "$", true), ("\\\\", "\\", true),
    ("^[-\\/. ]$", "/", true), ("^[a-]$", "-", true), ("^[\\w-z]$", "-", true), ("}", "}", true),
    ("a{2}", "aa", true), ("^a{2,}$", "aaaa", true), ("^a{2,3}$", "aaaa", false),
    ("^a{0}$", "", true), ("^$", "", true), ("^$", "a", false), ("^", "a", true), ("$", "a", true),
    ("^.$", "\n", false), ("^..$", "😀", true), ("^.$", "é", true), ("\\d", "x7", true),
    ("^\\D\\S\\W$", "ab ", true), ("^*$", "*", true), ("+", "+", true), ("a,b", "a,b", true),
    ("[^a]", "aaa", false), ("[^\\d]", "1", false), ("^(a|b|cd)+$", "abcdab", true),
    ("^((a*)*)*$", "aaaaaaab", false), ("^(|a)$", "|a", true), ("a|b$", "ab", true),
    ("\\n", "n", true), ("^[\\]]$", "]", true), ("^ü$", "ü", true),
  ])
  func theExpressionMatches(text: String, subject: String, matches: Bool) throws {
    #expect(try pattern(text).matches(subject) == matches)
  }

  @Test(arguments: [
    ("^YES$", "yes", true), ("[a-z]+", "ABC", true), ("^[^a]$", "A", false), ("^é$", "É", true),
    ("^σ$", "ς", true), ("^[ς]$", "Σ", true), ("^k$", "\u{212A}", false), ("^ß$", "SS", false),
    ("^\\w$", "\u{17F}", false),
  ])
  func caseIsDisregarded(text: String, subject: String, matches: Bool) throws {
    #expect(try pattern(text, true).matches(subject) == matches)
  }

  @Test(arguments: [
    ("(^a|b)", 1), ("a$b", 1), ("a||b", 2), ("a|", 2), ("(a", 0), ("a)", 1), ("[a", 0), ("[]", 0),
    ("[^]", 0), ("a|*b", 2), ("a{x}", 1), ("a{3,2}", 1), ("[b-a]", 2), ("a\\", 1), ("()", 0),
    ("a^", 1), ("a{2000}{2000}", 0), ("a{", 1), ("a{,5}", 1),
  ])
  func whatIsNoExpressionIsRefused(text: String, unit: Int) throws {
    let error = #expect(throws: RegularExpressionError.self) { try pattern(text) }
    #expect(error?.unit == unit, "\(error?.message ?? "")")
  }

  @Test func manyRepetitionsOfNothingAreRead() throws {
    #expect(try pattern("((((a{0}){2000}){2000}){2000}){2000}b").matches("b"))
    #expect(throws: RegularExpressionError.self) { try pattern("(((a?){1000}){1000}){1000}") }
  }

  /// Each step of a decision is about 64 units: what backtracks would need the age of the universe.
  @Test func noTextMakesAnExpressionSlow() throws {
    let subject = String(repeating: "a", count: 200_000) + "!"
    for text in ["^(a+)+$", "^(a|a)*$", "^(a*)*b$", "(a?){30}a{30}$", "(x+x+)+y"] {
      #expect(try !pattern(text).matches(subject) || text.hasPrefix("(a?)"))
      var none = 0
      let slow = try RegularExpression(Array(text.utf16), ignoresCase: false, budget: &none)
      #expect(slow.costFactor > 1, "Without a budget there is no table.")
      #expect(try slow.matches("aaaa!") == pattern(text).matches("aaaa!"))
    }
  }

  // MARK: By chance

  /// An expression, and where it may end in a text when it begins at a place.
  private indirect enum Sample {
    case letter(String)
    case any
    case set(String, isInverted: Bool)
    case sequence([Sample])
    case choice([Sample])
    case repeated(Sample, Int, Int?)

    init(_ random: inout SeededRandom, depth: Int) {
      switch Int.random(in: 0..<(depth == 0 ? 3 : 6), using: &random) {
      case 0: self = .letter(["a", "b", "c"].randomElement(using: &random) ?? "a")
      case 1: self = .any
      case 2:
        self = .set(
          ["a", "ab", "bc"].randomElement(using: &random) ?? "a",
          isInverted: Bool.random(using: &random))
      case 3: self = .sequence(Sample.some(&random, depth))
      case 4: self = .choice(Sample.some(&random, depth))
      default:
        let least = Int.random(in: 0...2, using: &random)
        let most = Int.random(in: 0...2, using: &random)
        self = .repeated(
          Sample(&random, depth: depth - 1), least, most == 0 ? nil : least + most - 1)
      }
    }

    private static func some(_ random: inout SeededRandom, _ depth: Int) -> [Sample] {
      (0..<Int.random(in: 1...3, using: &random)).map { _ in Sample(&random, depth: depth - 1) }
    }

    var text: String {
      switch self {
      case .letter(let letter): letter
      case .any: "."
      case .set(let letters, let isInverted): "[" + (isInverted ? "^" : "") + letters + "]"
      case .sequence(let items): "(" + items.map(\.text).joined() + ")"
      case .choice(let items): "(" + items.map(\.text).joined(separator: "|") + ")"
      case .repeated(let inner, 0, nil): "(\(inner.text))*"
      case .repeated(let inner, 1, nil): "(\(inner.text))+"
      case .repeated(let inner, 0, 1): "(\(inner.text))?"
      case .repeated(let inner, let least, nil): "(\(inner.text)){\(least),}"
      case .repeated(let inner, let least, let most?): "(\(inner.text)){\(least),\(most)}"
      }
    }

    func ends(_ text: [Character], from start: Int) -> Set<Int> {
      switch self {
      case .letter(let letter):
        return start < text.count && String(text[start]) == letter ? [start + 1] : []
      case .any: return start < text.count ? [start + 1] : []
      case .set(let letters, let isInverted):
        return start < text.count && letters.contains(text[start]) != isInverted ? [start + 1] : []
      case .sequence(let items):
        return items.reduce([start]) { places, item in
          Set(places.flatMap { item.ends(text, from: $0) })
        }
      case .choice(let items): return Set(items.flatMap { $0.ends(text, from: start) })
      case .repeated(let inner, let least, let most):
        var places: Set<Int> = [start]
        var all: Set<Int> = least == 0 ? [start] : []
        for count in 1...max(text.count + least + 1, 1) where count <= most ?? .max {
          places = Set(places.flatMap { inner.ends(text, from: $0) })
          if count >= least { all.formUnion(places) }
        }
        return all
      }
    }
  }

  @Test(arguments: Seeds.first(6))
  func bothMachinesAgreeWithANaiveMatcher(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for _ in 0..<150 {
      let sample = Sample(&random, depth: 3)
      let (isAtStart, isAtEnd) = (Bool.random(using: &random), Bool.random(using: &random))
      let text = (isAtStart ? "^" : "") + sample.text + (isAtEnd ? "$" : "")
      let fast = try pattern(text)
      var none = 0
      let slow = try RegularExpression(Array(text.utf16), ignoresCase: false, budget: &none)
      for _ in 0..<12 {
        let subject = (0..<Int.random(in: 0...7, using: &random)).map { _ in
          Character(["a", "b", "c", "ß"].randomElement(using: &random) ?? "a")
        }
        let starts = isAtStart ? [0] : Array(0...subject.count)
        let ends = Set(starts.flatMap { sample.ends(subject, from: $0) })
        let expected = isAtEnd ? ends.contains(subject.count) : !ends.isEmpty
        #expect(fast.matches(String(subject)) == expected, "/\(text)/ of \(String(subject))")
        #expect(slow.matches(String(subject)) == expected, "/\(text)/ of \(String(subject))")
      }
    }
  }
}
