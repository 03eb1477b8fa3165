import Foundation
import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// Pages of a file that stand at each other's place, each sound by itself, as after a write that the disk made
/// at a wrong place: what is read is right, or it is refused; nothing is written in place of what is not found.
@Suite struct MisplacedPagesTests {
  private static let pageBytes = 4096

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func key(_ number: Int) -> String {
    "k" + String(repeating: "0", count: 4 - String(number).count) + String(number)
  }

  /// Makes a database of 600 records with an index; returns the file.
  private func makeDatabase() throws -> Data {
    let session = try folder.session()
    try session.declareIndexes([IndexDefinition(pattern: "/u", child: Path("n"))])
    let records = (0..<600).map {
      #""\#(Self.key($0))":{"n":\#($0),"t":"\#(String(repeating: "t", count: 40))","s":{"a":\#($0 % 7)}}"#
    }
    let text = String(repeating: "x", count: 20_000)
    try session.importJSON(#"{"u":{\#(records.joined(separator: ","))},"text":"\#(text)"}"#)
    try session.close()
    return try folder.bytes()
  }

  /// The numbers of the pages of a file, from 0, that are not the first of a table.
  private func pages(of file: Data) throws -> [Int] {
    let inspector = try FileInspector(folder.file())
    let roots = try Set(
      (0..<inspector.number("SELECT count(*) FROM sqlite_master")).map {
        try inspector.number("SELECT rootpage FROM sqlite_master LIMIT 1 OFFSET \($0)") - 1
      })
    return (1..<file.count / Self.pageBytes).filter { !roots.contains($0) }
  }

  private func write(_ good: Data, exchanging first: Int, _ second: Int) throws {
    var bad = good
    for (page, other) in [(first, second), (second, first)] {
      let range = page * Self.pageBytes..<(page + 1) * Self.pageBytes
      bad.replaceSubrange(range, with: good[other * Self.pageBytes..<(other + 1) * Self.pageBytes])
    }
    for name in ["test.db-wal", "test.db-shm"] {
      // They may not be there.
      try? FileManager.default.removeItem(atPath: folder.file(name))
    }
    try folder.write(bad)
  }

  private static func queries() throws -> [Query] {
    let list = try Query(Path("u"))
    let byIndex = try list.ordered(by: .child(Path("n")))
    let number = { (value: Int) in IndexValue.leaf(.number(JSONNumber(Int64(value)))) }
    return [
      try byIndex.limited(to: 5, from: .last), try byIndex.limited(to: 5, from: .first),
      try byIndex.starting(at: number(290)).limited(to: 20, from: .first),
      try byIndex.starting(at: number(100)).ending(at: number(130)),
      try list.ordered(by: .key).limited(to: 30, from: .last),
    ]
  }

  @Test(arguments: 0..<3 as Range<UInt64>)
  func whatIsReadIsRightOrRefused(seed: UInt64) throws {
    let good = try makeDatabase()
    let pages = try pages(of: good)
    let queries = try Self.queries()
    let sound = try folder.session(isReadOnly: true)
    let truth = try sound.node(at: Path("u"))
    let rows = try queries.map { try sound.rows($0) }
    try sound.close()
    var random = SeededRandom(seed: seed)
    var refusedCount = 0
    for round in 0..<60 {
      let (first, second) = (
        try #require(pages.randomElement(using: &random)),
        try #require(pages.randomElement(using: &random))
      )
      try write(good, exchanging: first, second)
      let what: Comment = "seed \(seed), round \(round): pages \(first) and \(second)"
      guard let session = try? folder.session(isReadOnly: true) else { continue }
      for number in stride(from: Int.random(in: 0..<16, using: &random), to: 600, by: 16) {
        let key = Self.key(number)
        if let node = try? session.node(at: Path("u/\(key)")) {
          #expect(node == truth[try Path(key)], "\(what): \(key)")
        } else {
          refusedCount += 1
        }
      }
      for (query, rows) in zip(queries, rows) {
        if let found = try? session.rows(query) {
          #expect(found == rows, "\(what): \(query)")
        } else {
          refusedCount += 1
        }
      }
      try session.close()
    }
    #expect(refusedCount > 0)
  }

  @Test func nothingIsWrittenInPlaceOfWhatIsNotFound() throws {
    let good = try makeDatabase()
    let pages = try pages(of: good)
    let key = Self.key(300)
    let hex = key.utf8.map { String($0, radix: 16) }.joined()
    let home = try #require(
      pages.first { page in
        let bytes = good[page * Self.pageBytes..<(page + 1) * Self.pageBytes]
        return bytes.range(of: Data([2] + Array(key.utf8) + [0]) + Data(#"{"n""#.utf8)) != nil
      })
    var refusedCount = 0
    for page in pages where page != home {
      try write(good, exchanging: home, page)
      guard let session = try? folder.session() else { continue }
      defer { try? session.close() }
      let found = try? FileInspector(folder.file())
        .number("SELECT count(*) FROM node WHERE key = x'02\(hex)00' AND parent = 2")
      guard found == 0 else { continue }
      #expect(throws: (any Error).self, "page \(page)") {
        try session.set("/u/\(key)", #"{"n":1}"#)
      }
      refusedCount += 1
    }
    #expect(refusedCount > 5)
  }

  /// A sound file is written and read beside all that a transaction holds back.
  @Test func soundPlacesAreNotTaken() throws {
    _ = try makeDatabase()
    let session = try folder.session()
    for number in 600..<640 { try session.set("/u/\(Self.key(number))", #"{"n":\#(number)}"#) }
    let members = (0..<20).map { #""\#(Self.key($0 * 3))":null,"new\#($0)":{"n":7}"# }
    let json = try JSONValue(parsing: "{\(members.joined(separator: ","))}")
    _ = try session.write(.update(Path("u"), #require(json.object)))
    try session.set("/u/k0003", #"{"n":3}"#)
    #expect(try session.summary(at: Path("u")).kind == .children(count: 641))
    let byIndex = try Query(Path("u")).ordered(by: .child(try Path("n")))
    #expect(try session.rows(byIndex.limited(to: 3, from: .last)).map(\.key.text).last == "k0639")
    #expect(try session.node(at: Path("u/k0006")).isEmpty)
    try session.close()
    #expect(try DatabaseCare.check(file: folder.file()).isSound)
  }
}
