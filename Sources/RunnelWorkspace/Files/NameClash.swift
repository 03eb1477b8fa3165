package import RunnelBase
import RunnelTree

/// Two names in one object that are written as the same key: `k.` and `k%2E`.
package struct NameClash: Hashable, Sendable {
  private let names: [String]
  private let key: String
  /// The object that has both, as a path in the data.
  private var place = ""

  /// Finds the first ones in a value; nil if there are none.
  ///
  /// O(n) in the value.
  package init?(in json: JSONValue) {
    switch json {
    case .object(let members):
      if let found = NameClash(of: members) {
        self = found
        return
      }
      for member in members {
        guard let found = NameClash(in: member.value) else { continue }
        self = found.below(member.name)
        return
      }
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        guard let found = NameClash(in: element) else { continue }
        self = found.below(String(index))
        return
      }
    case .null, .bool, .number, .string: break
    }
    return nil
  }

  private init?(of members: [JSONMember]) {
    let renamed = members.filter { !WritableKey.key(of: $0.name).text.hasSameBytes(as: $0.name) }
    // Names that are keys themselves are all different.
    if renamed.isEmpty { return nil }
    var names: [Key: String] = [:]
    for member in members {
      let key = WritableKey.key(of: member.name)
      if let other = names.updateValue(member.name, forKey: key) {
        self.names = [other, member.name]
        self.key = key.text
        return
      }
    }
    return nil
  }

  private func below(_ name: String) -> NameClash {
    var clash = self
    clash.place = "/" + name + place
    return clash
  }

  /// What is wrong, in words that may stand behind a colon.
  var reason: String {
    let shown = names.map { JSONValue.string(ControlCharacters.escapedLine($0)).jsonText() }
    let within = place.isEmpty ? "" : " in \(ControlCharacters.escapedLine(place))"
    return "the names \(shown[0]) and \(shown[1])\(within) would be one key, "
      + ControlCharacters.escapedLine(key)
  }

  /// What is said about them, with what to do.
  package var sentence: String {
    "\(reason), and one of their values would be lost: give one of them another name in the file."
  }
}
