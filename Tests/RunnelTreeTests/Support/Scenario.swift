import Foundation
import RunnelBase
import RunnelTree
import Testing

/// A story of inputs and of exactly what each of them comes to, as a file tells it.
///
/// A file of `Scenarios/` is `{"about": text, "scenarios": [scenario, ...]}`. A scenario has a `name` (a
/// claim), maybe a `start` (the tree at the beginning, known in full), and `steps`. An unlisten is answered
/// at once, unless the scenario has `"unlistens": "late"`. A step has
/// - `do`: one input, in the words of `ScenarioInput`; `times`: how often it is given, once if left out;
/// - `events`: what listeners are told, in order; none if left out;
/// - `sends`, `ends`: what the origin is told, and what requests came to; not looked at if left out.
///   `knowing JSON` after a listen and `if JSON` after a compare say of what the hash is that is sent;
/// - `shows`: what must stand at some paths afterwards; `error`: the code of the error it must throw.
struct Scenario: Sendable, CustomTestStringConvertible {
  struct Step: Sendable {
    var input: String
    var times: Int
    var events: [String]
    var sends: [String]?
    var ends: [String]?
    var shows: [JSONMember]
    var error: String?
  }

  var file: String
  var name: String
  var start: JSONValue?
  var policy: String
  /// True if the origin answers an unlisten only when a step says so.
  var endsLate: Bool
  var steps: [Step]

  var testDescription: String { "\(file): \(name)" }

  /// Every scenario of the files whose names begin with `prefix`.
  static func all(_ prefix: String) throws -> [Scenario] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Scenarios")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    return try files.filter { $0.hasPrefix(prefix) && $0.hasSuffix(".json") }.flatMap { name in
      let bytes = try Data(contentsOf: folder.appending(path: name))
      let json = try JSONValue(parsing: String(decoding: bytes, as: UTF8.self))
      guard case .array(let scenarios)? = json["scenarios"] else {
        throw ScenarioError("\(name) has no scenarios")
      }
      return try scenarios.map { try Scenario($0, file: name) }
    }
  }

  private init(_ json: JSONValue, file: String) throws {
    self.file = file
    name = try json.text("name") ?? ""
    start = json["start"]
    policy = try json.text("policy") ?? "lastWriteWins"
    endsLate = try json.text("unlistens") == "late"
    guard case .array(let steps)? = json["steps"], !name.isEmpty else {
      throw ScenarioError("\(file): a scenario has a name and steps")
    }
    self.steps = try steps.map(Step.init)
  }
}

extension Scenario.Step {
  fileprivate init(_ json: JSONValue) throws {
    let known = ["do", "times", "events", "sends", "ends", "shows", "error"]
    guard case .object(let members) = json, let input = try json.text("do"),
      members.allSatisfy({ known.contains($0.name) })
    else { throw ScenarioError("a step has a do, and only known members: \(json.jsonText())") }
    self.input = input
    if case .number(let number)? = json["times"] {
      times = Int(number.integer ?? 1)
    } else {
      times = 1
    }
    events = try json.texts("events") ?? []
    sends = try json.texts("sends")
    ends = try json.texts("ends")
    error = try json.text("error")
    if case .object(let shown)? = json["shows"] { shows = shown } else { shows = [] }
  }
}

struct ScenarioError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}

extension JSONValue {
  fileprivate func text(_ name: String) throws -> String? {
    guard let member = self[name] else { return nil }
    guard case .string(let text) = member else { throw ScenarioError("\(name) is no text") }
    return text
  }

  fileprivate func texts(_ name: String) throws -> [String]? {
    guard let member = self[name] else { return nil }
    guard case .array(let elements) = member else { throw ScenarioError("\(name) is no list") }
    return try elements.map { element in
      guard case .string(let text) = element else { throw ScenarioError("\(name) holds no text") }
      return text
    }
  }
}
