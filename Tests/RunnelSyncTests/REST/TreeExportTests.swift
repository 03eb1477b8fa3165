import RunnelBase
import RunnelSync
import RunnelTree
import TestSupport
import Testing

/// Exports in pieces, against the JSON of the whole node.
@Suite struct TreeExportTests {
  private func text(
    _ tree: MemoryTree, _ query: Query, _ form: TreeExport.Form, bytesMax: Int,
    _ layout: JSONWriter.Layout = .compact
  ) throws -> String {
    var export = TreeExport(query, form: form, layout: layout)
    var bytes: [UInt8] = []
    while let piece = try export.next(from: tree, bytesMax: bytesMax) {
      #expect(!piece.isEmpty)
      bytes += piece
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: Seeds.first(200))
  func piecesMakeTheWhole(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let node = try Node(json: json(&random, depth: 4))
    let tree = MemoryTree(node)
    let bytesMax = Int.random(in: 1..<40, using: &random)
    let query = Query(.root)
    #expect(
      try text(tree, query, .plain, bytesMax: bytesMax)
        == node.json(coercingArrays: true).jsonText(), "seed \(seed)")
    #expect(
      try text(tree, query, .export, bytesMax: bytesMax) == node.exportJSON.jsonText(),
      "seed \(seed)")
    #expect(
      try text(tree, query, .plain, bytesMax: bytesMax, .pretty)
        == node.json(coercingArrays: true).jsonText(pretty: true), "seed \(seed)")
    let shallow: JSONValue =
      node.children.isEmpty
      ? node.json : .object(node.children.map { JSONMember($0.key.text, true) })
    #expect(
      try text(tree, query, .shallow, bytesMax: bytesMax) == shallow.jsonText(), "seed \(seed)")
  }

  private func json(_ random: inout SeededRandom, depth: Int) -> JSONValue {
    let kind = Int.random(in: 0..<(depth == 0 ? 3 : 7), using: &random)
    switch kind {
    case 0: return .number(JSONNumber(Int64.random(in: 0..<9, using: &random)))
    case 1: return .string("é\"")
    case 2: return [".value": true, ".priority": 1]
    default:
      let names = [["0", "1", "2", "5"], ["a", "b", "01"], ["1", "3"], ["-1", "0"]]
      let chosen = names[Int.random(in: 0..<names.count, using: &random)]
      var members: [JSONMember] = []
      for name in chosen where Int.random(in: 0..<4, using: &random) > 0 {
        members.append(JSONMember(name, json(&random, depth: depth - 1)))
      }
      if Int.random(in: 0..<3, using: &random) == 0 { members.append(JSONMember(".priority", "p")) }
      return .object(members)
    }
  }

  @Test func aPieceIsNotMuchLongerThanAskedFor() throws {
    let members = (0..<5000).map {
      JSONMember("key\($0)", .string(String(repeating: "x", count: 50)))
    }
    let tree = MemoryTree(try Node(json: .object(members)))
    var export = TreeExport(Query(.root), form: .plain)
    var count = 0
    while let piece = try export.next(from: tree, bytesMax: 1000) {
      #expect(piece.count < 1100)
      count += 1
    }
    #expect(count > 250)
  }

  /// A tree that notes how many bytes of texts are read at once.
  private struct WatchedTree: TreeExportSource {
    final class Most { var bytes = 0 }
    let tree: MemoryTree
    let most = Most()

    func node(at path: Path) throws(TreeError) -> Node { try tree.node(at: path) }

    func summary(at path: Path) throws(TreeError) -> NodeSummary { try tree.summary(at: path) }

    func row(
      _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
    ) throws(TreeError) -> TreeRow? { try tree.row(key, of: path, in: slice, detail: detail) }

    func rows(
      of path: Path, in slice: RowSlice, detail: TreeRow.Detail
    ) throws(TreeError) -> [TreeRow] {
      let rows = try tree.rows(of: path, in: slice, detail: detail)
      let bytes = rows.reduce(0) { sum, row in
        if case .leaf(.string(let text)) = row.summary.kind { sum + text.utf8.count } else { sum }
      }
      most.bytes = max(most.bytes, bytes)
      return rows
    }
  }

  @Test func largeValuesAreReadFewAtATime() throws {
    let small = (0..<2000).map { JSONMember("a\($0)", .string("text \($0)")) }
    let large = (0..<60).map {
      JSONMember("b\($0)", .string(String(repeating: "x", count: 200_000 + $0)))
    }
    let node = try Node(json: .object(small + large))
    let tree = WatchedTree(tree: MemoryTree(node))
    var export = TreeExport(Query(.root), form: .plain)
    var bytes: [UInt8] = []
    while let piece = try export.next(from: tree) { bytes += piece }
    #expect(try JSONValue(parsing: bytes) == node.json)
    // A page that begins with short texts may end with long ones; the next one is smaller.
    #expect(tree.most.bytes < 13_000_000)
    let onlyLarge = WatchedTree(tree: MemoryTree(try Node(json: .object(large))))
    var second = TreeExport(Query(.root), form: .plain)
    while try second.next(from: onlyLarge) != nil {}
    #expect(onlyLarge.most.bytes < 1_500_000)
  }
}
