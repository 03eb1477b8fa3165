import Foundation
import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// A repair leaves a sound file with everything in it that was in the damaged one.
@Suite struct RecoveryTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Makes a database with split nodes in three levels, priorities and indexes.
  private func makeDatabase() throws {
    let session = try folder.session()
    try session.declareIndexes([
      IndexDefinition(pattern: "/l", child: .root),
      IndexDefinition(pattern: "/m/$x", child: Path("a")),
    ])
    let people = (0..<70).map {
      #""p\#($0)":{"a":\#($0 % 9),"t":"\#(String(repeating: "x", count: 90))",".priority":\#($0 % 5)}"#
    }
    try session.set(
      "/", #"{"l":\#(largeObject(90)),"m":{"n":{\#(people.joined(separator: ","))}},"o":1}"#)
    try session.close()
  }

  private func export(_ path: String = "/") throws -> String {
    let session = try folder.session(isReadOnly: true)
    defer { try? session.close() }
    return try session.export(path)
  }

  /// Repairs the file; expects that it is sound then, and that no record is missing.
  @discardableResult
  private func repair(_ what: String) throws -> DatabaseRepair {
    let records = try records()
    let repair = try DatabaseCare.repair(file: folder.file())
    #expect(repair.after?.faults == [], "\(what)")
    #expect(try FileInspector(folder.file()).report().faults == [], "\(what)")
    #expect(try DatabaseCare.check(file: folder.file()).isSound, "\(what)")
    let export = try export()
    for record in records { #expect(export.contains(record), "\(what): \(record)") }
    return repair
  }

  /// The records that are stored, whether anything leads to them or not, as the export has them: an
  /// object without its braces, since what is recovered may stand beside its children.
  private func records() throws -> [String] {
    let queue = try DatabaseQueue(path: folder.file())
    let blobs = try queue.read { db in
      try Data.fetchAll(db, sql: "SELECT CAST(json AS BLOB) FROM node WHERE json IS NOT NULL")
    }
    try queue.close()
    return blobs.map { blob in
      if let node = try? RecordCoding.node(Array(blob)) {
        let text = node.exportJSON.jsonText()
        return text.hasPrefix("{") ? String(text.dropFirst().dropLast()) : text
      }
      let text = String(validating: Array(blob), as: UTF8.self)
      return text.map { JSONValue.string($0).jsonText() }
        ?? blob.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
  }

  @Test(arguments: [
    ("UPDATE node SET json = 'x' WHERE parent = 2", "/l/k0"),
    ("UPDATE node SET json = x'00ff' WHERE parent = 2 AND key = x'026b3700'", "/l/k7"),
    ("UPDATE node SET json = NULL WHERE parent = 4", "/m/n/p5"),
    ("UPDATE node SET json = CAST('{\"b\":1, \"a\":2}' AS BLOB) WHERE parent = 4", "/m/n/p5"),
    ("UPDATE node SET json = x'7b7d' WHERE parent = 4", "/m/n/p5"),
    ("UPDATE node SET json = x'31' WHERE split = 3", "/m"),
    ("UPDATE node SET key = x'7777' WHERE parent = 2 AND key = x'026b3100'", "a child of /l"),
    ("UPDATE node SET key = 'text' WHERE parent = 2 AND key = x'026b3100'", "a child of /l"),
    ("UPDATE node SET key = x'026b3199' WHERE parent = 2 AND key = x'026b3100'", "a child of /l"),
    ("UPDATE node SET split = 77 WHERE split = 2", "/l"),
    ("UPDATE node SET split = 3 WHERE split = 4", "/m/n"),
    ("UPDATE node SET parent = 4 WHERE split = 3", "split node 3"),
    ("UPDATE node SET split = 'x' WHERE split = 2", "/l"),
    ("UPDATE node SET parent = 88 WHERE parent = 2", "node"),
    ("UPDATE node SET parent = 'x' WHERE parent = 2 AND key = x'026b3100'", "node"),
    ("INSERT INTO node (parent, key, json, split) VALUES (-1, x'', x'31', NULL)", "node"),
    ("INSERT INTO node (parent, key, json, split) VALUES (0, x'026b3100', x'31', NULL)", "node"),
    ("DELETE FROM split WHERE id = 2", "node"), ("DELETE FROM split", "node"),
    ("DELETE FROM node WHERE parent = 2", "/l"),
    ("DELETE FROM node WHERE parent = 0", "split node 1"),
    ("DELETE FROM node WHERE parent IN (0, 1)", "split node 2"),
    ("UPDATE node SET json = x'31', split = NULL WHERE parent = 0", "/"),
    ("UPDATE node SET checksum = 5 WHERE parent = 0", "/"),
    ("UPDATE node SET checksum = 'x' WHERE split = 4", "/m/n"),
    ("UPDATE split SET priority = x'74727565' WHERE id = 2", "split node 2"),
    ("INSERT INTO split (id, children, priority) VALUES (50, 1, NULL)", "split node 50"),
    ("DELETE FROM node; DELETE FROM split WHERE id = 3", "split node 1"),
  ])
  func whatIsDamagedIsSetAside(sql: String, place: String) throws {
    for forget in ["", "UPDATE node SET checksum = NULL; UPDATE split SET checksum = NULL;"] {
      try? FileManager.default.removeItem(atPath: folder.file())
      try makeDatabase()
      try FileEditor.execute(forget + sql, in: folder.file())
      let found = try DatabaseCare.check(file: folder.file())
      // A checksum that is wrong in a file without them is forgotten, too.
      if sql.contains("checksum"), !forget.isEmpty { continue }
      #expect(!found.isSound, "\(sql)")
      if forget.isEmpty {
        #expect(
          found.faults.contains { $0.place == place && $0.remedy == .recover }, "\(found.faults)")
      }
      try repair(sql)
    }
  }

  @Test func aRowThatIsSetAsideSaysWhereItWasAndWhatWasWrong() throws {
    try makeDatabase()
    try FileEditor.execute(
      """
      UPDATE node SET json = CAST('"other"' AS BLOB) WHERE parent = 2 AND key = x'026b3700';
      UPDATE node SET json = CAST('{"a" 1}' AS BLOB) WHERE parent = 2 AND key = x'026b3800';
      UPDATE node SET json = x'ff00' WHERE parent = 2 AND key = x'026b3900';
      """, in: folder.file())
    let repair = try repair("three rows")
    #expect(repair.recoveredCount == 3)
    #expect(repair.before.lostCount == 0)
    #expect(repair.recovered.map(\.place) == ["/l/k7", "/l/k8", "/l/k9"])
    #expect(
      repair.recovered.map(\.path.description) == (1...3).map { "/recovered/repair-1/row-\($0)" })
    let checksum = #""its checksum does not match what is stored""#
    #expect(
      try export("/recovered/repair-1/row-1")
        == #"{"place":"/l/k7","value":"other","why":\#(checksum)}"#)
    #expect(
      try export("/recovered/repair-1/row-2")
        == #"{"place":"/l/k8","text":"{\"a\" 1}","why":\#(checksum)}"#)
    #expect(
      try export("/recovered/repair-1/row-3")
        == #"{"bytes":"ff00","place":"/l/k9","why":\#(checksum)}"#)
    #expect(try export("/l/k7") == "null")
    #expect(try folder.session().summary(at: Path("l")).kind == .children(count: 87))
  }

  @Test func aSubtreeToWhichNothingLeadsIsWholeInItsPlace() throws {
    try makeDatabase()
    let people = try export("/m/n")
    try FileEditor.execute("DELETE FROM node WHERE split = 4", in: folder.file())
    let repair = try repair("a subtree")
    #expect(repair.recovered.map(\.place) == ["/m", "split node 4"])
    let row = try #require(repair.recovered.first { $0.place == "split node 4" })
    #expect(try export(row.path.description + "/value") == people)
    let session = try folder.session()
    _ = try session.push(1, to: Path(row.path.description + "/value"))
    try session.close()
    #expect(try DatabaseCare.check(file: folder.file()).isSound)
  }

  @Test func aTreeWithoutItsRootIsFoundAgain() throws {
    try makeDatabase()
    let before = try export()
    try FileEditor.execute("DELETE FROM node WHERE parent = 0", in: folder.file())
    let repair = try repair("the root")
    #expect(repair.recovered.count == 1)
    #expect(try export("/recovered/repair-1/row-1/value") == before)
  }

  @Test func aRootWhoseChecksumIsWrongStaysTheRoot() throws {
    try makeDatabase()
    let before = try export()
    try FileEditor.execute("UPDATE node SET checksum = 5 WHERE parent = 0", in: folder.file())
    #expect(try repair("the root").recovered == [])
    #expect(try export() == before)
  }

  @Test(arguments: ["DELETE FROM node", "DELETE FROM node; DELETE FROM split"])
  func aTreeOfWhichNothingIsLeftIsNoEmptyTree(sql: String) throws {
    for value in [#"{"a":1}"#, largeObject(90)] {
      try? FileManager.default.removeItem(atPath: folder.file())
      let session = try folder.session()
      try session.set("/", value)
      try session.close()
      try FileEditor.execute(sql, in: folder.file())
      #expect(throws: RunnelDatabase.DatabaseError.self) { try export() }
      let repair = try DatabaseCare.repair(file: folder.file())
      #expect(repair.before.lostCount > 0)
      #expect(try DatabaseCare.check(file: folder.file()).isSound)
      #expect(try !export().contains("\"a\""))
    }
  }

  @Test func aTreeThatWasRemovedIsAnEmptyTree() throws {
    let session = try folder.session()
    for value in ["1", "null", largeObject(90), "null"] {
      try session.set("/", value)
      #expect(try DatabaseCare.check(file: folder.file()).isSound, "\(value.prefix(9))")
    }
    try session.close()
    #expect(try export() == "null")
  }

  /// Makes a split node `/l` with a priority.
  private func makePriority() throws {
    let session = try folder.session()
    try session.set("/l", largeObject(90).dropLast() + #",".priority":7}"#)
    try session.close()
  }

  @Test func aPriorityThatWasChangedIsSetAside() throws {
    try makePriority()
    try FileEditor.execute("UPDATE split SET priority = x'38' WHERE id = 2", in: folder.file())
    let repair = try repair("a priority")
    #expect(repair.recovered.map(\.place) == ["the priority of split node 2"])
    #expect(try folder.session().summary(at: Path("l")).priority == nil)
    #expect(repair.before.doubtfulCount == 1)
  }

  @Test func aCountThatWasChangedLeavesThePriority() throws {
    try makePriority()
    try FileEditor.execute("UPDATE split SET children = 5 WHERE id = 2", in: folder.file())
    let repair = try repair("a count")
    #expect(repair.recovered == [])
    #expect(repair.before.doubtfulCount == 0)
    #expect(try folder.session().summary(at: Path("l")).priority == .number(7))
  }

  @Test func childrenThatAreMissingAreToldAsLost() throws {
    try makeDatabase()
    try FileEditor.execute(
      "DELETE FROM node WHERE parent = 2 AND key > x'026b3300'", in: folder.file())
    let left = try FileInspector(folder.file()).number("SELECT count(*) FROM node WHERE parent = 2")
    let repair = try repair("a list")
    #expect(repair.before.lostCount == 90 - left)
    #expect(
      repair.before.faults.contains { $0.what.contains("90 children, and \(left) are stored") })
    #expect(try folder.session().summary(at: Path("l")).kind == .children(count: left))
  }

  @Test func whatIsRecoveredReplacesNothing() throws {
    try makeDatabase()
    let session = try folder.session()
    try session.set("/recovered", #""mine""#)
    try session.set("/recovered-1/repair-1/row-1", "7")
    try session.close()
    for round in 2...3 {
      try FileEditor.execute(
        "UPDATE node SET json = x'31' WHERE parent = 2 AND key = x'026b3\(round)00'",
        in: folder.file())
      let repair = try repair("round \(round)")
      #expect(repair.recovered.first?.path.description == "/recovered-1/repair-\(round)/row-1")
    }
    #expect(try export("/recovered") == #""mine""#)
    #expect(try export("/recovered-1/repair-1") == #"{"row-1":7}"#)
  }

  @Test func aLeafThatIsTheWholeTreeMakesRoom() throws {
    try makeDatabase()
    try FileEditor.execute(
      "DELETE FROM node WHERE parent = 0; INSERT INTO node (parent, key, json) VALUES (0, x'', x'37')",
      in: folder.file())
    try repair("a leaf")
    let export = try export("/recovered/repair-1")
    #expect(export.contains(#""place":"/","value":7"#), "\(export)")
  }

  /// Rows deleted and changed at random: every repair holds, and no record is missing after it.
  @Test(arguments: Seeds.first(3))
  func whateverHappenedNoRecordIsMissingAfterARepair(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    try makeDatabase()
    for round in 0..<5 {
      var sql = ""
      for _ in 0..<Int.random(in: 1..<5, using: &random) {
        sql += RecoveryTests.damage(&random) + ";"
      }
      try FileEditor.executeIgnoringConflicts(sql, in: folder.file())
      if try DatabaseCare.check(file: folder.file()).isSound { continue }
      try repair("seed \(seed), round \(round): \(sql)")
    }
  }

  private static func damage(_ random: inout SeededRandom) -> String {
    let split = Int.random(in: 1..<8, using: &random)
    let other = Int.random(in: 1..<8, using: &random)
    let row =
      "(parent, key) = (SELECT parent, key FROM node ORDER BY parent, key LIMIT 1 "
      + "OFFSET \(Int.random(in: 0..<170, using: &random)))"
    return [
      "DELETE FROM node WHERE \(row)", "DELETE FROM split WHERE id = \(split)",
      "DELETE FROM node WHERE split = \(split)",
      "UPDATE node SET split = \(other) WHERE split = \(split)",
      "UPDATE node SET parent = \(other) WHERE \(row)",
      "UPDATE node SET parent = \(other) WHERE split = \(split)",
      "UPDATE node SET key = x'026b3939' || key WHERE \(row)",
      "UPDATE node SET json = x'22' || json WHERE \(row)",
      "UPDATE node SET checksum = NULL WHERE \(row)", "UPDATE split SET children = \(other)",
      "UPDATE node SET checksum = NULL WHERE split IS NOT NULL",
      "UPDATE split SET priority = x'37' WHERE id = \(split)",
    ].randomElement(using: &random) ?? ""
  }
}
