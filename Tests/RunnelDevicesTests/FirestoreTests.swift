import AccountSimulation
import RunnelAccounts
import RunnelBase
import RunnelNetwork
import RunnelStore
import Synchronization
import TestSupport
import Testing

@testable import RunnelDevices

/// Cloud Firestore in memory: documents, masks, and a rule by which only the owner reads and writes.
final class FakeFirestore: Sendable {
  private struct State {
    var documents: [String: JSONValue] = [:]
    var commits: [JSONValue] = []
    var isOffline = false
    var refusedTokenCount = 0
    var status = 200
  }

  private let state = Mutex(State())

  var commits: [JSONValue] { state.withLock { $0.commits } }
  func setOffline(_ isOffline: Bool) { state.withLock { $0.isOffline = isOffline } }
  func answer(_ status: Int) { state.withLock { $0.status = status } }
  func refuseTokens(_ count: Int) { state.withLock { $0.refusedTokenCount = count } }
  func document(_ name: String) -> JSONValue? { state.withLock { $0.documents[name] } }
  func set(_ name: String, _ fields: JSONValue) { state.withLock { $0.documents[name] = fields } }

  private static let root = "projects/demo/databases/(default)/documents"

  var transport: IdentityToolkit.Transport {
    { (request: WebRequest) async throws(NetworkError) in
      try self.state.withLock { (state) throws(NetworkError) in
        if state.isOffline { throw NetworkError("it cannot be reached") }
        return FakeFirestore.answer(request, &state)
      }
    }
  }

  private static func answer(
    _ request: WebRequest, _ state: inout State
  ) -> (status: Int, body: [UInt8]) {
    if state.status != 200 { return (state.status, []) }
    let error = { (status: Int, text: String) -> (Int, [UInt8]) in
      let json: JSONValue = ["error": ["message": .string(text)]]
      return (status, json.jsonBytes())
    }
    let bearer = request.headers.first { $0.name == "Authorization" }?.value ?? ""
    let claims = FakeAccounts.State.claims(String(bearer.dropFirst("Bearer ".count)))
    guard let user = claims?["user_id"]?.string else { return error(401, "no token") }
    if state.refusedTokenCount > 0 {
      state.refusedTokenCount -= 1
      return error(401, "the token has expired")
    }
    let target = request.address.target
    if request.method == "GET" {
      let name = String(target.dropFirst("/v1/".count))
      guard name == "\(root)/user-devices/\(user)" else { return error(403, "not yours") }
      guard let fields = state.documents[name] else { return error(404, "none") }
      let json: JSONValue = ["name": .string(name), "fields": fields]
      return (200, json.jsonBytes())
    }
    guard request.method == "POST", target == "/v1/\(root):commit",
      let json = try? JSONValue(parsing: request.body ?? []), let writes = json["writes"]?.array
    else { return error(400, "no commit") }
    var documents = state.documents
    for write in writes {
      guard let name = write["update"]?["name"]?.string else { return error(400, "no name") }
      guard name == "\(root)/user-devices/\(user)" else { return error(403, "not yours") }
      if write["currentDocument"]?["exists"] == true, documents[name] == nil {
        return error(404, "none")
      }
      var fields = documents[name] ?? .object([])
      for path in write["updateMask"]?["fieldPaths"]?.array ?? [] {
        guard let names = parsed(path.string ?? "") else { return error(400, "a wrong path") }
        fields = replacing(fields, names[...], value(write["update"]?["fields"], names[...]))
      }
      documents[name] = fields
    }
    state.documents = documents
    state.commits.append(json)
    return (200, Array("{\"writeResults\":[]}".utf8))
  }

  /// The names of a path, with those in backticks unquoted.
  private static func parsed(_ path: String) -> [String]? {
    var names: [String] = []
    var rest = path[...]
    while !rest.isEmpty {
      var name = ""
      if rest.first == "`" {
        rest = rest.dropFirst()
        while let character = rest.first, character != "`" {
          rest = rest.dropFirst()
          if character == "\\" {
            guard let next = rest.popFirst() else { return nil }
            name.append(next)
          } else {
            name.append(character)
          }
        }
        if rest.popFirst() != "`" { return nil }
      } else {
        while let character = rest.first, character != "." {
          guard character.isLetter || character.isNumber || character == "_" else { return nil }
          name.append(character)
          rest = rest.dropFirst()
        }
      }
      names.append(name)
      if !rest.isEmpty, rest.popFirst() != "." { return nil }
    }
    return names.isEmpty ? nil : names
  }

  private static func value(_ fields: JSONValue?, _ names: ArraySlice<String>) -> JSONValue? {
    guard let first = names.first, let found = fields?[first] else { return nil }
    return names.count == 1 ? found : value(found["mapValue"]?["fields"], names.dropFirst())
  }

  private static func replacing(
    _ fields: JSONValue, _ names: ArraySlice<String>, _ new: JSONValue?
  ) -> JSONValue {
    guard let first = names.first else { return fields }
    var members = fields.object ?? []
    let index = members.firstIndex { $0.name == first }
    var value = new
    if names.count > 1 {
      let below = index.flatMap { members[$0].value["mapValue"]?["fields"] } ?? .object([])
      if index == nil, new == nil { return fields }
      value = ["mapValue": ["fields": replacing(below, names.dropFirst(), new)]]
    }
    if let index { members.remove(at: index) }
    if let value { members.append(JSONMember(first, value)) }
    return .object(members)
  }
}

/// The lists of devices in Cloud Firestore.
@Suite(.timeLimit(.minutes(1))) struct FirestoreTests {
  private let folder: String
  private let service = accountService()
  private let firestore = FakeFirestore()
  private static let name = "projects/demo/databases/(default)/documents/user-devices/ana"

  init() throws { folder = try temporaryFolder() }

  private func device(_ name: String) async throws -> TestDevice {
    let firestore = firestore
    return try await TestDevice(name, service, folder: folder) { session in
      FirestoreDeviceStorage(
        project: "demo", base: "http://localhost:1/", transport: firestore.transport
      ) { user, refused throws(AccountFailure) in
        try await session.idToken(of: user, refused: refused)
      }
    }
  }

  private func names(_ field: String) -> Set<String> {
    let map = firestore.document(Self.name)?[field]?["mapValue"]?["fields"]
    return Set((map?.object ?? []).map(\.name))
  }

  @Test func theCommitIsTheOneOfTheOrigin() async throws {
    let device = try await device("desk")
    try await device.signIn("ana")
    try await device.store.subscribe()
    let id = device.store.deviceID
    let write = try #require(firestore.commits.first?["writes"]?[0])
    let expected = """
      {"update":{"name":"\(Self.name)","fields":{"userId":{"stringValue":"ana"},"devices":\
      {"mapValue":{"fields":{"\(id)":{"mapValue":{"fields":{"deviceId":{"stringValue":"\(id)"},\
      "fcmToken":{"stringValue":"desk-0"},"name":{"stringValue":"desk"},"os":\
      {"stringValue":"TestOS 1"},"type":{"stringValue":"Linux"}}}}}}}}},\
      "updateMask":{"fieldPaths":["userId","devices.`\(id)`"]}}
      """
    #expect(write.jsonText() == expected)
    await device.session.signOut()
    let removal = try #require(firestore.commits.last?["writes"]?[0])
    #expect(removal["update"]?["fields"] == .object([]))
    #expect(
      removal["updateMask"]?["fieldPaths"] == [
        .string("devices.`\(id)`"), .string("deviceStates.`\(id)`"),
      ])
    #expect(names("devices").isEmpty && names("deviceStates").isEmpty)
    await device.close()
  }

  @Test func otherDevicesStay() async throws {
    let (desk, laptop) = (try await device("desk"), try await device("laptop"))
    for device in [desk, laptop] {
      try await device.signIn("ana")
      try await device.store.subscribe()
    }
    #expect(names("devices") == [desk.store.deviceID, laptop.store.deviceID])
    try await desk.store.rename(laptop.store.deviceID, to: "Laptop `2\\")
    let list = try await desk.store.devices()
    #expect(list.first { $0.id == laptop.store.deviceID }?.name == "Laptop `2\\")
    await desk.session.signOut()
    #expect(names("devices") == [laptop.store.deviceID])
    for device in [desk, laptop] { await device.close() }
  }

  @Test func aRevokedDeviceSignsOutAndComesBackByASignIn() async throws {
    let (desk, laptop) = (try await device("desk"), try await device("laptop"))
    for device in [desk, laptop] {
      try await device.signIn("ana")
      try await device.store.subscribe()
    }
    let id = laptop.store.deviceID
    try await desk.store.revoke(id)
    laptop.tokens.next()
    for await state in laptop.session.states {
      if case .ended(_, let failure) = state {
        #expect(failure.code == .revoked)
        break
      }
    }
    #expect(names("devices") == [desk.store.deviceID])
    try await laptop.signIn("ana")
    try await laptop.store.subscribe()
    #expect(names("devices") == [desk.store.deviceID, id])
    #expect(try await desk.store.devices().allSatisfy { $0.status.revoked == nil })
    for device in [desk, laptop] { await device.close() }
  }

  @Test func offlineSigningOutRemovesTheDeviceLater() async throws {
    let device = try await device("desk")
    try await device.signIn("ana")
    try await device.store.subscribe()
    firestore.setOffline(true)
    await device.session.signOut()
    #expect(await device.session.user == nil)
    #expect(names("devices") == [device.store.deviceID])
    firestore.setOffline(false)
    try await yieldUntil(stepsMax: 200_000) {
      await device.session.retryDepartures()
      return names("devices").isEmpty
    }
    await device.close()
  }

  @Test func aRefusedTokenIsExchangedOnce() async throws {
    let device = try await device("desk")
    try await device.signIn("ana")
    firestore.refuseTokens(1)
    try await device.store.subscribe()
    #expect(names("devices") == [device.store.deviceID])
    firestore.refuseTokens(2)
    let error = await #expect(throws: DeviceFailure.self) { try await device.store.devices() }
    #expect(error?.code == .notSignedIn)
    for (status, code) in [
      (403, DeviceFailure.Code.refused), (400, .malformed), (500, .unavailable),
      (503, .unavailable), (302, .unavailable),
    ] {
      firestore.answer(status)
      let error = await #expect(throws: DeviceFailure.self) { try await device.store.devices() }
      #expect(error?.code == code, "\(status)")
    }
    firestore.answer(404)
    #expect(try await device.store.devices().isEmpty)
    await device.close()
  }

  @Test func entriesOfOtherProgramsAreRead() async throws {
    firestore.set(
      Self.name,
      [
        "userId": ["stringValue": "ana"],
        "devices": [
          "mapValue": [
            "fields": [
              "phone": [
                "mapValue": [
                  "fields": [
                    "deviceId": ["stringValue": "phone"], "fcmToken": ["stringValue": "t"],
                    "name": ["stringValue": "Phone"], "os": ["stringValue": "iOS 12"],
                    "type": ["stringValue": "iOS"],
                  ]
                ]
              ], "strange": ["nullValue": .null],
            ]
          ]
        ],
      ])
    let device = try await device("desk")
    try await device.signIn("ana")
    let list = try await device.store.devices()
    #expect(list.map(\.id) == ["phone"] && list[0].type == "iOS")
    #expect(try await device.store.prune(unseenForDays: 0).isEmpty, "its age is not known")
    await device.close()
  }
}
