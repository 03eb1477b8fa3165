import Foundation
import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// Imports where something stands already: what they make of it, and undoing them.
@Suite struct ImportModeTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession

  init() throws {
    folder = try TemporaryFolder()
    session = try folder.session()
  }

  @discardableResult
  private func load(
    _ json: String, at path: String = "/", _ mode: ImportMode,
    progress: @escaping (ImportStep) -> Bool = { _ in true }
  ) throws -> ImportOutcome {
    try Array(json.utf8).withUnsafeBufferPointer {
      try session.importJSON($0, at: Path(path), mode: mode, progress: progress)
    }
  }

  private var files: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { $0.contains("-undo-") }.sorted()
    }
  }

  @Test func addingIsRefusedWhereSomethingStands() throws {
    try load(#"{"b":1}"#, at: "/a", .add)
    let refusal = #expect(throws: DatabaseError.self) { try load("2", at: "/a", .add) }
    #expect(refusal?.message.contains("`.replace`") == true)
    #expect(refusal?.message.contains("`.merge`") == true)
    #expect(throws: DatabaseError.self) { try load("2", .add) }
    #expect(throws: DatabaseError.self) { try load("2", at: "/a/b/c", .add) }
    #expect(try session.export() == #"{"a":{"b":1}}"#)
  }

  // MARK: Merging

  /// What a merging comes to, by the letter of `ImportMode.merge`.
  private func merged(_ json: JSONValue, into node: Node) throws -> Node {
    let members: [JSONMember]
    switch json {
    case .object(let own) where !own.contains { $0.name == ".value" }: members = own
    case .array(let own): members = own.enumerated().map { JSONMember(String($0), $1) }
    default: return try Node(json: json)
    }
    if node.children.isEmpty {
      let new = try Node(json: json)
      if new.isEmpty { return node }
      // Children that come in place of a leaf keep its priority.
      let hasOwn = members.contains { $0.name == ".priority" }
      return hasOwn ? new : new.with(priority: node.priority)
    }
    // All at once: a node that is emptied for a moment would lose its priority.
    var children = node.children
    for member in members where member.name != ".priority" {
      let key = try Key(member.name)
      children.append(Child(key: key, node: try merged(member.value, into: node[key])))
    }
    var result = Node(children: children, priority: node.priority)
    if let priority = json[".priority"], !result.isEmpty, case .object = json {
      let holder = try Node(
        json: .object([JSONMember(".value", 1), JSONMember(".priority", priority)]))
      result = result.with(priority: holder.priority)
    }
    return result
  }

  /// A random value of few keys, so that documents meet; with long texts, it is split.
  private func value(_ random: inout SeededRandom, depth: Int, _ text: String) -> JSONValue {
    switch Int.random(in: 0..<(depth > 3 ? 4 : 9), using: &random) {
    case 0: return .null
    case 1: return .number(JSONNumber(Int64.random(in: 0..<3, using: &random)))
    case 2: return .string(text)
    case 3:
      return [
        ".value": 7, ".priority": .number(JSONNumber(Int64.random(in: 0..<3, using: &random))),
      ]
    case 4: return .array((0..<2).map { _ in value(&random, depth: depth + 1, text) })
    default:
      var members: [JSONMember] = []
      for name in ["a", "b", "c", "10", "é"] where Bool.random(using: &random) {
        members.append(JSONMember(name, value(&random, depth: depth + 1, text)))
      }
      if Int.random(in: 0..<5, using: &random) == 0 { members.append(JSONMember(".priority", "p")) }
      return .object(members)
    }
  }

  @Test(arguments: Seeds.first(12))
  func mergingIsAnUpdateDownToTheLeaves(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let text = String(repeating: "x", count: seed.isMultiple(of: 2) ? 3 : 900)
    try load(value(&random, depth: 0, text).jsonText(), .add)
    for step in 0..<8 {
      let before = try session.node(at: .root)
      let document = value(&random, depth: 0, text)
      let expected = try merged(document, into: before)
      try load(document.jsonText(), .merge)
      let after = try session.node(at: .root)
      try #require(after == expected, "seed \(seed), step \(step): \(document.jsonText())")
      if after == before { continue }
      let entry = try #require(try session.history(count: 1).first)
      _ = try session.undo(entry.id)
      try #require(try session.node(at: .root) == before, "undo, seed \(seed), step \(step)")
      _ = try session.undo(try #require(try session.history(count: 1).first).id)
      try #require(try session.node(at: .root) == expected, "redo, seed \(seed), step \(step)")
    }
  }

  @Test(arguments: Seeds.first(1, oneOf: 10))
  func largeDocumentIsMergedAsASmallOne(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let text = String(repeating: "y", count: 300)
    func large(_ count: Int) -> JSONValue {
      .object(
        (0..<count).map { number in
          JSONMember("k\(number * 2)", ["v": value(&random, depth: 2, text), "t": .string(text)])
        } + [JSONMember(".priority", 4), JSONMember("one", value(&random, depth: 0, text))])
    }
    let (old, new) = (large(900), large(4000))
    try load(old.jsonText(), at: "/p/q", .add)
    #expect(new.jsonText().utf8.count > DatabaseSession.mergedAtOnceBytesMax)
    let before = try session.node(at: .root)
    let expected = try merged(["p": ["q": new]], into: before)
    let outcome = try load(new.jsonText(), at: "/p/q", .merge)
    try #require(try session.node(at: .root) == expected, "seed \(seed)")
    #expect(outcome.undoFile == folder.file("test.db-undo-2.json"))
    _ = try session.undo(2)
    try #require(try session.node(at: .root) == before, "seed \(seed)")
    #expect(try DatabaseCare.check(file: session.file).isSound)
  }

  @Test func mergeOfTheSameIsNoEntry() throws {
    try load(#"{"a":{"b":1},"c":"x"}"#, .add)
    try load(#"{"a":{"b":1,"z":null},"q":{}}"#, .merge)
    #expect(try session.history().count == 1)
  }

  @Test func mergeThatRemovesTooMuchForTheHistoryKeepsAFile() throws {
    try load(#"{"big":\#(largeObject(2000)),"n":1}"#, .add)
    let before = try session.export()
    let outcome = try load(#"{"big":null}"#, .merge)
    #expect(outcome.undoFile != nil)
    #expect(try session.export() == #"{"n":1}"#)
    _ = try session.undo(2)
    #expect(try session.export() == before)
  }

  // MARK: In the place of more

  private func replaceAll(
    _ json: String, at path: String, progress: @escaping (ImportStep) -> Bool = { _ in true }
  ) throws -> ImportOutcome {
    try Array(json.utf8).withUnsafeBufferPointer {
      try session.importJSON($0, at: Path(path), inPlaceOf: .root, progress: progress)
    }
  }

  @Test(arguments: [3, 2000])
  func documentInThePlaceOfAllIsOneWrite(count: Int) throws {
    try load(#"{"k":{"k0":"old"},"other":{"a":1,".priority":2}}"#, .add)
    let before = try session.export()
    _ = try replaceAll(largeObject(count), at: "/k")
    #expect(try session.node(at: .root) == node(#"{"k":\#(largeObject(count))}"#))
    #expect(try session.history().count == 2)
    _ = try session.undo(2)
    #expect(try session.export() == before)
    #expect(try DatabaseCare.check(file: session.file).isSound)
  }

  @Test(arguments: [#"[{"id":1,"name":"#, #"{"a.b":1}"#])
  func documentThatCannotBeReadReplacesNothing(document: String) throws {
    try load(#"{"k":\#(largeObject(2000)),"other":1}"#, .add)
    let before = try session.export()
    #expect(throws: DatabaseError.self) { try replaceAll(document, at: "/k") }
    #expect(throws: DatabaseError.self) {
      try replaceAll(largeObject(3000), at: "/k") { $0 == .reading(bytes: 0) }
    }
    #expect(try session.export() == before)
    #expect(try session.history().count == 1)
    #expect(try files.isEmpty)
  }

  @Test func fullDiskReplacesNothing() throws {
    try load(#"{"k":{"a":1}}"#, .add)
    try session.limitPages(to: 1)
    let error = #expect(throws: DatabaseError.self) {
      try replaceAll(largeObject(9000, bytes: 200), at: "/k")
    }
    #expect(error?.code == .diskFull)
    try session.limitPages(to: 1_000_000)
    #expect(try session.export() == #"{"k":{"a":1}}"#)
    #expect(try session.history().count == 1)
  }

  @Test func listenersAreToldOnlyOfWhatDiffers() throws {
    try load(#"{"k":[{"n":1},{"n":2}]}"#, .add)
    let query = Query(try Path("/k"))
    _ = try session.listen(ListenerID(1), ListenRequest(query: query, events: .children))
    let told = try replaceAll(#"[{"n":1},{"n":3}]"#, at: "/k").deliveries
    #expect(told.compactMap(\.event.row?.key.text) == ["1"])
    #expect(told.allSatisfy { if case .childChanged = $0.event { true } else { false } })
  }

  // MARK: Undoing

  @Test func whatStoodThereComesBackWithPrioritiesAboveIt() throws {
    try session.set("/a", #"{"b":{"c":\#(largeObject(2000)),".priority":2},".priority":3}"#)
    let before = try session.export()
    try load("null", at: "/a/b/c", .replace)
    #expect(try session.export() == "null")
    _ = try session.undo(2)
    #expect(try session.export() == before)
  }

  @Test func leafAboveAPlaceComesBack() throws {
    try session.set("/a", "7")
    try load(largeObject(2000), at: "/a/b/c", .replace)
    _ = try session.undo(2)
    #expect(try session.export() == #"{"a":7}"#)
  }

  @Test func whatWasWrittenSinceIsNotUndone() throws {
    try load(largeObject(2000), at: "/l", .add)
    try session.set("/other", "1")
    _ = try session.undo(1)
    #expect(try session.export() == #"{"other":1}"#)
    _ = try session.undo(3)
    try session.set("/l/k7", "1")
    let error = #expect(throws: DatabaseError.self) { try session.undo(4) }
    #expect(error?.code == .changed)
    try session.set("/l", "1")
    #expect(throws: DatabaseError.self) { try session.undo(4) }
  }

  @Test func largeImportsAreUndoneAndRedoneOneAfterTheOther() throws {
    var states = [try session.export()]
    for number in 1...3 {
      try load(largeObject(1000, bytes: 70 + number), at: "/big", .replace)
      states.append(try session.export())
    }
    for entry in try session.history() {
      #expect(entry.isUndoable && entry.parts[0].values == nil)
      #expect("\(entry)".hasSuffix("/big: too large to show; what stood there before is kept"))
    }
    for round in 1...2 {
      var undoings: [Int64] = []
      for number in [3, 2, 1] {
        let entry = try #require(try session.newestUndoable())
        #expect(entry.id == number, "round \(round)")
        _ = try session.undo(entry.id)
        #expect(try session.export() == states[number - 1], "undo \(number), round \(round)")
        undoings.append(try #require(try session.history(count: 1).first).id)
      }
      #expect(try files.count == 3, "what each undoing replaced, round \(round)")
      for number in 1...3 {
        _ = try session.undo(undoings.removeLast())
        #expect(try session.export() == states[number], "redo \(number), round \(round)")
      }
      #expect(try files.count == 2, "the first replaced nothing, round \(round)")
    }
    #expect(try DatabaseCare.check(file: session.file).isSound)
  }

  @Test func onlyWritesThatStandAreInAnUndosWay() throws {
    try load(largeObject(1000), at: "/big", .add)
    let before = try session.export()
    try load(largeObject(1000, bytes: 90), at: "/big", .replace)
    func isRefused() -> Bool {
      let error = #expect(throws: DatabaseError.self) { try session.undo(2) }
      return error?.code == .changed
    }
    try session.set("/big/k1", "1")
    #expect(isRefused())
    _ = try session.undo(3)
    try session.set("/big/k2", "2")
    _ = try session.undo(4)
    _ = try session.undo(5)
    #expect(isRefused(), "write 3 was redone")
    _ = try session.undo(6)
    _ = try session.undo(2)
    #expect(try session.export() == before)
  }

  @Test func fileIsThereUntilItsContentsAreBack() throws {
    try load(largeObject(2000), .add)
    let outcome = try load("5", .replace)
    #expect(try files == ["test.db-undo-2.json"])
    let kept = try String(contentsOfFile: #require(outcome.undoFile), encoding: .utf8)
    #expect(try node(kept) == node(largeObject(2000)))
    #expect(outcome.undoFileBytes == kept.utf8.count)
    _ = try session.undo(2)
    #expect(try files.isEmpty)
  }

  @Test func fileOfAnotherDatabaseIsNotReplaced() throws {
    let other = folder.file("test.db-undo-2.json")
    try Data("mine".utf8).write(to: URL(fileURLWithPath: other))
    try load(largeObject(2000), .add)
    let outcome = try load("5", .replace)
    #expect(outcome.undoFile == folder.file("test.db-undo-2-2.json"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: other)) == Data("mine".utf8))
    _ = try session.undo(2)
    #expect(try files == ["test.db-undo-2.json"])
  }

  /// A killed import was never committed, so what it kept is still in the tree.
  @Test func whatAKilledImportLeftIsGoneAfterTheNext() throws {
    try load(largeObject(2000), .add)
    let left = folder.file("test.db-undo-2.json.part")
    try Data("half".utf8).write(to: URL(fileURLWithPath: left))
    #expect(try DatabaseCare.check(file: session.file).unnamedFiles == [left])
    try load("5", .replace)
    #expect(try files == ["test.db-undo-2.json"])
    _ = try session.undo(2)
    #expect(try files.isEmpty)
  }

  @Test func filesOfForgottenWritesAreToldAndRemovedByARepair() throws {
    try load(largeObject(2000), .add)
    for count in 2001...2004 { try load(largeObject(count), .replace) }
    try session.setHistoryLimit(3)
    // Write 3 is beyond the limit now, though its entry is dropped later.
    try session.set("/small", "1")
    let left = [2, 3].map { folder.file("test.db-undo-\($0).json") }
    #expect(try DatabaseCare.check(file: session.file).unnamedFiles == left)
    #expect(try DatabaseCare.repair(file: session.file).removedFiles == left)
    #expect(try files == ["test.db-undo-4.json", "test.db-undo-5.json"])
    #expect(try DatabaseCare.repair(file: session.file).removedFiles == [])
  }

  @Test func failedImportLeavesNoFile() throws {
    try load(largeObject(2000), .add)
    let before = try session.export()
    for json in [#"{"a":1"#, largeObject(9000).dropLast() + ",\"x.y\":1}"] {
      for mode in [ImportMode.replace, .merge] {
        #expect(throws: DatabaseError.self) { try load(String(json), mode) }
      }
    }
    for wanted in 1...3 {
      var count = 0
      let error = #expect(throws: DatabaseError.self) {
        try load(largeObject(20_000), .replace) { _ in
          count += 1
          return count < wanted
        }
      }
      #expect(error?.code == .cancelled)
      #expect(error?.message == "The import was stopped. Nothing was changed.")
    }
    #expect(try files.isEmpty)
    #expect(try session.export() == before)
    #expect(try session.history().count == 1)
  }

  @Test func withoutAHistoryNothingIsKept() throws {
    try session.setHistoryLimit(0)
    try load(largeObject(2000), .add)
    let outcome = try load("5", .replace)
    #expect(outcome.undoFile == nil)
    #expect(try files.isEmpty)
    #expect(try session.history().isEmpty)
  }

  @Test func listenersAreToldOfAnUndoing() throws {
    try load(largeObject(300), at: "/l", .add)
    try load(#"{"z":1}"#, at: "/l", .replace)
    _ = try session.listen(
      ListenerID(1), ListenRequest(query: Query(Path("/l")), detail: .shallow, events: .children))
    #expect(try session.undo(2).count >= 300)
  }
}
