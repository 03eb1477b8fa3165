package import RunnelBase
import RunnelTerminal

/// The list of the user's devices.
package struct DevicesScreen: Hashable, Sendable {
  private static let section = "devices"
  private static let rowPrefix = "device "
  /// The most columns of a name, a system with its kind, and a version.
  private static let (nameMax, systemMax, versionMax) = (30, 30, 12)

  private(set) var facts: DeviceFacts
  package private(set) var content = ListContent()
  package var list = ListState()

  init(_ facts: DeviceFacts, height: Int) {
    self.facts = facts
    show(facts, height: height)
  }

  /// The device under the cursor; nil if there is none.
  var cursorDevice: DeviceFacts.Device? {
    guard case .row(let id)? = list.cursor else { return nil }
    return device(ofRow: id)
  }

  private func device(ofRow id: String) -> DeviceFacts.Device? {
    facts.device(String(id.dropFirst(DevicesScreen.rowPrefix.count)))
  }

  /// Shows what is known of the devices now.
  mutating func show(_ facts: DeviceFacts, height: Int) {
    self.facts = facts
    let ids = facts.devices.map { DevicesScreen.rowPrefix + $0.id }
    let section = ListSection(
      id: DevicesScreen.section, rows: ids, emptyText: "no device is in the list")
    list.show(
      ListContent(sections: [section]), inPlaceOf: &content, height: height, first: ids.first)
  }
}

// MARK: - Drawing

extension DevicesScreen {
  private static let agesMilliseconds: Int64 = 60_000

  /// Returns the time at which the ages of the open list are drawn anew; nil if it is not open.
  static func agesDue(_ state: AppState) -> Int64? {
    guard case .devices? = state.layers.last else { return nil }
    return (state.now / agesMilliseconds + 1) * agesMilliseconds
  }
}

extension DevicesScreen {
  private var headings: [String: ListHeading] {
    let count = facts.devices.count
    return [
      DevicesScreen.section: ListHeading(
        title: StyledLine("Your devices", .sectionHeader),
        detail: StyledLine(count == 0 ? "" : "\(count)", .muted))
    ]
  }

  /// Returns the lines of the rows.
  ///
  /// O(n) in the devices, of which there are at most `DeviceFacts.countMax`.
  private func lines(now: Int64, _ glyphs: Glyphs) -> [String: StyledLine] {
    let devices = facts.devices
    let width = { (texts: [String], most: Int) in
      min(texts.map { CellWidth.width(of: $0) }.max() ?? 0, most)
    }
    let nameWidth = width(devices.map(\.title), DevicesScreen.nameMax)
    let systemWidth = width(devices.map(\.system), DevicesScreen.systemMax)
    let versionWidth = width(devices.map { $0.version ?? "" }, DevicesScreen.versionMax)
    let fitted = { (text: String, width: Int) in
      CellText.fitted(text, to: width, isRight: false, glyphs: glyphs)
    }
    var lines: [String: StyledLine] = [:]
    for device in devices {
      var line = StyledLine(" " + fitted(device.title, nameWidth) + "  ", .strong)
      let isHere = device.id == facts.here
      line.append(fitted(isHere ? "here" : device.isOnline ? "online" : "", 6) + "  ", .ok)
      line.append(fitted(device.system, systemWidth) + "  ")
      if versionWidth > 0 { line.append(fitted(device.version ?? "", versionWidth) + "  ", .muted) }
      // Who is connected is seen now.
      let away = isHere || device.isOnline ? nil : device.lastSeen
      let seen = away.map { "seen \(Age.text(of: $0, now: now))" } ?? ""
      let added = device.created.map { "added \(Age.text(of: $0, now: now))" } ?? ""
      line.append(fitted(seen, 9) + "  " + added, .muted)
      lines[DevicesScreen.rowPrefix + device.id] = line
    }
    return lines
  }
}

extension DeviceFacts.Device {
  /// The kind and the system, each once.
  fileprivate var system: String {
    if os.isEmpty { return type }
    return type.isEmpty || os.contains(type) ? os : "\(os), \(type)"
  }
}

// MARK: - The layer

extension DevicesScreen: ListLayer {
  var layer: Layer { .devices(self) }
  var summary: String { "devices" }
  var heading: String? { "devices" }

  func contexts(about hand: AtHand) -> [KeymapContext] { DevicesCommands.table.contexts }

  func depth(ofRow id: String) -> Int { 0 }

  var countWords: (one: String, several: String)? { ("device", "devices") }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    screen.drawLines(
      lines(now: screen.state.now, screen.glyphs), of: self, headings: headings, into: &canvas)
  }

  func text(ofRow id: String) -> String {
    device(ofRow: id).map { " \($0.title)  \($0.system)  \($0.version ?? "")" } ?? ""
  }

  func textColumn(ofRow id: String, width: Int) -> Int? { nil }
}
