import Foundation
import Synchronization
import TestSupport
import Testing

/// Imports in several batches into a server's database to which others write between two of them: through this
/// program's server, which compares all places of a batch, and through one that compares single places only.
@Suite(.timeLimit(.minutes(5))) struct ImportBesideOthersTests {
  /// Writes once for others, before the first request that writes, or looks at, what comes after a batch.
  private final class Meddler: Sendable {
    private let isDone = Mutex(false)
    private let port: Int
    private let place: String

    init(_ port: Int, _ place: String) { (self.port, self.place) = (port, place) }

    func look(at request: RawServer.Request) {
      let text = String(decoding: request.bytes.prefix(4096), as: UTF8.self)
      let isBatch =
        request.method == "PATCH" && !text.contains("Match: ?")
        && text.contains("{\"k20\":")
      guard isBatch || text.prefix(100).contains("/k20.json") else { return }
      let isFirst = isDone.withLock { done in
        defer { done = true }
        return !done
      }
      if isFirst {
        _ = try? RawClient(port: port).request("PUT", "\(place)/k25.json", "\"theirs\"")
      }
    }
  }

  private static let keys = (0..<30).map { $0 < 10 ? "k0\($0)" : "k\($0)" }

  private let database: TestDatabase
  private let served: Served
  private let document: String

  init() throws {
    database = try TestDatabase("{\"full\":{\"k05\":\"old\",\"k25\":\"old\",\"z\":1}}")
    served = try Served([database.file, "--emulator"])
    document = try database.folder.write(ImportBesideOthersTests.json(), to: "large.json")
  }

  /// A document of three batches, the first of which empties its place; a merge has two.
  private static func json(without left: String? = nil) -> String {
    let text = String(repeating: "x", count: 100_000)
    return "{" + keys.filter { $0 != left }.map { "\"\($0)\":\"\(text)\"" }.joined(separator: ",")
      + "}"
  }

  private func front(_ place: String, comparesUpdates: Bool) throws -> RawServer {
    let (meddler, port) = (Meddler(served.port, place), served.port)
    return try RawServer { request, _ in
      meddler.look(at: request)
      var request = request
      if !comparesUpdates { request.bytes = ImportBesideOthersTests.plain(request.bytes) }
      return RawServer.answer(to: request, from: port)
    }
  }

  /// A request without the headers that other servers do not know.
  private static func plain(_ bytes: [UInt8]) -> [UInt8] {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = text.range(of: "\r\n\r\n") else { return bytes }
    let head = text[..<end.lowerBound].components(separatedBy: "\r\n")
      .filter { !$0.lowercased().hasPrefix("x-runnel-") }
    return Array((head.joined(separator: "\r\n") + text[end.lowerBound...]).utf8)
  }

  private func value(_ path: String) throws -> String {
    try Program.run(["get", path, "-d", "http://localhost:\(served.port)/?ns=test"]).output
  }

  private func url(_ front: RawServer) -> String { "http://127.0.0.1:\(front.port)/?ns=test" }

  @Test(arguments: [true, false], ["/new", "/full"])
  func laterBatchesReplaceNothingOfOthers(comparesUpdates: Bool, place: String) throws {
    let front = try front(place, comparesUpdates: comparesUpdates)
    func load(_ more: String...) throws -> Program.Outcome {
      let replaces = place == "/full" ? ["--replace"] : []
      return try Program.run(
        ["import", document, place, "-d", url(front)] + replaces + more)
    }
    let stopped = try load()
    #expect(stopped.status == 1)
    #expect(stopped.errors.contains("\(place)/k25 of "), "\(stopped.errors)")
    #expect(
      stopped.errors.contains(
        "Batches 1 to 2 of 3 were written: \(comparesUpdates ? 20 : 25) of 30 values"),
      "\(stopped.errors)")
    #expect(stopped.errors.contains("continue with --from-batch 3 "), "\(stopped.errors)")
    #expect(try value("\(place)/k25") == "\"theirs\"\n")
    // Going on replaces nothing of theirs either.
    let again = try load("--from-batch", "3")
    #expect(again.status == 1)
    #expect(again.errors.contains("\(place)/k25 of "), "\(again.errors)")
    #expect(try value("\(place)/k25") == "\"theirs\"\n")
    #expect(try load("--from-batch", "3", "--force").status == 0)
    #expect(try value("\(place)/k25").utf8.count == 100_003)
    #expect(try value("\(place)/k29").utf8.count == 100_003)
    #expect(try value("\(place)/z") == "null\n")
  }

  @Test(arguments: [true, false], ["/new", "/full"])
  func mergesReplaceNothingOfOthers(comparesUpdates: Bool, place: String) throws {
    let front = try front(place, comparesUpdates: comparesUpdates)
    func merge(_ document: String, _ more: String...) throws -> Program.Outcome {
      try Program.run(["import", document, place, "--merge", "-d", url(front)] + more)
    }
    let stopped = try merge(document)
    #expect(stopped.status == 1)
    #expect(stopped.errors.contains("\(place)/k25 of "), "\(stopped.errors)")
    #expect(stopped.errors.contains("Batch 1 of 2 was written"), "\(stopped.errors)")
    #expect(stopped.errors.contains("continue with --from-batch 2 "), "\(stopped.errors)")
    #expect(try value("\(place)/k25") == "\"theirs\"\n")
    // What was read before the first batch is replaced.
    #expect(try value("\(place)/k05").utf8.count == 100_003)
    let again = try merge(document, "--from-batch", "2")
    #expect(again.status == 1)
    #expect(again.errors.contains("\(place)/k25 of "), "\(again.errors)")
    #expect(try value("\(place)/k25") == "\"theirs\"\n")
    let rest = try database.folder.write(
      ImportBesideOthersTests.json(without: "k25"), to: "rest.json")
    let done = try merge(rest, "--from-batch", "2")
    #expect(done.status == 0, "\(done.errors)")
    #expect(try value("\(place)/k25") == "\"theirs\"\n")
    #expect(try value("\(place)/k29").utf8.count == 100_003)
    #expect(try merge(document, "--from-batch", "2", "--force").status == 0)
    #expect(try value("\(place)/k25").utf8.count == 100_003)
  }

  /// Nothing was written by others: all of it is written, also over what stood there before.
  @Test(arguments: [true, false]) func mergesReplaceWhatTheyRead(comparesUpdates: Bool) throws {
    let front = try front("/elsewhere", comparesUpdates: comparesUpdates)
    let outcome = try Program.run(["import", document, "/full", "--merge", "-d", url(front)])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try value("/full/k25").utf8.count == 100_003)
    #expect(try value("/full/z") == "1\n")
  }

  @Test(arguments: [true, false]) func copiesReplaceNothingOfOthers(comparesUpdates: Bool) throws {
    let source = try TestDatabase()
    let big = try source.folder.write("{\"big\":\(ImportBesideOthersTests.json())}", to: "big.json")
    #expect(try source.run(["import", big, "--create"]).status == 0)
    let front = try front("/new", comparesUpdates: comparesUpdates)
    let place = "http://127.0.0.1:\(front.port)/new?ns=test"
    let stopped = try Program.run(["copy", "\(source.file):/big", place])
    #expect(stopped.status == 1)
    #expect(stopped.errors.contains("/new/k25 of "), "\(stopped.errors)")
    #expect(stopped.errors.contains("Batches 1 to 2 of 3 were written"), "\(stopped.errors)")
    #expect(stopped.errors.contains("With --force, copy again"), "\(stopped.errors)")
    #expect(try value("/new/k25") == "\"theirs\"\n")
    let forced = try Program.run(["copy", "\(source.file):/big", place, "--force"])
    #expect(forced.status == 0, "\(forced.errors)")
    #expect(try value("/new/k25").utf8.count == 100_003)
  }
}
