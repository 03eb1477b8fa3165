import RunnelBase
import RunnelNetwork
import RunnelTree

// What a write would take from a server's database for good.

extension RemoteDatabase {
  /// What stands at a place, as far as it was read.
  private enum Standing {
    case nothing
    /// At most as much as a history keeps.
    case small(isValue: Bool)
    /// More than a history keeps.
    case large(isValue: Bool)
    /// The server does not say: its answer to the write tells why.
    case unreadable
  }

  /// The most places of an update of which each is read by itself.
  private static let placesMax = 100
  /// The most places that are read before the place that holds all of them is.
  private static let placesAtOnceMax = 8

  /// Asks for consent to set a place, if what it replaces is too large to be brought back.
  ///
  /// - Throws: `Failure` if the user does not consent, or the server does not respond.
  func requireConsent(isGiven: Bool, toLose path: Path, by json: JSONValue) throws {
    guard !isGiven, let lost = try lost(path, isRemoved: json.isNull) else { return }
    try requireConsent("replace", lost)
  }

  /// Asks for consent to remove a place, if it is too large to be brought back.
  ///
  /// - Throws: `Failure` if the user does not consent, or the server does not respond.
  func requireConsent(isGiven: Bool, toRemoveLarge path: Path) throws {
    guard !isGiven, let lost = try lost(path, isRemoved: true) else { return }
    try requireConsent("remove", lost)
  }

  /// Asks for consent to write members below a place, if one replaces what is too large to be brought back.
  ///
  /// - Throws: `Failure` if the user does not consent, or the server does not respond.
  func requireConsent(isGiven: Bool, toLose members: [JSONMember], below place: Path) throws {
    if isGiven { return }
    // A name that is no path is refused with the write.
    let paths = members.compactMap { member in
      (try? Path(member.name)).flatMap { try? place.appending($0) }
        .map { (path: $0, isRemoved: member.value.isNull) }
    }
    if paths.count > RemoteDatabase.placesAtOnceMax {
      switch try standing(at: place) {
      case .small: return
      case .large(isValue: true): return try requireConsent("replace", place)
      case .nothing:
        if let lost = try lost(place, isRemoved: false) { try requireConsent("replace", lost) }
        return
      case .large(isValue: false), .unreadable: break
      }
    }
    if paths.count > RemoteDatabase.placesMax {
      return try Consent(isGiven: false).require(
        "Write \(paths.count) values below \(placeWords(place))? They are too many to find out "
          + "what they replace, and nothing brings back more than 64 KiB.",
        because: "This would write \(paths.count) values below \(placeWords(place)), which are too "
          + "many to find out what they replace.")
    }
    for (path, isRemoved) in paths {
      if let lost = try lost(path, isRemoved: isRemoved) { try requireConsent("replace", lost) }
    }
  }

  private func requireConsent(_ deed: String, _ path: Path) throws {
    let place = words(path)
    let asked = deed.prefix(1).uppercased() + deed.dropFirst()
    try Consent(isGiven: false).require(
      "\(asked) \(place)? It is larger than 64 KiB, and nothing brings back so much.",
      because:
        "This would \(deed) \(place), which is larger than 64 KiB: nothing brings back so much.")
  }

  /// Returns the place of what a write would destroy and no history keeps: the path, or a place above it that
  /// holds a value; nil if there is none.
  ///
  /// A removal leaves a value above the path as it is.
  private func lost(_ path: Path, isRemoved: Bool) throws -> Path? {
    var place = path
    while true {
      switch try standing(at: place, isShallow: place != path) {
      case .large(let isValue): return isValue || place == path ? place : nil
      case .small, .unreadable: return nil
      case .nothing:
        guard !isRemoved, let parent = place.parent else { return nil }
        place = parent
      }
    }
  }

  /// Reads the beginning of what stands at a place: a little more than a history keeps at most.
  ///
  /// With `isShallow`, only keys are read of a place that holds more than a value.
  private func standing(at path: Path, isShallow: Bool = false) throws -> Standing {
    let max = History.valueBytesMax
    var bytes: [UInt8] = []
    do {
      let exchange = try get(Query(path), isShallow ? [(name: "shallow", value: "true")] : [])
      // The rest is given up with the connection.
      defer { exchange.close() }
      while bytes.count <= max, let piece = try exchange.next() { bytes += piece }
    } catch let error as NetworkError {
      throw Failure("\(error.message) Nothing was changed.", status: .retryable)
    } catch let failure as Failure {
      if failure.status == .retryable { throw failure }
      // Other servers limit what is read at once.
      let isTooLarge = failure.message.contains("exceeds the maximum size")
      return isTooLarge ? .large(isValue: false) : .unreadable
    }
    let text = bytes.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    let isValue = text.first.map { ![UInt8(ascii: "{"), UInt8(ascii: "[")].contains($0) } ?? true
    if bytes.count > max { return .large(isValue: isValue) }
    return text.starts(with: Array("null".utf8)) ? .nothing : .small(isValue: isValue)
  }
}
