package import RunnelBase
import RunnelStore
package import RunnelTree

// Pages of the database's history, as recorded sessions have them.

extension HistoryPage {
  package var log: JSONValue {
    [
      "entries": .array(entries.map(\.log)), "older": .bool(hasOlder), "limit": .int(limit),
    ]
  }

  init(log json: JSONValue) throws {
    let fields = LogFields(json)
    self.init(
      entries: try fields.array("entries").map { try HistoryEntry(log: $0) },
      hasOlder: try fields.bool("older"), limit: try fields.int("limit"))
  }
}

extension HistoryEntry {
  fileprivate var log: JSONValue {
    [
      "id": .number(JSONNumber(id)), "at": .number(JSONNumber(at)), "by": .string(author),
      "undoes": undoes.map { .number(JSONNumber($0)) } ?? .null,
      "parts": .array(parts.map(\.log)),
    ]
  }

  fileprivate init(log json: JSONValue) throws {
    let fields = LogFields(json)
    let undoes = try fields.value("undoes")
    self.init(
      id: try fields.int64("id"), at: try fields.int64("at"), author: try fields.string("by"),
      undoes: undoes == .null ? nil : try fields.int64("undoes"),
      parts: try fields.array("parts").map { try Part(log: $0) })
  }
}

extension PartialUndo {
  var log: JSONValue {
    ["left": .array(left.map(\.log)), "count": .int(count), "depth": .int(depth)]
  }

  init(log json: JSONValue) throws {
    let fields = LogFields(json)
    self.init(
      left: try fields.array("left").map { try HistoryEntry.Part(log: $0) },
      count: try fields.int("count"), depth: try fields.int("depth"))
  }
}

extension HistoryEntry.Part {
  fileprivate var log: JSONValue {
    var members = [
      JSONMember("path", .string(path.description)), JSONMember("priority", .bool(isPriority)),
    ]
    if let values {
      members += [JSONMember("old", values.old), JSONMember("new", values.new)]
    }
    switch before {
    case .value(let json): members.append(JSONMember("before", json))
    case .file(let suffix, let byteCount, let checksum):
      members += [
        JSONMember("file", .string(suffix)), JSONMember("bytes", .int(byteCount)),
        JSONMember("checksum", .string(String(checksum, radix: 16))),
      ]
    case nil: break
    }
    return .object(members)
  }

  fileprivate init(log json: JSONValue) throws {
    let fields = LogFields(json)
    var values: Values?
    if json["old"] != nil {
      values = Values(old: try fields.value("old"), new: try fields.value("new"))
    }
    var before = json["before"].map(Before.value)
    if json["file"] != nil {
      before = .file(
        suffix: try fields.string("file"), byteCount: try fields.int("bytes"),
        checksum: UInt64(try fields.string("checksum"), radix: 16) ?? 0)
    }
    self.init(
      path: try fields.path("path"), isPriority: try fields.bool("priority"), values: values,
      before: before)
  }
}
