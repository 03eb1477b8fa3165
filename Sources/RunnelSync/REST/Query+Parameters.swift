import RunnelBase
public import RunnelTree

// Queries as requests over HTTP have them. Source: wire protocol, section C4.

/// The spelling of a query in a request, and that of the wire from which it is made.
private enum ParameterName {
  static let orderBy = "orderBy"
  static let startAt = "startAt"
  static let startAfter = "startAfter"
  static let endAt = "endAt"
  static let endBefore = "endBefore"
  static let limitToFirst = "limitToFirst"
  static let limitToLast = "limitToLast"

  static let minimumKey = "[MIN_NAME]"
  static let maximumKey = "[MAX_NAME]"
}

extension Query {
  /// The parameters that ask for what this query shows, not yet in percent encoding; none for all
  /// children.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) for a query that a server has no words for.
  package func requestParameters() throws(TreeError) -> [(name: String, value: String)] {
    let wire = try wireJSON()
    if loadsAllData, index == .key || index == .priority { return [] }
    var parameters = [(name: ParameterName.orderBy, value: JSONValue.string(orderName).jsonText())]
    if let value = wire["sp"] {
      let key = wire["sn"]?.string
      // Just before all keys of a value is at it; just after them all is after it.
      let isAt = key == ParameterName.minimumKey || (wire["sin"] != false && !isMaximum(key))
      parameters.append(
        (isAt ? ParameterName.startAt : ParameterName.startAfter, bound(value, key)))
    }
    if let value = wire["ep"] {
      let key = wire["en"]?.string
      let isAt = isMaximum(key) || (wire["ein"] != false && key != ParameterName.minimumKey)
      parameters.append((isAt ? ParameterName.endAt : ParameterName.endBefore, bound(value, key)))
    }
    if let limit {
      let name = limit.side == .first ? ParameterName.limitToFirst : ParameterName.limitToLast
      parameters.append((name, "\(limit.count)"))
    }
    return parameters
  }

  private var orderName: String {
    switch index {
    case .key: "$key"
    case .value: "$value"
    case .child(let path): path.keys.map(\.text).joined(separator: "/")
    case .priority, .compound: "$priority"
    }
  }

  private func isMaximum(_ key: String?) -> Bool { key == ParameterName.maximumKey }

  private func bound(_ value: JSONValue, _ key: String?) -> String {
    guard let key, key != ParameterName.minimumKey, key != ParameterName.maximumKey else {
      return value.jsonText()
    }
    return value.jsonText() + "," + JSONValue.string(key).jsonText()
  }
}

extension OriginAddress {
  /// Path and query of a request for a place below that of the address, or for the place itself.
  public func target(
    _ path: Path, _ parameters: [(name: String, value: String)] = []
  ) -> String {
    let keys = place.keys + path.keys
    let pieces = keys.map { PercentEncoding.encoded($0.text) }.joined(separator: "/")
    var all = parameters
    if let namespace { all.append((name: "ns", value: namespace)) }
    let query = all.map { "\($0.name)=\(PercentEncoding.encoded($0.value))" }
    return "/\(pieces).json" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
  }
}
