import Foundation
import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// Names of files that SQLite would take for something else.
@Suite struct DatabaseFileNameTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func refusal(_ file: String) -> DatabaseError? {
    #expect(throws: DatabaseError.self) {
      let environment = DatabaseEnvironment(now: { 0 }, random: SeededRandom(seed: 1))
      try DatabaseSession(file: file, environment: environment).close()
    }
  }

  @Test func anEmptyNameIsRefused() {
    #expect(refusal("")?.code == .cannotOpen)
    #expect(refusal("")?.message.contains("empty") == true)
  }

  @Test func aNameWithAZeroIsRefusedForTheName() throws {
    for name in ["x.db\u{0}y", "\u{0}", "x.db\u{0}"] {
      let error = try #require(refusal(folder.file(name)))
      #expect(error.code == .cannotOpen)
      #expect(error.message.contains("U+0000") && !error.message.contains("doctor"))
      #expect(!ControlCharacters.areIn(error.message))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    let session = try folder.session()
    _ = try session.write(.set(.root, 1))
    let error = #expect(throws: DatabaseError.self) {
      try session.saveCopy(to: folder.file("copy\u{0}.db"))
    }
    #expect(error?.code == .cannotOpen)
  }

  /// The folder `file:` does not exist, so the file cannot be made; as an address it could.
  @Test(arguments: ["", "?mode=memory", "?cache=shared"])
  func anAddressIsANameLikeOthers(end: String) throws {
    #expect(refusal("file:" + folder.file() + end)?.code == .cannotOpen)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test(arguments: [
    (":memory:", "./:memory:"), ("file:a.db", "./file:a.db"), ("file:\u{301}", "./file:\u{301}"),
    ("a.db", "a.db"), ("/:memory:", "/:memory:"), ("File:a", "File:a"), ("afile:", "afile:"),
  ])
  func whatSQLiteTakesForAnotherThingIsGivenToItAsAPath(name: String, given: String) {
    #expect(DatabaseFileName.forSQLite(name) == given)
  }
}
