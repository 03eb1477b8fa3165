public import RunnelTree
import RunnelBase

/// A limit of requests over HTTP that was reached, by its name for people.
public enum RESTLimit: String, Hashable, Sendable, CaseIterable {
  /// `writeBytesMax`.
  case writeBytes = "max-write"
  /// `jsonDepthMax`.
  case jsonDepth = "max-json-depth"
  /// `spoolBytesMax`.
  case importBytes = "max-import"
  /// `readBytesMax`.
  case readBytes = "max-read"
  /// `readMilliseconds`.
  case readTime = "read-time"
}

/// One request over HTTP and its answer: the request becomes an operation on the tree that is served, and
/// what comes of it the answer.
///
/// It sends nothing itself, knows no time but what it is given, and does no operation: it returns
/// effects, which are to be carried out in order. Bodies go through it in pieces, in both directions.
///
/// ```
///   begin --> verifying --> receiving the body --> under way --> sending pieces --> ended
///                                                      |
///                                                      +--> streaming --> ended
/// ```
///
/// Invariants:
/// - I1. The head is sent once, before any piece; after the end nothing is sent.
/// - I2. Nothing is asked of the tree before it is known for whom, and before all of the body is there.
///
/// Source: wire protocol, sections C and D.
public struct RESTExchange: Sendable {
  /// What is to be done, in order.
  public enum Effect: Sendable {
    /// Find out for whom a credential speaks; `verified` is told.
    case verify(Credential)
    /// Keep a piece of the body in a file beside the database.
    case spool([UInt8])
    /// Ask the tree; its answer is given to `answer`.
    case operate(RESTOperation, Caller)
    /// Give the next piece of the export to `piece` when the network has taken those before; nil at its
    /// end.
    case readNext(TreeExport)
    /// Send the head of the answer.
    case head(RESTHead)
    /// Send a piece of the body of the answer.
    case body([UInt8])
    /// The answer is complete.
    case end
    /// The answer cannot be completed: close the connection, so that it is not taken for all of it.
    case abort
    /// What was asked of the tree is not wanted any more.
    case cancel
    /// Count that the client reached a limit.
    case note(RESTLimit)
  }

  /// What an exchange may use, and how long it may take.
  public struct Limits: Hashable, Sendable {
    /// The most bytes in the body of a write.
    public var writeBytesMax = 268_435_456
    /// The most levels of objects and arrays in the body of a write; parsing takes 512 at most.
    public var jsonDepthMax = 512
    /// From so many bytes on, what an administrator puts is kept in a file.
    public var spoolBytesMin = 16_777_216
    /// The most bytes that an administrator puts; nil for any number.
    public var spoolBytesMax: Int?
    /// After so long without an event a stream gives a sign of life, in milliseconds.
    public var keepAliveMilliseconds: Int64 = 30_000
    /// The most bytes of the answer to a read, but for administrators'.
    public var readBytesMax = 268_435_456
    /// So long a read may take unless the client wants less, in milliseconds.
    public var readMilliseconds: Int64 = 900_000

    /// Makes the limits that hold unless others are chosen.
    public init() {}
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

  let limits: Limits
  let request: RESTRequest
  var phase = Phase.new
  var effects: [Effect] = []
  var call: RESTCall?
  /// For whom the request speaks, once that is known.
  public internal(set) var caller = Caller.nobody
  /// By what the client says who it is; nil for nobody.
  public internal(set) var credential: Credential?
  /// When the credential's time is over, in milliseconds since 1970.
  var expiry: Int64?
  var body: [UInt8] = []
  var bodyBytes = 0
  /// The bytes of a read that were sent.
  var sentBytes = 0
  var isBodyComplete = false
  var isSpooling = false
  /// What was put, as it is echoed.
  var echo: JSONValue = .null
  var export: TreeExport?
  var hasHead = false
  /// When the read is given up, or the stream gives a sign of life; on the clock that never goes back.
  var deadlineTime: Int64?
  /// The place that is streamed.
  var streamed: Path = .root

  /// Makes an exchange of a request whose head has arrived.
  public init(_ request: RESTRequest, limits: Limits = Limits()) {
    self.request = request
    self.limits = limits
  }

  /// True once the answer is complete, or cannot be.
  public var isEnded: Bool { phase == .ended }

  /// True while changes are told as events.
  public var isStreaming: Bool { phase == .streaming }

  mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }
}

// MARK: The request

extension RESTExchange {
  /// The head of the request is there.
  public mutating func begin(now: WireTime) -> [Effect] {
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

  /// The credential that was to be verified speaks for somebody, or for nobody.
  public mutating func verified(
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
      throw RESTError(401, error.text)
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

  /// A piece of the body of the request arrived; what arrives after the answer is ignored.
  public mutating func receive(_ piece: [UInt8], now: WireTime) -> [Effect] {
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

  /// The body of the request is complete.
  public mutating func receivedAll(now: WireTime) -> [Effect] {
    guard !isBodyComplete, phase == .verifying || phase == .receiving else { return [] }
    isBodyComplete = true
    do throws(RESTError) {
      try receive(now)
    } catch {
      refuse(error)
    }
    return takeEffects()
  }

  /// A piece of the body cannot be kept: nothing more of it is wanted.
  public mutating func spoolFailed(_ error: TreeError) -> [Effect] {
    guard phase == .receiving || phase == .underWay else { return [] }
    refuse(RESTError(error))
    return takeEffects()
  }

  /// Goes on as far as what is there allows.
  private mutating func receive(_ now: WireTime) throws(RESTError) {
    guard let call else { return }
    if call.method == .get || call.method == .delete {
      if phase == .receiving { try operate(call, now) }
      return
    }
    try checkSize(call)
    guard phase == .receiving, isBodyComplete else { return }
    try operate(call, now)
  }

  /// What is too large is refused as soon as that is known, or kept in a file.
  private mutating func checkSize(_ call: RESTCall) throws(RESTError) {
    if phase == .receiving, caller.isAdministrator, call.method == .put,
      case .place = call.target.resource, isSpooling || bodyBytes >= limits.spoolBytesMin
    {
      if let most = limits.spoolBytesMax, bodyBytes > most { throw tooLarge(.importBytes) }
      isSpooling = true
      if !body.isEmpty { effects.append(.spool(body)) }
      body = []
    } else if bodyBytes > limits.writeBytesMax {
      throw tooLarge(.writeBytes)
    }
  }

  private mutating func tooLarge(_ limit: RESTLimit) -> RESTError {
    effects.append(.note(limit))
    return .tooLarge
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
    }
  }

  private mutating func ask(_ operation: RESTOperation) {
    effects.append(.operate(operation, caller))
  }

  private mutating func read(_ path: Path, _ call: RESTCall) throws(RESTError) {
    let query = try call.query(at: path)
    if call.isStream {
      streamed = path
      return ask(.stream(query))
    }
    export = TreeExport(
      query, form: call.form, layout: call.style.isPretty ? .pretty : .compact)
    ask(
      .read(query, form: call.form, isPretty: call.style.isPretty, hashes: call.wantsHash))
  }

  private mutating func write(_ path: Path, _ call: RESTCall) throws(RESTError) {
    let hashes = call.wantsHash
    if isSpooling { return ask(.putSpooled(path, condition: call.condition, hashes: hashes)) }
    let json: JSONValue = call.method == .delete ? .null : try bodyJSON()
    echo = json
    let write: Write
    switch call.method {
    case .post: return ask(.push(path, json, name: call.writeName, hashes: hashes))
    case .patch:
      guard case .object(let members) = json else { throw RESTError.invalidData }
      write = .update(path, members)
    case .get, .put, .delete: write = .set(path, json)
    }
    ask(.write(write, condition: call.condition, name: call.writeName, hashes: hashes))
  }

  private mutating func bodyJSON() throws(RESTError) -> JSONValue {
    defer { body = [] }
    if body.isEmpty { throw RESTError.noData }
    if JSONDepth.exceeds(limits.jsonDepthMax, in: body) {
      effects.append(.note(.jsonDepth))
      throw RESTError(400, "Data is nested deeper than \(limits.jsonDepthMax) levels.")
    }
    do throws(JSONError) {
      return try JSONValue(parsing: body)
    } catch {
      throw RESTError.invalidData
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
