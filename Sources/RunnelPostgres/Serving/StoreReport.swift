import RunnelBase

/// What a server tells people with its lease: the changes that it has not told its clients yet.
package struct StoreReport: Hashable, Sendable {
  /// The beginning of the names in `meta`, in namespace 0, before the identifiers of servers.
  static let prefix = "follows."

  /// The number of changes by which the server is behind, by the name of the namespace; only those
  /// where it is.
  package var behind: [String: Int64]

  /// Makes a report.
  package init(behind: [String: Int64]) { self.behind = behind.filter { $0.value > 0 } }

  /// Reads a report; nil if it is none.
  init?(_ text: String) {
    guard case .object(let members)? = try? JSONValue(parsing: text) else { return nil }
    var behind: [String: Int64] = [:]
    for member in members {
      behind[member.name] = member.value.int.map { Int64($0) }
    }
    self.init(behind: behind)
  }

  /// The report for people.
  var words: String {
    if behind.isEmpty { return "up to date" }
    let parts = behind.sorted { $0.key < $1.key }.map { name, count in
      "\(count) \(count == 1 ? "change" : "changes") of \(name)"
    }
    return "behind by \(parts.joined(separator: ", "))"
  }

  var text: String {
    var json = JSONWriter()
    json.beginObject()
    for (name, count) in behind.sorted(by: { $0.key < $1.key }) {
      json.writeName(name)
      json.writeNumber(JSONNumber(count))
    }
    json.endObject()
    return String(decoding: json.bytes, as: UTF8.self)
  }
}
