package import RunnelBase
package import RunnelStore
package import RunnelTree

/// Reads the members of an object of a recorded session.
package struct LogFields {
  package let json: JSONValue

  package init(_ json: JSONValue) { self.json = json }

  package func value(_ name: String) throws(ActionLogError) -> JSONValue {
    if let value = json[name] { return value }
    throw ActionLogError(.malformed, "\"\(name)\" is missing.")
  }

  package func fields(_ name: String) throws(ActionLogError) -> LogFields {
    LogFields(try value(name))
  }

  package func string(_ name: String) throws(ActionLogError) -> String {
    guard case .string(let text) = try value(name) else { throw misfit(name, "a text") }
    return text
  }

  package func bool(_ name: String) throws(ActionLogError) -> Bool {
    guard case .bool(let value) = try value(name) else { throw misfit(name, "true or false") }
    return value
  }

  package func int64(_ name: String) throws(ActionLogError) -> Int64 {
    guard let integer = LogFields.integer(try value(name)) else {
      throw misfit(name, "a whole number")
    }
    return integer
  }

  package func int(_ name: String) throws(ActionLogError) -> Int { Int(try int64(name)) }

  package func array(_ name: String) throws(ActionLogError) -> [JSONValue] {
    guard case .array(let elements) = try value(name) else { throw misfit(name, "a list") }
    return elements
  }

  package func strings(_ name: String) throws(ActionLogError) -> [String] {
    var texts: [String] = []
    for element in try array(name) {
      guard case .string(let text) = element else { throw misfit(name, "a list of texts") }
      texts.append(text)
    }
    return texts
  }

  /// Returns a list of texts; empty if the member is missing, as in old recordings.
  package func stringsIfAny(_ name: String) throws(ActionLogError) -> [String] {
    json[name] == nil ? [] : try strings(name)
  }

  /// Returns a text; nil if the member is missing, as in old recordings.
  package func stringIfAny(_ name: String) throws(ActionLogError) -> String? {
    json[name] == nil ? nil : try string(name)
  }

  /// Returns a key; nil if the member is missing, as in old recordings, or null.
  func keyIfAny(_ name: String) throws -> RunnelTree.Key? {
    guard let value = json[name], value != .null else { return nil }
    return try RunnelTree.Key(string(name))
  }

  /// Returns a list of lists with `count` whole numbers each; empty if the member is missing.
  func integers(_ name: String, by count: Int) throws(ActionLogError) -> [[Int]] {
    guard json[name] != nil else { return [] }
    var lists: [[Int]] = []
    for element in try array(name) {
      guard case .array(let numbers) = element else { throw misfit(name, "a list of lists") }
      let integers = numbers.compactMap { LogFields.integer($0) }.map { Int($0) }
      if integers.count != count || numbers.count != count {
        throw misfit(name, "a list of \(count) numbers each")
      }
      lists.append(integers)
    }
    return lists
  }

  /// Returns a list of whole numbers.
  func integers(_ name: String) throws(ActionLogError) -> [Int] {
    let elements = try array(name)
    let integers = elements.compactMap { LogFields.integer($0).map { Int($0) } }
    guard integers.count == elements.count else { throw misfit(name, "a list of numbers") }
    return integers
  }

  package func path(_ name: String) throws -> Path { try Path(string(name)) }

  package func misfit(_ name: String, _ expected: String) -> ActionLogError {
    ActionLogError(.malformed, "\"\(name)\" is not \(expected).")
  }

  package static func integer(_ json: JSONValue) -> Int64? {
    if case .number(let number) = json { number.integer } else { nil }
  }
}

extension JSONValue {
  /// Makes the JSON of a whole number.
  package static func int(_ integer: Int) -> JSONValue { .number(JSONNumber(Int64(integer))) }

  /// Makes the JSON of a list of texts.
  package static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}
