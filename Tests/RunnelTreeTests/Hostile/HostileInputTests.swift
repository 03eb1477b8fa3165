import Foundation
import RunnelBase
import RunnelTree
import TestSupport
import Testing

/// Readers given what nobody would write.
///
/// A long run (`make long PART=seeds`) looks for longer.
@Suite struct HostileInputTests {
  /// A reader with the texts that it is given.
  struct Subject: CustomTestStringConvertible {
    let testDescription: String
    let corpus: [[UInt8]]
    let violation: @Sendable ([UInt8]) -> String?
  }

  static let subjects = [
    Subject(
      testDescription: "JSON", corpus: HostileCorpus.json + HostileCorpus.nodes,
      violation: { HostileInput.violation(inJSON: $0) }),
    Subject(
      testDescription: "node", corpus: HostileCorpus.nodes + HostileCorpus.json,
      violation: { HostileInput.violation(inNode: $0) }),
    Subject(
      testDescription: "path", corpus: HostileCorpus.paths,
      violation: { HostileInput.violation(inPath: $0) }),
    Subject(
      testDescription: "query", corpus: HostileCorpus.queries,
      violation: { HostileInput.violation(inQuery: $0) }),
  ]

  @Test(arguments: subjects)
  func everyTextOfTheCorpusIsReadOrRefused(subject: Subject) {
    for text in subject.corpus { expect(subject, text, "") }
  }

  @Test(arguments: subjects)
  func everyTruncationIsReadOrRefused(subject: Subject) {
    for text in subject.corpus {
      // Of the long ones, the beginning and the end.
      for count in text.indices where count < 100 || count > text.count - 20 {
        expect(subject, Array(text[..<count]), "cut after \(count)")
      }
    }
  }

  @Test(arguments: subjects)
  func everyMutationIsReadOrRefused(subject: Subject) {
    for seed in Seeds.first(3000, each: 100) {
      var mutator = Mutator(seed: seed)
      expect(subject, mutator.text(from: subject.corpus), "seed \(seed)")
    }
  }

  private func expect(_ subject: Subject, _ text: [UInt8], _ origin: String) {
    guard let violation = subject.violation(text) else { return }
    Issue.record(
      "\(violation): \(origin) \(String(decoding: text.prefix(200), as: UTF8.self)) \(text.prefix(200))"
    )
  }
}

/// Changes texts at random, in the ways that have broken readers before.
private struct Mutator {
  private static let tokens = [
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\uD800", "\\uDC00", "0", "-", "1e", ".",
    "e9",
    "null", "true", "{\"a\":", "\".priority\":", "\".value\":", "\".sv\":", "/", " ", "\n", "\0",
    "\u{E9}", "\u{1F600}", "\u{FEFF}", "9999999999999999999", "\"sp\":", "\"l\":1", "[MAX_NAME]",
  ].map { Array($0.utf8) }

  private var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  mutating func text(from corpus: [[UInt8]]) -> [UInt8] {
    var text = pick(corpus)
    for _ in 0...number(4) { mutate(&text, corpus) }
    return text
  }

  private mutating func mutate(_ text: inout [UInt8], _ corpus: [[UInt8]]) {
    let place = number(text.count)
    let end = min(text.count, place + number(8))
    switch number(7) {
    case 0: if place < text.count { text[place] ^= 1 << UInt8(number(7)) }
    case 1: text.insert(UInt8(number(255)), at: place)
    case 2: text.removeSubrange(place..<end)
    case 3: text.insert(contentsOf: text[place..<end], at: place)
    case 4: text.insert(contentsOf: pick(Mutator.tokens), at: place)
    case 5: text.replaceSubrange(place..<end, with: pick(Mutator.tokens))
    case 6: text.removeSubrange(place...)
    default:
      let other = pick(corpus)
      text.replaceSubrange(place..., with: other[number(other.count)...])
    }
  }

  /// A number from 0 to `maximum`.
  private mutating func number(_ maximum: Int) -> Int {
    Int.random(in: 0...maximum, using: &random)
  }

  private mutating func pick(_ elements: [[UInt8]]) -> [UInt8] {
    elements[number(elements.count - 1)]
  }
}
