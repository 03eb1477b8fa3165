import RunnelBase
import RunnelTerminal
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The list of the user's devices, as the user sees it.
@Suite struct DevicesTests {
  private static let day: Int64 = 86_400_000

  private static func device(
    _ id: String, _ name: String, seenDays: Int64, version: String? = "0.1.0",
    isOnline: Bool = false
  ) -> DeviceFacts.Device {
    var device = DeviceFacts.Device(id: id, name: name, os: "Debian 13", type: "Linux")
    device.version = version
    device.created = Fixture.now - 100 * day
    device.lastSeen = Fixture.now - seenDays * day
    device.isOnline = isOnline
    return device
  }

  static let facts = DeviceFacts(
    [
      device("phone", "Phone", seenDays: 30), device("desk", "Desk", seenDays: 1, isOnline: true),
      device("laptop", "Old laptop", seenDays: 95, version: nil),
      device("work", "Work", seenDays: 2, isOnline: true),
    ], here: "desk")

  private func open(
    _ facts: DeviceFacts? = facts, isReadOnly: Bool = false
  ) throws -> AppDriver {
    let app = try AppDriver(
      Fixture.views(), json: Fixture.small, origin: isReadOnly ? nil : "home",
      isReadOnly: isReadOnly, isRecording: true)
    app.take(.accounts(AccountTests.facts))
    if let facts { app.take(.devices(facts)) }
    return app
  }

  /// The last request about devices, and its id.
  private func request(_ app: AppDriver) -> (id: AppRequestID, request: DeviceRequest)? {
    for case .device(let id, let request) in app.screenEffects.reversed() { return (id, request) }
    return nil
  }

  private func answer(_ app: AppDriver, _ answer: Answer) throws {
    app.take(.answered(try #require(request(app)).id, answer))
  }

  // MARK: Showing

  @Test func devicesAreListedThisOneFirstAndThenThoseSeenLast() throws {
    let app = try open()
    app.strike("gD")
    let lines = app.body.filter { $0.contains("Debian 13") }
    let start = { (name: String) in lines.firstIndex { $0.contains(name) } }
    #expect(lines.count == 4)
    #expect([start("Desk"), start("Work"), start("Phone"), start("Old laptop")] == [0, 1, 2, 3])
    #expect(lines[0].contains("Desk        here    Debian 13, Linux  0.1.0  "), "\(lines)")
    #expect(!lines[0].contains("seen"), "who is connected is seen now")
    #expect(lines[1].contains("online"))
    #expect(lines[3].contains("seen 13w   added 14w"), "\(lines)")
    #expect(app.screen[0].contains("devices"))
    #expect(app.cursorLine.contains("Desk"))
  }

  @Test func listIsBroughtUpToDateAndTheCursorStaysOnItsDevice() throws {
    let app = try open()
    app.strike("gD j")
    #expect(app.cursorLine.contains("Work"))
    let rest = Self.facts.devices.filter { $0.id != "phone" }
    app.take(.devices(DeviceFacts(rest.reversed(), here: "desk")))
    #expect(app.cursorLine.contains("Work"))
    #expect(app.line(of: "Phone") == nil)
    app.strike("Esc")
    #expect(app.line(of: "Your devices") == nil)
  }

  @Test func newDeviceIsToldWithItsSystem() throws {
    let app = try open(nil)
    app.take(.devices(Self.facts))
    // The first list tells nothing new.
    #expect(!app.toast.contains("device"))
    let tablet = Self.device("tablet", "Tablet", seenDays: 0)
    app.take(.devices(DeviceFacts(Self.facts.devices + [tablet], here: "desk")))
    #expect(
      app.toast == "a new device signed in: Tablet, Debian 13 · gD lists your devices")
    app.wait(milliseconds: 10_000)
    app.take(.devices(DeviceFacts(Self.facts.devices, here: "desk")))
    #expect(app.toast.isEmpty)
  }

  @Test func newDeviceIsToldOnceItHasAName() throws {
    let app = try open(nil)
    app.take(.devices(Self.facts))
    let nameless = Self.device("tablet", "", seenDays: 0)
    app.take(.devices(DeviceFacts(Self.facts.devices + [nameless], here: "desk")))
    #expect(app.toast.isEmpty)
    let tablet = Self.device("tablet", "Tablet", seenDays: 0)
    app.take(.devices(DeviceFacts(Self.facts.devices + [tablet], here: "desk")))
    #expect(app.toast.hasPrefix("a new device signed in: Tablet"))
  }

  @Test func agesOfAnOpenListAreDrawnAnewEachMinute() throws {
    let app = try open(Self.facts)
    app.wait(milliseconds: 20_000)
    #expect(DevicesScreen.agesDue(app.state) == nil)
    app.press("gD")
    let due = try #require(DevicesScreen.agesDue(app.state))
    #expect(due > app.state.now && due <= app.state.now + 60_000)
    #expect(try #require(StateReducer.deadline(app.state)) <= due)
  }

  @Test func reasonIsSaidWhereNoDevicesAreListed() throws {
    let app = try open(nil)
    app.strike("gD")
    #expect(app.toast == "devices are listed for profiles with `devices`")
    app.take(.accounts(AccountTests.ended))
    app.strike("gD")
    #expect(app.toast == "The session has ended.")
    app.take(.accounts(AccountFacts()))
    app.strike("gD")
    #expect(app.toast == "devices belong to an account: sign in")
  }

  @Test func reasonNamesTheOptionThatForgetsAccounts() throws {
    var mark = ProfileMark("prod")
    mark.omitsDevices = true
    #expect(ProfileMark(mark.json) == mark)
    let app = try AppDriver(
      Fixture.views(), json: Fixture.small, profile: mark, isRecording: true)
    app.take(.accounts(AccountTests.facts))
    app.strike("gD")
    #expect(app.toast == "devices are not listed with --no-keep")
  }

  @Test func devicesBeyondTheLimitAreLeftOut() {
    let many = (0..<300).map { Self.device("d\($0)", "n", seenDays: 1) }
    #expect(DeviceFacts(many, here: "").devices.count == DeviceFacts.countMax)
  }

  // MARK: Renaming

  @Test func deviceIsRenamedByAForm() throws {
    let app = try open()
    app.strike("gD j e")
    #expect(app.form?.fields.map(\.input.editor.text) == ["Work"])
    app.type(" desk")
    app.press("Enter")
    #expect(request(app)?.request == .rename("work", to: "Work desk"))
    #expect(app.form == nil)
    try answer(app, .devices(DeviceOutcome()))
    #expect(app.toast == "the device is now Work desk")
  }

  @Test func nameComesBackWithTheReasonIfItIsRefused() throws {
    let app = try open()
    app.strike("gD e C-u")
    app.press("Enter")
    #expect(app.line(of: "is missing.") != nil)
    app.type(String(repeating: "é", count: 129))
    app.press("Enter")
    #expect(app.line(of: "a name has at most 256 bytes") != nil)
    #expect(request(app) == nil)
    app.press("C-u")
    app.type("New desk")
    app.press("Enter")
    try answer(app, .refused(Refusal("The rules refuse it.")))
    #expect(app.form?.fields.map(\.input.editor.text) == ["New desk"])
    #expect(app.line(of: "The rules refuse it.") != nil)
  }

  // MARK: Revoking

  @Test func deviceIsRevokedAfterAQuestion() throws {
    let app = try open()
    app.strike("gD j d")
    #expect(app.line(of: "Revoke the device") != nil)
    #expect(app.line(of: "change the password too") != nil)
    app.wait(milliseconds: 200)
    app.press("n")
    #expect(request(app) == nil)
    app.press("d")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(request(app)?.request == .revoke("work"))
    try answer(app, .devices(DeviceOutcome(isLater: true)))
    #expect(app.toast == "this is done when the server can be reached")
  }

  @Test func thisDeviceIsNotRevokedButSignedOut() throws {
    let app = try open()
    app.strike("gD d")
    #expect(app.toast == "you are here: sign out instead · A lists the accounts")
    #expect(app.line(of: "Revoke the device") == nil)
  }

  @Test func theNumberBesideTheTabsIsThatOfTheDevices() throws {
    let app = try open()
    let before = app.screen[1]
    app.strike("gD")
    let count = DevicesTests.facts.devices.count
    #expect(app.screen[1].hasSuffix(" \(count) devices"), "\(app.screen[1])")
    app.press("q")
    #expect(app.screen[1] == before && !app.state.session.isLeaving)
  }

  @Test func devicesNotSeenForSomeDaysAreRemovedAfterAQuestion() throws {
    let app = try open()
    app.strike("gD X")
    #expect(app.line(of: "Remove a device not seen for 90 days") != nil)
    #expect(app.line(of: "Old laptop") != nil)
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(request(app)?.request == .prune(days: 90))
    try answer(app, .devices(DeviceOutcome(removed: 1)))
    #expect(app.toast == "1 device was removed")
    app.strike("2 0 X")
    #expect(app.line(of: "Remove 2 devices not seen for 20 days") != nil)
    app.press("Enter")
    #expect(app.toast == "nothing was removed" && app.line(of: "Remove 2 devices") == nil)
    // A device that is connected stays.
    app.strike("2 0 0 X")
    #expect(app.toast == "each device was seen in the last 200 days")
  }

  @Test func nothingIsChangedWhileWritingIsOff() throws {
    let app = try open(isReadOnly: true)
    for key in ["e", "d", "X"] {
      app.strike("gD j \(key)")
      #expect(app.toast.hasPrefix("read-only"), "\(key)")
      app.strike("Esc")
    }
    #expect(request(app) == nil)
  }

  // MARK: Recording

  @Test func recordedSessionHasTheDevicesAndIsReplayed() throws {
    let app = try open()
    app.strike("gD j d")
    app.wait(milliseconds: 200)
    app.press("y")
    try answer(app, .devices(DeviceOutcome(removed: 2, isLater: true)))
    let replay = try SessionReplay(parsing: app.recording, file: "recording")
    #expect(replay.state.database.devices == Self.facts)
    #expect(replay.state.toast == app.state.toast)
    #expect(DeviceFacts(Self.facts.json) == Self.facts)
    #expect(DeviceFacts(.null) == nil)
  }
}
