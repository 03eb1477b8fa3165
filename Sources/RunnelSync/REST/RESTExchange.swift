package import RunnelTree
import RunnelBase

/// A limit of requests over HTTP that was reached, by its name for people.
package enum RESTLimit: String, Hashable, Sendable, CaseIterable {
  /// `writeBytesMax`.
  case writeBytes = "max-write"
  /// `jsonDepthMax`.
  case jsonDepth = "max-json-depth"
  /// `spoolBytesMax`.
  case importBytes = "max-import"
  /// The most large bodies in memory at once, of all requests.
  case largeWrites = "max-large-writes"
  /// `readBytesMax`.
  case readBytes = "max-read"
  /// `readMilliseconds`.
  case readTime = "read-time"
  /// The most levels of any tree.
  case depth = "max-depth"
}

/// One request over HTTP and its answer: the request becomes an operation on the served tree, and
/// the result of the operation becomes the answer.
///
/// The exchange sends nothing, reads no clock and does no operation: it returns effects, which the
/// caller carries out in order. Bodies pass through in pieces, in both directions.
///
/// ```
///   begin --> verifying --> receiving the body --> under way --> sending pieces --> ended
///                                                      |
///                                                      +--> streaming --> ended
/// ```
///
/// Invariants:
/// - I1. The head is sent once, before any piece; after the end nothing is sent.
/// - I2. The tree is asked nothing before the caller is verified and the whole body has arrived.
///
/// Source: wire protocol, sections C and D.
package struct RESTExchange: Sendable {
  /// An effect for the caller to carry out; effects are carried out in order.
  package enum Effect: Sendable {
    /// Verify a credential; report the result to `verified`.
    case verify(Credential)
    /// Append a piece of the body to a file beside the database.
    case spool([UInt8])
    /// Parse a large body with `RESTBody`, which may take a while, so better where nobody waits; give it
    /// to `parsed`.
    case parse([UInt8])
    /// Ask the tree; give its answer to `answer`.
    case operate(RESTOperation, Caller)
    /// Give the next piece of the export to `piece` once the network has taken the pieces before
    /// it; nil at the end.
    case readNext(TreeExport)
    /// Send the head of the answer.
    case head(RESTHead)
    /// Send a piece of the body of the answer.
    case body([UInt8])
    /// The answer is complete.
    case end
    /// Close the connection because the answer cannot be completed, so that the client notices.
    case abort
    /// Cancel the operation or the stream: its result is not needed any more.
    case cancel
    /// Count that the client reached a limit.
    case note(RESTLimit)
  }

  /// The limits of an exchange.
  package struct Limits: Hashable, Sendable {
    /// The most bytes in the body of a write.
    package var writeBytesMax = 268_435_456
    /// The most levels of objects and arrays in the body of a write; parsing takes 512 at most.
    package var jsonDepthMax = 512
    /// The size of a body from which on it is not parsed at once, in bytes.
    package var parseBytesMin = 262_144
    /// The size from which an administrator's PUT is kept in a file, in bytes.
    package var spoolBytesMin = 16_777_216
    /// The largest PUT of an administrator, in bytes; nil for no limit.
    package var spoolBytesMax: Int?
    /// The time without an event after which a stream sends a keep-alive, in milliseconds.
    package var keepAliveMilliseconds: Int64 = 30_000
    /// The most bytes of the answer to a read; administrators have no limit.
    package var readBytesMax = 268_435_456
    /// The timeout for the start of a read's answer, in milliseconds; a client may request less.
    package var readMilliseconds: Int64 = 900_000

    /// Makes the default limits.
    package init() {}
  }

  enum Phase: Hashable, Sendable {
    case new
    case verifying
    case receiving
    case underWay
    case sending
    case streaming
    case ended
  }

  /// The limits.
  package let limits: Limits
  let request: RESTRequest
  var phase = Phase.new
  var effects: [Effect] = []
  var call: RESTCall?
  /// The caller of the request; `nobody` until the credential is verified.
  package internal(set) var caller = Caller.nobody
  /// The client's credential; nil if it has none.
  package internal(set) var credential: Credential?
  /// When the credential expires, in milliseconds since 1970; nil for never.
  var expiry: Int64?
  var body: [UInt8] = []
  var bodyBytes = 0
  /// The number of bytes of a read that were sent.
  var sentBytes = 0
  var isBodyComplete = false
  var isSpooling = false
  var isParsing = false
  /// The value that was put, for the answer.
  var echo: JSONValue = .null
  var export: TreeExport?
  var hasHead = false
  /// The time at which the read ends or the stream sends a keep-alive, on the monotonic clock.
  var deadlineTime: Int64?
  /// The place that is streamed.
  var streamed: Path = .root

  /// Makes an exchange of a request whose head has arrived.
  package init(_ request: RESTRequest, limits: Limits = Limits()) {
    self.request = request
    self.limits = limits
  }

  /// True once the answer is complete, or cannot be.
  package var isEnded: Bool { phase == .ended }

  /// True while the client listens to changes as events.
  package var isStreaming: Bool { phase == .streaming }

  /// True if the client asked for changes as events.
  package var wantsStream: Bool { call?.isStream == true }

  mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }
}

// MARK: The request

extension RESTExchange {
  /// Starts with the head of the request.
  package mutating func begin(now: WireTime) -> [Effect] {
    precondition(phase == .new, "An exchange begins once.")
    if request.method == "OPTIONS" {
      phase = .underWay
      respond(RESTHead(204, RESTHead.preflight(request)))
      return takeEffects()
    }
    do throws(RESTError) {
      let call = try RESTCall(request)
      self.call = call
      deadlineTime = now.uptime + (call.timeoutMilliseconds ?? limits.readMilliseconds)
      credential = try RESTCall.credential(request, call.target)
      if let credential {
        phase = .verifying
        effects.append(.verify(credential))
      } else {
        phase = .receiving
        try receive(now)
      }
    } catch {
      refuse(error)
    }
    return takeEffects()
  }

  /// Takes the result of verifying the credential.
  package mutating func verified(
    _ result: Result<VerifiedCredential, CredentialRefusal>, now: WireTime
  ) -> [Effect] {
    guard phase == .verifying, let credential else { return [] }
    phase = .receiving
    do throws(RESTError) {
      try adopt(result, credential, now)
      try receive(now)
    } catch {
      refuse(error)
    }
    return takeEffects()
  }

  private mutating func adopt(
    _ result: Result<VerifiedCredential, CredentialRefusal>, _ credential: Credential,
    _ now: WireTime
  ) throws(RESTError) {
    let verified: VerifiedCredential
    do throws(CredentialRefusal) {
      verified = try result.get()
    } catch {
      throw RESTError(error.status == .unavailable ? 503 : 401, error.text)
    }
    if let expiry = verified.expiry, expiry <= now.calendar {
      throw RESTError(401, CredentialRefusal.expired.text)
    }
    (caller, expiry) = (verified.caller, verified.expiry)
    if credential.isUnauthenticated || credential.authVariable != nil {
      guard caller.isAdministrator else { throw RESTError.unauthorized }
      caller = Caller(auth: credential.isUnauthenticated ? .null : credential.authVariable ?? .null)
    }
  }

  /// Takes a piece of the body of the request; pieces that arrive after the answer are ignored.
  package mutating func receive(_ piece: [UInt8], now: WireTime) -> [Effect] {
    guard !isBodyComplete, phase == .verifying || phase == .receiving else { return [] }
    body += piece
    bodyBytes += piece.count
    do throws(RESTError) {
      try receive(now)
    } catch {
      refuse(error)
    }
    return takeEffects()
  }

  /// Takes the news that the body of the request is complete.
  package mutating func receivedAll(now: WireTime) -> [Effect] {
    guard !isBodyComplete, phase == .verifying || phase == .receiving else { return [] }
    isBodyComplete = true
    do throws(RESTError) {
      try receive(now)
    } catch {
      refuse(error)
    }
    return takeEffects()
  }

  /// Takes the news that a piece of the body could not be kept; the rest of the body is ignored.
  package mutating func spoolFailed(_ error: TreeError) -> [Effect] {
    guard [.verifying, .receiving, .underWay].contains(phase) else { return [] }
    refuse(RESTError(error))
    return takeEffects()
  }

  /// Takes a body that was parsed.
  package mutating func parsed(_ body: RESTBody) -> [Effect] {
    guard isParsing, phase == .underWay, let call else { return [] }
    isParsing = false
    do throws(RESTError) {
      try write(call, try json(of: body))
    } catch {
      refuse(error)
    }
    return takeEffects()
  }

  /// Continues as far as possible with what has arrived.
  private mutating func receive(_ now: WireTime) throws(RESTError) {
    guard let call else { return }
    if call.method == .get || call.method == .delete {
      if phase == .receiving { try operate(call, now) }
      return
    }
    try checkDeclaredSize(call)
    try checkSize(call)
    guard phase == .receiving, isBodyComplete else { return }
    try operate(call, now)
  }

  /// Whether the body is kept in a file once it is large.
  ///
  /// A write with a name is compared with what was done under that name, and is an ordinary one.
  private func maySpool(_ call: RESTCall) -> Bool {
    guard phase == .receiving, caller.isAdministrator, call.method == .put, call.writeName == nil,
      case .place = call.target.resource
    else { return false }
    return true
  }

  /// Refuses a body whose head says that it is too large, before the body arrives.
  private mutating func checkDeclaredSize(_ call: RESTCall) throws(RESTError) {
    guard phase == .receiving, bodyBytes == 0,
      let declared = request.header("content-length").flatMap({ Int($0) })
    else { return }
    if maySpool(call) {
      try checkImport(declared)
    } else if declared > limits.writeBytesMax {
      effects.append(.note(.writeBytes))
      throw RESTError.tooLarge
    }
  }

  /// Refuses a body that is too large as soon as possible, or starts to keep it in a file.
  private mutating func checkSize(_ call: RESTCall) throws(RESTError) {
    if maySpool(call) {
      try checkImport(bodyBytes)
      if !isSpooling, bodyBytes < limits.spoolBytesMin { return }
      isSpooling = true
      if !body.isEmpty { effects.append(.spool(body)) }
      body = []
    } else if bodyBytes > bodyBytesMax(call) {
      effects.append(.note(.writeBytes))
      throw RESTError.tooLarge
    }
  }

  /// The most bytes of a body that is kept in memory.
  ///
  /// Whose PUT it is, is not known before the credential is verified.
  private func bodyBytesMax(_ call: RESTCall) -> Int {
    phase == .verifying && call.method == .put
      ? max(limits.writeBytesMax, limits.spoolBytesMin) : limits.writeBytesMax
  }

  /// Checks the size of an administrator's PUT.
  private mutating func checkImport(_ count: Int) throws(RESTError) {
    guard let most = limits.spoolBytesMax, count > most else { return }
    effects.append(.note(.importBytes))
    throw RESTError.importTooLarge(most)
  }

  private mutating func operate(_ call: RESTCall, _ now: WireTime) throws(RESTError) {
    phase = .underWay
    switch call.target.resource {
    case .rules: try operateOnRules(call)
    case .info:
      guard call.method == .get else { throw RESTError.permissionDenied }
      respond(.null, call)
    case .place(let path):
      switch call.method {
      case .get: try read(path, call)
      case .put, .post, .patch, .delete: try write(path, call)
      }
    case .priority(let path): try operateOnPriority(of: path, call)
    }
  }

  private mutating func operateOnPriority(of path: Path, _ call: RESTCall) throws(RESTError) {
    if call.condition != nil { throw RESTError.conditionOnPriority }
    switch call.method {
    case .get where call.isStream: throw RESTError.listenToPriority
    case .get:
      // A query of a scalar shows nothing.
      if try !call.query(at: path).loadsAllData { return respond(.null, call) }
      ask(.readPriority(path))
    case .put, .delete: try write(path, call)
    case .post, .patch: throw RESTError.belowPriority
    }
  }

  private mutating func ask(_ operation: RESTOperation) {
    effects.append(.operate(operation, caller))
  }

  private mutating func read(_ path: Path, _ call: RESTCall) throws(RESTError) {
    let query = try call.query(at: path)
    if call.isStream {
      streamed = path
      return ask(.stream(query, form: call.form == .export ? .export : .plain))
    }
    export = TreeExport(
      query, form: call.form, layout: call.style.isPretty ? .pretty : .compact)
    ask(
      .read(query, form: call.form, isPretty: call.style.isPretty, hashes: call.wantsHash))
  }

  private mutating func write(_ path: Path, _ call: RESTCall) throws(RESTError) {
    if isSpooling {
      return ask(.putSpooled(path, condition: call.condition, hashes: call.wantsHash))
    }
    if call.method == .delete { return try write(call, .null) }
    if body.isEmpty { throw RESTError.noData }
    defer { body = [] }
    if body.count >= limits.parseBytesMin {
      isParsing = true
      return effects.append(.parse(body))
    }
    try write(call, try json(of: RESTBody(parsing: body, limits)))
  }

  private mutating func write(_ call: RESTCall, _ json: JSONValue) throws(RESTError) {
    let hashes = call.wantsHash
    echo = json
    let write: Write
    switch (call.target.resource, call.method) {
    case (.place(let path), .post):
      return ask(.push(path, json, name: call.writeName, hashes: hashes))
    case (.place(let path), .patch):
      guard case .object(let members) = json else { throw RESTError.invalidData }
      write = .update(path, members)
    case (.place(let path), _): write = .set(path, json)
    case (.priority(let path), _):
      write = .update(path, [JSONMember(WireName.priority, json)])
      return ask(.write(write, condition: nil, name: call.writeName, hashes: false))
    case (.info, _), (.rules, _): preconditionFailure("Nothing is written there.")
    }
    ask(.write(write, condition: call.condition, name: call.writeName, hashes: hashes))
  }

  private mutating func json(of body: RESTBody) throws(RESTError) -> JSONValue {
    switch body {
    case .json(let json): return json
    case .tooDeep:
      effects.append(.note(.jsonDepth))
      throw RESTError(
        400, "Data is nested deeper than \(limits.jsonDepthMax) levels (--max-json-depth).",
        limit: .jsonDepth)
    case .malformed: throw RESTError.invalidData
    }
  }

  private mutating func operateOnRules(_ call: RESTCall) throws(RESTError) {
    guard caller.isAdministrator else { throw RESTError.unauthorized }
    switch call.method {
    case .get: ask(.readRules)
    case .put:
      if body.isEmpty { throw RESTError.noData }
      ask(.writeRules(body, isDryRun: call.target["dryRun"] == "true"))
      body = []
    case .post, .patch, .delete: throw RESTError(405, "Rules are read by GET and set by PUT.")
    }
  }
}
