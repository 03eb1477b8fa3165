import RunnelBase

/// The demo of one test: a copy of the one that the program made for all tests of the process.
final class DemoDatabase {
  static let messages = "/group_message/allotment"

  private static let template = Result { try TestDatabase.Template(by: ["demo", "--make-only"]) }

  private let database: TestDatabase
  /// The path of the file.
  var file: String { database.file }
  /// What starts the program on the demo.
  var arguments: [String] { ["demo", "-d", file] }

  init() throws {
    database = try TestDatabase(DemoDatabase.template.get())
  }

  /// Runs a command on the demo to its end.
  ///
  /// - Throws: `SystemError` if it fails.
  func run(_ arguments: [String]) throws {
    let outcome = try database.run(arguments)
    if outcome.status != 0 { throw SystemError(call: arguments[0], reason: outcome.errors) }
  }

  /// Makes a views file; returns its path.
  func write(views: String) throws -> String {
    try database.folder.write(views, to: "test.yaml")
  }

  /// The file of the demo's resources: this file is four levels below the top.
  static let resources =
    "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    + "/Resources/demo/demo.resources.yaml"

  /// The keys of all messages, oldest first.
  func messageKeys() throws -> [String] {
    try object(DemoDatabase.messages, "--shallow").map(\.name)
  }

  /// The keys of the pinned messages, oldest first.
  func pinnedMessageKeys() throws -> [String] {
    try object(DemoDatabase.messages, "--order-by", "pinned", "--equal-to", "true", "--shallow")
      .map(\.name)
  }

  /// The texts of the newest messages, the newest last.
  func newestTexts(_ count: Int) throws -> [String] {
    try object(DemoDatabase.messages, "--limit-to-last", "\(count)").map { message in
      guard case .string(let text)? = message.value["text"] else { return "" }
      return text
    }
  }

  /// A value as JSON.
  func get(_ path: String) throws -> String { try database.get(path) }

  private func object(_ path: String, _ query: String...) throws -> [JSONMember] {
    let outcome = try database.run(["get", path] + query)
    guard case .object(let members) = try JSONValue(parsing: outcome.output) else { return [] }
    return members
  }
}
