import RunnelBase
import RunnelTree
import Testing

@testable import RunnelPostgres

/// What a session keeps of the feed, so that lost writes can be named.
@Suite struct FeedMemoryTests {
  private let writer = FeedPlace.Writer(server: PostgresIdentifier.random(), batch: 1)

  private func entries(_ numbers: ClosedRange<Int64>, _ path: String? = nil) -> [FeedMemory.Entry] {
    numbers.map { .init(sequence: $0, writer: writer, paths: "[\"\(path ?? "/k\($0)")\"]") }
  }

  private func words(_ entries: [FeedMemory.Entry]) -> String {
    FeedMemory.words(for: entries) { _ in true }
  }

  @Test func numbersThatComeAgainReplaceTheOldOnes() {
    var memory = FeedMemory()
    memory.note(entries(1...5))
    memory.note([])
    memory.note(entries(4...4, "/new"))
    #expect(memory.entries == entries(1...3) + entries(4...4, "/new"))
  }

  @Test func itIsBoundedByNumberAndByBytes() {
    var memory = FeedMemory()
    for number in 1...Int64(3 * FeedMemory.countMax) { memory.note(entries(number...number)) }
    #expect(memory.entries.count <= FeedMemory.countMax)
    #expect(memory.entries.last?.sequence == Int64(3 * FeedMemory.countMax))
    let long = "/" + String(repeating: "x", count: 700)
    for number in 10_000...Int64(10_500) { memory.note(entries(number...number, long)) }
    #expect(memory.entries.reduce(0) { $0 + $1.paths.utf8.count } <= FeedMemory.bytesMax)
    #expect(memory.entries.last?.sequence == 10_500)
    memory.note(entries(20_000...20_000, "/" + String(repeating: "/y", count: 50_000)))
    #expect(memory.entries == [])
  }

  @Test func placesAreNamedOnceAndAtMostTwenty() {
    #expect(words([]) == "Which places they were at is not known any more.")
    #expect(words(entries(1...3, "/a")) == "They were at /a.")
    #expect(
      words(entries(1...1) + entries(2...2, FeedNews.settingsPath))
        == "They were at /k1, the rules.")
    #expect(words(entries(1...20)).hasSuffix("/k19, /k20."))
    #expect(words(entries(1...21)).hasSuffix("/k20, /k21, and 1 other place."))
    #expect(words(entries(1...50)).hasSuffix("/k50, and 30 other places."))
    let hidden = FeedMemory.words(for: entries(1...2)) { _ in false }
    #expect(hidden == "They were at 2 other places.")
  }
}
