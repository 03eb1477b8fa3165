import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The actions of the list of devices, and the answers to requests about devices.

extension DevicesScreen {
  /// The number of days after which a device that was not seen is removed, if no count is given.
  static let pruneDays = 90
  /// The greatest number of days: a hundred years.
  private static let daysMax = 36_500
  /// The most devices that a question names.
  private static let namedMax = 5
  private static let nameKey = RunnelTree.Key(unchecked: "name")
  /// The most bytes of a name.
  private static let nameBytesMax = 256

  static func openDevices(_ state: inout AppState) {
    guard let facts = state.database.devices else { return }
    state.layers.append(.devices(DevicesScreen(facts, height: state.height)))
  }

  /// Brings open lists up to date.
  static func refreshDevices(_ state: inout AppState) {
    guard let facts = state.database.devices else { return }
    for (index, layer) in state.layers.enumerated() {
      guard case .devices(var screen) = layer else { continue }
      screen.show(facts, height: state.height)
      state.layers[index] = .devices(screen)
    }
  }

  /// Sends a request about devices, and records its purpose.
  private static func ask(_ state: inout AppState, _ request: DeviceRequest) {
    let id = state.requests.add(.device(request))
    state.effects.append(.device(id, request))
  }

  private static func deviceAtHand(_ state: AppState) -> DeviceFacts.Device? {
    if case .devices(let screen)? = state.layers.last { screen.cursorDevice } else { nil }
  }

  // MARK: Renaming

  /// Opens the form for the name of the device under the cursor.
  static func openRename(_ state: inout AppState) {
    guard let device = deviceAtHand(state) else { return }
    state.layers.append(.form(renameForm(of: device.id, device.name)))
  }

  private static func renameForm(of device: String, _ name: String) -> FormScreen {
    let rule = FieldRule(nameKey, .text(), isRequired: true)
    let value: JSONValue = name.isEmpty ? .null : .string(name)
    var field = FormScreen.Field(
      "name", path: Path(unchecked: [nameKey]), FieldInput(rule: rule, value))
    // Unlike other texts, a name has one line.
    field.input.editor = LineEditor(name)
    return FormScreen(purpose: .renameDevice(device), title: "Rename the device", fields: [field])
  }

  /// Requests the name of a form; if it is not allowed, marks the field and returns false.
  static func rename(
    _ state: inout AppState, _ form: inout FormScreen, _ device: String,
    _ values: [(path: Path, value: JSONValue)]
  ) -> Bool {
    if let reason = state.reasonReadOnly { return form.refuse(form.focus, reason) }
    guard let name = values.first?.value.string, name.utf8.count <= nameBytesMax else {
      return form.refuse(form.focus, "a name has at most \(nameBytesMax) bytes")
    }
    ask(&state, .rename(device, to: name))
    return true
  }

  // MARK: Revoking and removing

  /// Asks whether to take the device under the cursor away.
  static func confirmRevoke(_ state: inout AppState) {
    guard let device = deviceAtHand(state) else { return }
    let question = Question(
      .revokeDevice(device.id), title: "Revoke the device",
      message: [
        StyledLine(device.title),
        StyledLine("it signs out as soon as it is connected", .warn),
        StyledLine("if it was stolen, change the password too", .muted),
      ],
      explanation: [
        StyledLine("It comes back to the list only by a new sign-in there.", .muted)
      ],
      openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "revoke", no: "keep")
  }

  static func revoke(_ state: inout AppState, _ device: String) {
    if state.refusesWriting() { return }
    ask(&state, .revoke(device))
    state.say(.info, "revoking the device")
  }

  /// Asks whether to remove the devices that were not seen for some days.
  static func confirmPrune(_ state: inout AppState, days: Int) {
    guard let facts = state.database.devices else { return }
    let days = min(max(days, 1), daysMax)
    let time = days == 1 ? "a day" : "\(days) days"
    let devices = facts.unseen(forDays: days, now: state.now)
    if devices.isEmpty { return state.say(.info, "each device was seen in the last \(time)") }
    var message = devices.prefix(namedMax).map { StyledLine($0.title) }
    if devices.count > namedMax {
      message.append(StyledLine("and \(devices.count - namedMax) more", .muted))
    }
    let words = devices.count == 1 ? "a device" : "\(devices.count) devices"
    let question = Question(
      .pruneDevices(days: days), title: "Remove \(words) not seen for \(time)", message: message,
      explanation: [
        StyledLine("A device that is still in use comes back when it connects.", .muted)
      ],
      openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "remove", no: "keep")
  }

  static func prune(_ state: inout AppState, days: Int) {
    if state.refusesWriting() { return }
    ask(&state, .prune(days: days))
    state.say(.info, "removing devices")
  }

  // MARK: Answers

  /// Says what became of a request; the list itself changes when the server tells it.
  static func finish(_ state: inout AppState, _ request: DeviceRequest, _ outcome: DeviceOutcome) {
    if outcome.isLater { return state.say(.info, "this is done when the server can be reached") }
    switch request {
    case .rename(_, let name): state.say(.info, "the device is now \(name)")
    case .revoke: state.say(.info, "the device is revoked")
    case .prune:
      let words = outcome.removed == 1 ? "1 device was" : "\(outcome.removed) devices were"
      state.say(.info, "\(words) removed")
    }
  }

  /// Says why a request failed; a name that was typed comes back with the reason.
  static func fail(_ state: inout AppState, _ request: DeviceRequest, _ refusal: Refusal) {
    if case .rename(let device, let name) = request, case .devices? = state.layers.last {
      var form = renameForm(of: device, name)
      _ = form.refuse(0, refusal.message)
      state.layers.append(.form(form))
    } else {
      state.say(.error, refusal.message)
    }
  }
}
