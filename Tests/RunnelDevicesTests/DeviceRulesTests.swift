import RunnelBase
import RunnelDevices
import RunnelSync
import RunnelTree
import Testing

/// The rules for the lists of devices, decided by the engine of the server.
@Suite struct DeviceRulesTests {
  private let engine: RulesEngine
  private static let entry: JSONValue = [
    "deviceId": "d1", "fcmToken": "t", "name": "n", "os": "o", "type": "Linux",
  ]
  private static let before: JSONValue = [
    "user-devices": [
      "ana": [
        "userId": "ana",
        "devices": ["d2": ["deviceId": "d2", "fcmToken": "", "name": "n", "os": "o", "type": "t"]],
        "deviceStates": ["gone": ["revoked": 5_500, "created": 1]],
      ]
    ]
  ]

  init() throws { engine = try RulesEngine(json: ["rules": DeviceRules.tree()]) }

  private func verdict(
    _ operation: (MemoryTree) throws -> RulesOperation, as user: String?,
    signedIn time: Int64? = nil
  ) throws -> RulesVerdict {
    let before = MemoryTree(try Node(json: Self.before))
    let token: JSONValue = time.map { ["auth_time": .number(JSONNumber($0))] } ?? [:]
    let auth: JSONValue = user.map { ["uid": .string($0), "token": token] } ?? .null
    return try engine.decide(operation(before), as: auth, now: 0, before: before)
  }

  private func update(
    _ user: String?, _ values: [(String, JSONValue)], list: String = "ana",
    signedIn time: Int64? = nil
  ) throws -> RulesVerdict {
    try verdict(
      { before in
        let write = Write.update(
          try Path("user-devices/\(list)"), values.map { JSONMember($0.0, $0.1) })
        return .write(try write.assignments(now: 0, reader: before))
      }, as: user, signedIn: time)
  }

  @Test func onlyTheOwnerReadsAndWrites() throws {
    for (user, isAllowed) in [("ana", true), ("bo", false), (nil, false)] as [(String?, Bool)] {
      let read = try verdict({ _ in .read(try Path("user-devices/ana")) }, as: user)
      #expect((read == .allowed) == isAllowed)
      let write = try update(user, [("userId", "ana"), ("devices/d1", Self.entry)])
      #expect((write == .allowed) == isAllowed, "\(user ?? "nobody")")
      let removal = try update(user, [("devices/d2", .null)])
      #expect((removal == .allowed) == isAllowed)
    }
    #expect(try verdict({ _ in .read(try Path("user-devices")) }, as: "ana") != .allowed)
    #expect(try update("bo", [("devices/d1", Self.entry)], list: "bo") == .allowed)
  }

  @Test func anEntryHasExactlyItsFields() throws {
    let members = Self.entry.object ?? []
    for missing in members.map(\.name) {
      let entry = JSONValue.object(members.filter { $0.name != missing })
      #expect(try update("ana", [("devices/d1", entry)]) != .allowed, "\(missing)")
    }
    let more = JSONValue.object(members + [JSONMember("admin", true)])
    #expect(try update("ana", [("devices/d1", more)]) != .allowed)
    #expect(try update("ana", [("devices/other", Self.entry)]) != .allowed)
    #expect(try update("ana", [("devices/d2/name", "new")]) == .allowed)
    #expect(try update("ana", [("devices/d1/name", "new")]) != .allowed, "there is no such entry")
    #expect(try update("ana", [("userId", "bo")]) != .allowed)
    #expect(try update("ana", [("else", 1)]) != .allowed)
  }

  @Test func aRevokedDeviceComesBackOnlyByANewSignIn() throws {
    let entry: JSONValue = [
      "deviceId": "gone", "fcmToken": "t", "name": "n", "os": "o", "type": "t",
    ]
    #expect(try update("ana", [("devices/gone", entry)]) != .allowed)
    let back: [(String, JSONValue)] = [
      ("devices/gone", entry), ("deviceStates/gone/revoked", .null),
    ]
    #expect(try update("ana", back) == .allowed)
    #expect(try update("ana", back, signedIn: 6) == .allowed)
    #expect(try update("ana", back, signedIn: 5) != .allowed, "within the second")
    #expect(try update("ana", back, signedIn: 4) != .allowed, "a write that waited")
    let revocation: [(String, JSONValue)] = [
      ("devices/d2", .null), ("deviceStates/d2/revoked", 7),
    ]
    #expect(try update("ana", revocation) == .allowed)
  }

  @Test func thePlaceCanBeDeeper() throws {
    let rules = DeviceRules.tree(collectionPath: "apps/chat/devices")
    let engine = try RulesEngine(json: ["rules": rules])
    let verdict = try engine.decide(
      .read(try Path("apps/chat/devices/ana")), as: ["uid": "ana"], now: 0, before: MemoryTree())
    #expect(verdict == .allowed)
    #expect(DeviceRules.firestore(collectionPath: "c").contains("match /c/{user}"))
  }
}
