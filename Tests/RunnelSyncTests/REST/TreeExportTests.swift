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
}
