import RunnelBase

extension Write {
  /// The places whose values are times that the origin sets; times of priorities are left out.
  ///
  /// O(n) in the write.
  package var timePlaces: [Path] {
    var places: [Path] = []
    switch self {
    case .set(let path, let json): Write.addTimes(of: json, at: path, to: &places)
    case .update(let path, let members):
      for member in members where member.value.holdsServerValue {
        // A name that ends with `.priority` is no path.
        guard let name = try? Path(member.name) else { continue }
        let place = Path(unchecked: path.keys + name.keys)
        Write.addTimes(of: member.value, at: place, to: &places)
      }
    case .copy, .move: break
    }
    return places
  }

  private static func addTimes(of json: JSONValue, at path: Path, to places: inout [Path]) {
    guard json.holdsServerValue else { return }
    if json[ReservedName.serverValue] == .string("timestamp") { return places.append(path) }
    switch json {
    case .null, .bool, .number, .string: break
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        addTimes(of: element, at: path.below(String(index)), to: &places)
      }
    case .object(let members):
      for member in members {
        if member.name == ReservedName.value {
          addTimes(of: member.value, at: path, to: &places)
        } else if Key.refusal(of: member.name) == nil {
          addTimes(of: member.value, at: path.below(member.name), to: &places)
        }
      }
    }
  }
}

extension Path {
  fileprivate func below(_ key: String) -> Path { Path(unchecked: keys + [Key(unchecked: key)]) }
}
