import RunnelBase

extension Write {
  /// The places whose values are times that the origin sets; times of priorities are left out.
  ///
  /// O(n) in the write.
  package var timePlaces: [Path] {
    serverValuePlaces { $0 == .string("timestamp") }
  }

  /// The places whose values the origin computes; priorities are left out.
  ///
  /// O(n) in the write.
  var serverValuePlaces: [Path] { serverValuePlaces { _ in true } }

  private func serverValuePlaces(where isSought: (JSONValue) -> Bool) -> [Path] {
    var places: [Path] = []
    switch self {
    case .set(let path, let json): Write.add(valuesOf: json, at: path, to: &places, isSought)
    case .update(let path, let members):
      for member in members where member.value.holdsServerValue {
        // A name that ends with `.priority` is no path.
        guard let name = try? Path(member.name) else { continue }
        let place = Path(unchecked: path.keys + name.keys)
        Write.add(valuesOf: member.value, at: place, to: &places, isSought)
      }
    case .copy, .move: break
    }
    return places
  }

  private static func add(
    valuesOf json: JSONValue, at path: Path, to places: inout [Path],
    _ isSought: (JSONValue) -> Bool
  ) {
    guard json.holdsServerValue else { return }
    if let operation = json[ReservedName.serverValue], isSought(operation) {
      return places.append(path)
    }
    switch json {
    case .null, .bool, .number, .string: break
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        add(valuesOf: element, at: path.below(String(index)), to: &places, isSought)
      }
    case .object(let members):
      for member in members {
        if member.name == ReservedName.value {
          add(valuesOf: member.value, at: path, to: &places, isSought)
        } else if Key.refusal(of: member.name) == nil {
          add(valuesOf: member.value, at: path.below(member.name), to: &places, isSought)
        }
      }
    }
  }
}

extension Path {
  fileprivate func below(_ key: String) -> Path { Path(unchecked: keys + [Key(unchecked: key)]) }
}
