public import RunnelAccounts
import RunnelBase
import RunnelNetwork
public import RunnelStore

/// Keeps the lists of devices in Cloud Firestore, over its REST interface: a document for each user.
///
/// The document and its fields are those of FirebaseDeviceStore. Writes have masks, so other devices
/// stay as they are.
///
/// Limit: it tells no changes and shows no presence; what cannot be written is tried again while the
/// program runs.
public struct FirestoreDeviceStorage: DeviceStorage {
  /// Returns an ID token of a user; `refused` is the one that the service refused.
  public typealias Tokens =
    @Sendable (_ user: String, _ refused: Secret<String>?) async throws(AccountFailure) -> Secret<
      String
    >

  private static let production = "https://firestore.googleapis.com"

  private let base: String
  private let project: String
  private let collectionPath: String
  private let clock: AccountClock
  private let transport: IdentityToolkit.Transport
  private let tokens: Tokens

  /// Makes a storage.
  ///
  /// - Parameters:
  ///   - project: the id of the project.
  ///   - base: scheme and host of the service; nil for the official one.
  ///   - collectionPath: the path of the collection.
  ///   - clock: gives the times that are stored.
  ///   - transport: sends the requests; see `IdentityToolkit.transport(_:)`.
  ///   - tokens: returns the ID token of a user, as `AccountSession.idToken(of:refused:)` does.
  public init(
    project: String, base: String? = nil, collectionPath: String = "user-devices",
    clock: AccountClock = .system, transport: @escaping IdentityToolkit.Transport,
    tokens: @escaping Tokens
  ) {
    var address = (base ?? FirestoreDeviceStorage.production)[...]
    while address.hasSuffix("/") { address = address.dropLast() }
    (self.base, self.project, self.collectionPath) = (String(address), project, collectionPath)
    (self.clock, self.transport, self.tokens) = (clock, transport, tokens)
  }

  // MARK: Writing

  /// Puts a device into the document of a user; one that stands there already keeps its name.
  public func put(
    _ device: Device, of user: String, isFresh: Bool
  ) async throws(DeviceFailure) {
    let document = try await document(of: user)
    let status = document?[DeviceField.states]?[device.id]
    if !isFresh, status?[DeviceField.revoked] != nil {
      throw DeviceFailure(.revoked, "This device was taken away from the user's devices.")
    }
    var device = device
    let known = document?[DeviceField.devices]?[device.id]?[DeviceField.name]?.string
    if let known, !known.isEmpty { device.name = known }
    let now = FirestoreWire.number(clock.now())
    var values: [(name: String, value: JSONValue?)] = [(DeviceField.lastSeen, now)]
    if status?[DeviceField.created] == nil { values.append((DeviceField.created, now)) }
    if let version = device.status.version {
      values.append((DeviceField.version, FirestoreWire.text(version)))
    }
    if isFresh { values.append((DeviceField.revoked, nil)) }
    try await commit(
      user, [FirestoreWire.put(device, of: user), FirestoreWire.status(device.id, values)])
  }

  /// Removes a device from the document of a user.
  public func remove(_ device: String, of user: String) async throws(DeviceFailure) {
    try await commit(
      user,
      [
        FirestoreWire.Part(
          fields: [],
          paths: [
            FirestoreWire.path(DeviceField.devices, device),
            FirestoreWire.path(DeviceField.states, device),
          ])
      ])
  }

  /// Removes a device, and marks it as taken away.
  public func revoke(_ device: String, of user: String) async throws(DeviceFailure) {
    try await commit(
      user,
      [
        FirestoreWire.Part(
          fields: [], paths: [FirestoreWire.path(DeviceField.devices, device)]),
        FirestoreWire.status(
          device, [(DeviceField.revoked, FirestoreWire.number(clock.now()))]),
      ])
  }

  /// Gives a device another name.
  public func rename(
    _ device: String, to name: String, of user: String
  ) async throws(DeviceFailure) {
    guard try await document(of: user)?[DeviceField.devices]?[device] != nil else {
      throw DeviceFailure(.unknownDevice, "There is no device \(device).")
    }
    let fields = FirestoreWire.map([JSONMember(DeviceField.name, FirestoreWire.text(name))])
    let part = FirestoreWire.Part(
      fields: [
        JSONMember(DeviceField.devices, FirestoreWire.map([JSONMember(device, fields)]))
      ], paths: ["\(FirestoreWire.path(DeviceField.devices, device)).\(DeviceField.name)"])
    try await commit(user, [part], mustExist: true)
  }

  private func commit(
    _ user: String, _ parts: [FirestoreWire.Part], mustExist: Bool = false
  ) async throws(DeviceFailure) {
    let body = FirestoreWire.commit(
      "\(documents)/\(collectionPath)/\(user)", parts, mustExist: mustExist)
    _ = try await ask("POST", ":commit", user, body.jsonBytes())
  }

  // MARK: Reading

  /// Returns the list of a user.
  public func devices(of user: String) async throws(DeviceFailure) -> [Device] {
    Device.list(try await document(of: user) ?? .object([]))
  }

  /// Returns the document of a user without the types of its values; nil if there is none.
  private func document(of user: String) async throws(DeviceFailure) -> JSONValue? {
    let path = "/\(collectionPath)/\(user)".split(separator: "/").map {
      "/" + PercentEncoding.encoded($0)
    }.joined()
    guard let json = try await ask("GET", path, user, nil) else { return nil }
    return FirestoreWire.plain(fields: json["fields"])
  }

  // MARK: Requests

  private var documents: String { "projects/\(project)/databases/(default)/documents" }

  /// Sends a request under the credential of a user; returns nil if there is no such document.
  private func ask(
    _ method: String, _ path: String, _ user: String, _ body: [UInt8]?
  ) async throws(DeviceFailure) -> JSONValue? {
    guard let address = WebAddress("\(base)/v1/\(documents)\(path)"), address.isSafe else {
      throw DeviceFailure(
        .malformed, "The address of Firestore has https, a project and a collection.")
    }
    if user.isEmpty || user.contains("/") {
      throw DeviceFailure(.malformed, "The id of the user cannot be that of a document.")
    }
    var refused: Secret<String>?
    for _ in 0..<2 {
      let token = try await token(of: user, refused)
      let request = WebRequest(
        method, address,
        headers: [
          ("Authorization", "Bearer \(token.reveal())"), ("Content-Type", "application/json"),
        ], body: body)
      let answer: (status: Int, body: [UInt8])
      do throws(NetworkError) {
        answer = try await transport(request)
      } catch {
        throw DeviceFailure(.unavailable, error.message)
      }
      // A token that was refused is exchanged once.
      if answer.status == 401, refused == nil {
        refused = token
        continue
      }
      return try json(answer.status, answer.body, address)
    }
    throw DeviceFailure(.notSignedIn, "\(address.bare) refused the user's tokens.")
  }

  private func token(
    of user: String, _ refused: Secret<String>?
  ) async throws(DeviceFailure) -> Secret<String> {
    do throws(AccountFailure) {
      return try await tokens(user, refused)
    } catch {
      throw DeviceFailure(error.isTemporary ? .unavailable : .notSignedIn, error.message)
    }
  }

  private func json(
    _ status: Int, _ body: [UInt8], _ address: WebAddress
  ) throws(DeviceFailure) -> JSONValue? {
    // An answer that is not JSON has no message.
    let json = try? JSONValue(parsing: body)
    let told = json?["error"]?["message"]?.string.map { ": \($0.prefix(200))" } ?? ""
    switch status {
    case 200:
      guard let json else {
        throw DeviceFailure(.unavailable, "\(address.bare) sent an answer that is not JSON.")
      }
      return json
    case 404: return nil
    case 401: throw DeviceFailure(.notSignedIn, "\(address.bare) refused the user's tokens\(told).")
    case 403: throw DeviceFailure(.refused, "\(address.bare) refused the request\(told).")
    case 400, 409, 412:
      throw DeviceFailure(.malformed, "\(address.bare) refused the request\(told).")
    default:
      throw DeviceFailure(
        .unavailable, "\(address.bare) cannot answer at the moment: status \(status)\(told).")
    }
  }
}
