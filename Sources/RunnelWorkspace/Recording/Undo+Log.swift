package import RunnelBase
import RunnelStore
package import RunnelStreams
import RunnelTree

// Entries of the action log that can be undone, as recorded sessions have them.

extension RunnelStreams.ActionLogEntry {
  package var log: JSONValue {
    [
      "id": .string(id.text), "at": .number(JSONNumber(at)), "by": .string(author),
      "resource": .string(resource), "key": .string(key.text), "kind": .string(kind.rawValue),
      "path": .string(path.description), "old": old, "new": new,
      "context": .object(
        context.sorted { $0.key < $1.key }.map { JSONMember($0.key, .string($0.value.text)) }),
      "cascaded": .bool(isCascaded), "cut": .bool(isCut),
    ]
  }

  package init(log json: JSONValue) throws {
    let fields = LogFields(json)
    guard let kind = ResourceChangeKind(rawValue: try fields.string("kind")),
      case .object(let members) = try fields.value("context")
    else { throw fields.misfit("kind", "what becomes of a record") }
    var context: [String: Key] = [:]
    for member in members {
      context[member.name] = try Key(LogFields(["key": member.value]).string("key"))
    }
    self.init(
      id: try Key(fields.string("id")), at: try fields.int64("at"),
      author: try fields.string("by"), resource: try fields.string("resource"),
      key: try Key(fields.string("key")), kind: kind, path: try fields.path("path"),
      old: try fields.value("old"), new: try fields.value("new"), context: context,
      isCascaded: try fields.bool("cascaded"), isCut: try fields.bool("cut"))
  }
}
