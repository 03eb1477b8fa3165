import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

@Suite struct ExportTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession

  init() throws {
    folder = try TemporaryFolder()
    session = try folder.session()
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func anExportIsImportedToTheSame(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let root = try random.node(depth: 4)
    _ = try session.write(.set(.root, root.exportJSON))
    let text = try session.export()
    #expect(text == root.exportJSON.jsonText())
    let other = try folder.session("other.db")
    try other.importJSON(text)
    #expect(try other.node(at: .root) == root)
    try other.importJSON(session.export(layout: .pretty))
    #expect(try other.node(at: .root) == root)
  }

  @Test func aPartIsExportedWhereverItIsStored() throws {
    try session.set("/", #"{"big":\#(largeObject(60)),"small":{"a":{"b":1}}}"#)
    #expect(try session.export("/small/a") == #"{"b":1}"#)
    #expect(try session.export("/small/a/b") == "1")
    #expect(try session.export("/small/a/b/c") == "null")
    #expect(try session.export("/none") == "null")
    #expect(try session.export("/big/k1") == session.node(at: Path("big/k1")).json.jsonText())
  }

  @Test func aLargeExportComesInPieces() throws {
    try session.set("/", largeObject(3000))
    var sizes: [Int] = []
    try session.exportJSON(.root) { sizes.append($0.count) }
    #expect(sizes.count > 3)
    #expect((sizes.max() ?? 0) < 100_000)
  }

  private struct PipeClosed: Error {}

  @Test func anErrorOfTheTakerIsThrownAsItIs() throws {
    try session.set("/", largeObject(3000))
    #expect(throws: PipeClosed.self) {
      try session.exportJSON(.root) { _ in throw PipeClosed() }
    }
    #expect(try session.export().count > 100_000)
  }
}
