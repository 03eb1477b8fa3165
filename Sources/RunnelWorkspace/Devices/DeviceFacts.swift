package import RunnelBase
import RunnelTerminal

/// The devices of the user who is signed in, as the list on the server has them.
package struct DeviceFacts: Hashable, Sendable {
  /// A device on which the user is signed in; times are in milliseconds since 1970.
  package struct Device: Hashable, Sendable {
    /// The id, which is random.
    package var id: String
    /// The name for people.
    package var name: String
    /// The operating system with its version.
    package var os: String
    /// The kind of device.
    package var type: String
    /// The version of the program; nil if it is not known.
    package var version: String?
    /// The time when the device was added; nil if it is not known.
    package var created: Int64?
    /// The time when the device was last seen; nil if it is not known.
    package var lastSeen: Int64?
    /// Whether the device is connected now.
    package var isOnline = false

    package init(id: String, name: String, os: String, type: String) {
      (self.id, self.name, self.os, self.type) = (id, name, os, type)
    }

    /// The name, or else the id.
    var title: String { name.isEmpty ? id : name }
  }

  /// The greatest number of devices that are shown; others are left out.
  package static let countMax = 200

  /// The devices, in the order in which they are listed.
  package private(set) var devices: [Device]
  /// The id of this device.
  package let here: String

  /// Makes the facts: this device comes first, then those seen last; at most `countMax` are kept.
  package init(_ devices: [Device], here: String) {
    self.here = here
    let sorted = devices.sorted { first, second in
      let isFirstHere = first.id == here
      if isFirstHere != (second.id == here) { return isFirstHere }
      return (second.lastSeen ?? 0, first.id) < (first.lastSeen ?? 0, second.id)
    }
    self.devices = Array(sorted.prefix(DeviceFacts.countMax))
  }

  /// Returns the device with an id, or nil.
  func device(_ id: String) -> Device? { devices.first { $0.id == id } }

  /// Returns the devices that were not seen for some days; neither this device, nor one that is
  /// connected, nor one of which no time is known.
  func unseen(forDays days: Int, now: Int64) -> [Device] {
    let first = now - Int64(days) * 86_400_000
    return devices.filter { device in
      guard device.id != here, !device.isOnline, let seen = device.lastSeen ?? device.created
      else { return false }
      return seen < first
    }
  }

  /// Stores new facts, and says which devices are new among them.
  static func take(_ state: inout AppState, _ facts: DeviceFacts) {
    let before = state.database.devices
    state.database.devices = facts
    DevicesScreen.refreshDevices(&state)
    guard let before, before.here == facts.here else { return }
    // A device whose entry is made again may get its name a moment later.
    let new = facts.devices.filter { device in
      let known = before.device(device.id)
      return device.id != facts.here && !device.name.isEmpty && known?.name.isEmpty ?? true
    }
    guard let first = new.first else { return }
    let name = first.os.isEmpty ? first.title : "\(first.title), \(first.os)"
    let words = new.count == 1 ? "a new device signed in: \(name)" : "\(new.count) new devices"
    state.say(
      .warning, words + KeyText.listKeys(state).hint(.devicesOpen, "lists your devices"))
  }
}

/// A request of the workspace about the user's devices.
package enum DeviceRequest: Hashable, Sendable {
  /// Give a device another name.
  case rename(String, to: String)
  /// Take a device away from the user: it signs out.
  case revoke(String)
  /// Remove the devices that were not seen for so many days.
  case prune(days: Int)
}

/// What became of a request about devices.
package struct DeviceOutcome: Hashable, Sendable {
  /// The number of devices that were removed.
  package var removed: Int
  /// Whether it is done later, when the server can be reached.
  package var isLater: Bool

  package init(removed: Int = 0, isLater: Bool = false) {
    (self.removed, self.isLater) = (removed, isLater)
  }
}

// MARK: - Recorded sessions

extension DeviceFacts {
  /// The facts as JSON, for recorded sessions; they hold no tokens.
  package var json: JSONValue {
    ["devices": .array(devices.map(\.json)), "here": .string(here)]
  }

  /// Reads facts that `json` wrote; nil if the JSON is something else.
  package init?(_ json: JSONValue) {
    guard let devices = json["devices"]?.array, let here = json["here"]?.string else { return nil }
    self.init(devices.compactMap { Device($0) }, here: here)
  }
}

extension DeviceFacts.Device {
  fileprivate var json: JSONValue {
    var members = [
      JSONMember("id", .string(id)), JSONMember("name", .string(name)),
      JSONMember("os", .string(os)), JSONMember("type", .string(type)),
      JSONMember("online", .bool(isOnline)),
    ]
    if let version { members.append(JSONMember("version", .string(version))) }
    for (key, time) in [("created", created), ("seen", lastSeen)] {
      if let time { members.append(JSONMember(key, .number(JSONNumber(time)))) }
    }
    return .object(members)
  }

  fileprivate init?(_ json: JSONValue) {
    guard let id = json["id"]?.string else { return nil }
    let text = { (name: String) in json[name]?.string ?? "" }
    self.init(id: id, name: text("name"), os: text("os"), type: text("type"))
    (isOnline, version) = (json["online"] == true, json["version"]?.string)
    created = json["created"]?.int.map { Int64($0) }
    lastSeen = json["seen"]?.int.map { Int64($0) }
  }
}

extension DeviceOutcome {
  package var log: JSONValue { ["removed": .int(removed), "later": .bool(isLater)] }

  package init(log json: JSONValue) throws {
    let fields = LogFields(json)
    self.init(removed: try fields.int("removed"), isLater: try fields.bool("later"))
  }
}
