import Foundation
import RunnelBase
import RunnelDatabase
import RunnelDemo
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Databases and views that tests are made of.
enum Fixture {
  /// Mon 24 Aug 2026, 18:20 in UTC.
  static let now: Int64 = 1_787_595_600_000
  static let minute: Int64 = 60_000
  static let hour: Int64 = 3_600_000
  static let day: Int64 = 86_400_000

  static let viewsText = """
    views:
      - name: Chat
        path: /room
        order: $key
        anchor: last
        page: 50
        also:
          - { order: pinned, equal-to: true }
        sections:
          - { title: Pinned, where: { pinned: true } }
          - { day: created }
        columns:
          - { field: created, format: time, width: 5 }
          - { field: from, width: 8, screen: 40 }
          - { field: text }
          - { field: created, format: age, width: 4, screen: 50, muted: true }
        compose: text
        new:
          created: { .sv: timestamp }
          from: $me
      - name: People
        path: /user
        order: name
        sections:
          - field: role
            titles: { organizer: Organizers, participant: Participants }
        columns:
          - { field: name, width: 12 }
          - { field: plot, width: 5 }
          - { field: active, width: 5 }
          - { field: email }
        new:
          name: ""
          role: participant
          plot: 1
          active: true
          joined: { .sv: timestamp }
    """

  /// *Chat* and *People*.
  static func views() throws -> [ViewDefinition] {
    try ViewFile(yaml: viewsText, name: "test.views.yaml").views
  }

  /// A path whose text is known to be valid.
  static func path(_ text: String) -> Path { (try? Path(text)) ?? .root }

  static func message(
    _ text: String, from: String = "ana", at created: Int64, isPinned: Bool = false
  ) -> JSONValue {
    var members = [
      JSONMember("created", .number(JSONNumber(created))), JSONMember("from", .string(from)),
    ]
    if isPinned { members.append(JSONMember("pinned", true)) }
    members.append(JSONMember("text", .string(text)))
    return .object(members)
  }

  static func user(
    _ name: String, _ role: String, plot: Int64 = 1, isActive: Bool = true
  ) -> JSONValue {
    .object([
      JSONMember("active", .bool(isActive)),
      JSONMember("email", .string("\(name.lowercased())@example.org")),
      JSONMember("name", .string(name)), JSONMember("plot", .number(JSONNumber(plot))),
      JSONMember("role", .string(role)),
    ])
  }

  /// Six messages over three days, one of them pinned, and five users.
  static var small: JSONValue {
    .object([
      JSONMember(
        "room",
        .object([
          JSONMember("-M1", message("Where is the key?", at: now - 2 * day)),
          JSONMember(
            "-M2",
            message("The gate code is 4711", from: "bo", at: now - 2 * day + hour, isPinned: true)),
          JSONMember("-M3", message("Rain tomorrow", at: now - day)),
          JSONMember("-M4", message("漢字テスト renders wide", from: "eve", at: now - day + hour)),
          JSONMember("-M5", message("Good morning", from: "bo", at: now - 9 * hour)),
          JSONMember("-M6", message("Who has the ladder?", at: now - 5 * minute)),
        ])),
      JSONMember(
        "user",
        .object([
          JSONMember("ana", user("Ana", "organizer", plot: 3)),
          JSONMember("bo", user("Bo", "participant", plot: 12)),
          JSONMember("cleo", user("Cleo", "participant", isActive: false)),
          JSONMember("dan", user("Dan", "organizer", plot: 7)),
          JSONMember("eve", user("Eve", "participant", plot: 21)),
        ])),
    ])
  }

  /// The key of the message with a number in `history`.
  static func historyKey(_ number: Int) -> String {
    "-M" + String(repeating: "0", count: 5 - "\(number)".count) + "\(number)"
  }

  /// So many messages, three hours from one to the next; every 40th is pinned.
  static func history(_ count: Int) -> JSONValue {
    let messages = (0..<count).map { index in
      JSONMember(
        historyKey(index + 1),
        message(
          "message number \(index + 1)", from: ["ana", "bo", "eve"][index % 3],
          at: now - Int64(count - index) * 3 * hour, isPinned: index % 40 == 7))
    }
    return .object([JSONMember("room", .object(messages))])
  }

  /// The folder of the resources of this checkout.
  static let resources = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Resources")

  /// The demo with some messages in its main group.
  static func demo(messageCount: Int) throws -> DemoData {
    let file = resources.appendingPathComponent("demo/demo.texts.json")
    let texts = try DemoTexts(parsing: [UInt8](Data(contentsOf: file)))
    return DemoData(texts, seed: 1, messageCount: messageCount, endingAt: demoNow)
  }

  static func demoViews() throws -> ViewFile {
    let file = resources.appendingPathComponent("demo/demo.views.yaml")
    return try ViewFile(yaml: String(contentsOf: file, encoding: .utf8), name: file.path)
  }

  /// The first moment after the demo's last message.
  static let demoNow: Int64 = 1_788_111_900_000

  /// The file of a database with the demo, made once.
  static let demoFile: Result<Data, any Error> = Result {
    try template("demo") { session in
      let bytes = try Data(contentsOf: resources.appendingPathComponent("demo/demo.json"))
      try [UInt8](bytes).withUnsafeBufferPointer {
        _ = try session.importJSON($0, at: .root)
      }
      try session.declareIndexes(try demoViews().views.flatMap(\.indexes))
    }
  }

  /// The file of a database with 437 messages, made once.
  static let historyFile: Result<Data, any Error> = Result {
    try template("history") { session in
      _ = try session.write(.set(.root, history(437)))
      try session.declareIndexes(try views().flatMap(\.indexes))
    }
  }

  /// The bytes of a database that a function fills.
  static func template(
    _ name: String, _ fill: (DatabaseSession) throws -> Void
  ) throws -> Data {
    let file = NSTemporaryDirectory() + "runnel-\(name)-\(UUID().uuidString).db"
    defer { AppDriver.removeDatabase(file) }
    let session = try DatabaseSession(
      file: file,
      environment: DatabaseEnvironment(now: { now }, random: SeededRandom(seed: 7)))
    try fill(session)
    try session.close()
    return try Data(contentsOf: URL(fileURLWithPath: file))
  }
}
