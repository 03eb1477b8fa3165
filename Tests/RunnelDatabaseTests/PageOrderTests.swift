import Foundation
import GRDB
import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// Pages that stand in each other's place: a read gives what was written, or an error.
@Suite struct PageOrderTests {
  private static let pageBytes = 4096
  private static let swapCount = 60

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Makes a list of 700 records with two indexes, between two others; returns the bytes of the file.
  private func makeDatabase() throws -> Data {
    let session = try folder.session()
    try session.declareIndexes([
      IndexDefinition(pattern: "/m", child: Path("n")),
      IndexDefinition(pattern: "/m", child: Path("g")),
    ])
    let records = (0..<700).map { number in
      let key = String(repeating: "0", count: 4 - "\(number)".count) + "\(number)"
      let text = String(repeating: "x", count: 250)
      return #""k\#(key)":{"n":\#((number * 37) % 700),"g":\#(number % 4),"t":"\#(text)"}"#
    }
    try session.importJSON(
      #"{"a":\#(largeObject(60)),"m":{\#(records.joined(separator: ","))},"z":\#(largeObject(60))}"#
    )
    try session.close()
    return try folder.bytes()
  }

  private static func number(_ number: Int) -> IndexValue {
    .leaf(.number(JSONNumber(Int64(number))))
  }

  /// The first pages of all tables, counted from 0.
  private func rootPages() throws -> Set<Int> {
    let queue = try DatabaseQueue(path: folder.file())
    defer { try? queue.close() }
    let pages = try queue.read { db in
      try Int.fetchAll(db, sql: "SELECT rootpage FROM sqlite_master WHERE rootpage > 0")
    }
    return Set(pages.map { $0 - 1 })
  }

  /// The reads of parts of the list.
  private func queries() throws -> [Query] {
    let list = try Query(Path("/m"))
    let byKey = try list.ordered(by: .key)
    let byNumber = try list.ordered(by: .child(Path("n")))
    let byGroup = try list.ordered(by: .child(Path("g")))
    let keys = ["k0300", "k0400", "k0655"].map { IndexValue.leaf(.string($0)) }
    return [
      try byKey.starting(at: keys[0]).ending(at: keys[1]), try byKey.starting(at: keys[2]),
      try byKey.limited(to: 50, from: .last), try byKey.limited(to: 50, from: .first),
      try byKey.starting(at: keys[1]).limited(to: 30, from: .first),
      try byNumber.starting(at: Self.number(100)).ending(at: Self.number(180)),
      try byNumber.limited(to: 40, from: .first), try byNumber.limited(to: 40, from: .last),
      try byGroup.equal(to: Self.number(2)),
    ]
  }

  /// The keys of each read; nil where it was refused.
  private func results(_ queries: [Query]) throws -> [[String]?] {
    guard let session = try? folder.session(isReadOnly: true) else {
      return queries.map { _ in nil }
    }
    defer { try? session.close() }
    let rows = queries.map { query in
      try? session.rows(query, detail: .full).map {
        "\($0.key.text) \($0.node?.json["n"] ?? .null)"
      }
    }
    let record = try? session.node(at: Path("/m/k0350")).json["n"].map { ["\($0)"] } ?? ["nothing"]
    return rows + [record]
  }

  /// The first two seeds: some of these swaps gave shorter lists.
  @Test(arguments: [5, 6, UInt64.random(in: 0...UInt64.max)])
  func exchangedPagesGiveNoOtherRows(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let good = try makeDatabase()
    // Where the first page of a table stands for another, the rest of the table is as if it never was.
    let roots = try rootPages()
    let queries = try queries()
    let truth = try results(queries)
    #expect(!truth.contains(nil))
    var refusedCount = 0
    for _ in 0..<Self.swapCount {
      let pages = (1..<good.count / Self.pageBytes).filter { !roots.contains($0) }
      let one = pages.randomElement(using: &random) ?? 1
      let other = pages.randomElement(using: &random) ?? 1
      var bytes = good
      bytes.replaceSubrange(Self.page(one), with: good[Self.page(other)])
      bytes.replaceSubrange(Self.page(other), with: good[Self.page(one)])
      try folder.write(bytes)
      for (index, (found, wanted)) in zip(try results(queries), truth).enumerated() {
        if found == nil { refusedCount += 1 }
        #expect(
          found == nil || found == wanted,
          "seed \(seed), pages \(one) and \(other), read \(index)")
      }
    }
    #expect(refusedCount > 0)
  }

  private static func page(_ number: Int) -> Range<Int> {
    number * pageBytes..<(number + 1) * pageBytes
  }
}
