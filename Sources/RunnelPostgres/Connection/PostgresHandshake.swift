import CPostgres
import Glibc

/// The making of a connection.
struct PostgresHandshake {
  private typealias Parameter = (keyword: String, value: String)

  /// What holds unless the place says otherwise.
  private static let defaults: [Parameter] = [
    ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
    ("tcp_user_timeout", "10000"), ("target_session_attrs", "read-write"),
    ("fallback_application_name", "runnel"),
  ]
  /// What holds whatever the place says.
  private static let fixed: [Parameter] = [("client_encoding", "UTF8")]

  /// What an error begins with.
  static let beginning = "There is no connection to the database: "

  private let place: PostgresPlace
  /// The only host of the place that is asked; nil for all, in their order.
  private let host: PostgresHost?
  private let pq: UnsafePointer<runnel_pq>

  init(_ place: PostgresPlace, host: PostgresHost? = nil, _ pq: UnsafePointer<runnel_pq>) {
    (self.place, self.host, self.pq) = (place, host, pq)
  }

  /// The hosts that the place names.
  func hosts() throws(PostgresError) -> [PostgresHost] {
    var values = getenv("PGSERVICE") == nil ? parsed() : [:]
    if values["service"] != nil || values["host"] == nil && values["hostaddr"] == nil {
      // A file or the environment names them, which libpq reads when it begins.
      let begun = try start(PostgresHandshake.defaults)
      defer { pq.pointee.PQfinish(begun) }
      values = options(of: begun) ?? [:]
    }
    return PostgresHost.all(
      name: values["host"] ?? "", address: values["hostaddr"] ?? "", port: values["port"] ?? "")
  }

  /// Connects, with a verified certificate unless the host is this machine.
  func connect(until end: ContinuousClock.Instant) throws(PostgresError) -> OpaquePointer {
    var begun = try start(PostgresHandshake.defaults)
    if needsProof(begun) {
      pq.pointee.PQfinish(begun)
      begun = try start(PostgresHandshake.defaults + [("sslmode", "verify-full")])
    }
    do throws(PostgresError) {
      try finish(begun, until: end)
      return begun
    } catch {
      pq.pointee.PQfinish(begun)
      throw error
    }
  }

  private func start(_ defaults: [Parameter]) throws(PostgresError) -> OpaquePointer {
    // A later parameter overrides an earlier one, so the place overrides the defaults.
    var parameters = defaults + [("dbname", place.text)] + PostgresHandshake.fixed
    if let host {
      parameters += [("host", host.name), ("hostaddr", host.address), ("port", host.port)]
    }
    let keywords = parameters.map { strdup($0.keyword) }
    let values = parameters.map { strdup($0.value) }
    defer { for text in keywords + values { free(text) } }
    let begun = pq.pointee.PQconnectStartParams(
      keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 1)
    guard let begun else {
      throw PostgresError(.disconnected, "There is no memory for a connection to the database.")
    }
    if Int(pq.pointee.PQstatus(begun)) == RUNNEL_PQ_CONNECTION_BAD {
      defer { pq.pointee.PQfinish(begun) }
      throw failure(begun, isStart: true)
    }
    // The texts of refusals have their codes then.
    _ = pq.pointee.PQsetErrorVerbosity(begun, UInt32(RUNNEL_PQ_VERBOSE))
    return begun
  }

  /// True if another machine is asked, and the place does not say how its certificate is checked.
  private func needsProof(_ begun: OpaquePointer) -> Bool {
    guard let values = options(of: begun) else { return true }
    // libpq's own default does not notice a false server.
    guard ["", "prefer"].contains(values["sslmode"] ?? "") else { return false }
    let hosts = (values["hostaddr"] ?? values["host"] ?? "").split(separator: ",")
    return !hosts.allSatisfy { PostgresHandshake.isThisMachine($0) }
  }

  /// The options of a connection that are set; nil if they cannot be read.
  private func options(of begun: OpaquePointer) -> [String: String]? {
    guard let options = pq.pointee.PQconninfo(begun) else { return nil }
    return values(of: options)
  }

  /// The options in the text of the place; none if it cannot be read.
  private func parsed() -> [String: String] {
    pq.pointee.PQconninfoParse(place.text, nil).map { values(of: $0) } ?? [:]
  }

  /// The options that are set; frees the list.
  private func values(of options: UnsafeMutablePointer<runnel_pq_option>) -> [String: String] {
    defer { pq.pointee.PQconninfoFree(options) }
    var values: [String: String] = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.value {
        values[String(cString: keyword)] = String(cString: value)
      }
      option += 1
    }
    return values
  }

  static func isThisMachine(_ host: some StringProtocol) -> Bool {
    host.hasPrefix("/") || host.hasPrefix("@") || host.hasPrefix("127.")
      || ["localhost", "::1"].contains(String(host))
  }

  private func finish(
    _ begun: OpaquePointer, until end: ContinuousClock.Instant
  ) throws(PostgresError) {
    // It is as if the socket had to be written to first.
    var step = Int(RUNNEL_PQ_POLLING_WRITING)
    while step != RUNNEL_PQ_POLLING_OK {
      if step == RUNNEL_PQ_POLLING_FAILED { throw failure(begun) }
      let events = step == RUNNEL_PQ_POLLING_READING ? Int16(POLLIN) : Int16(POLLOUT)
      let socket = pq.pointee.PQsocket(begun)
      if Waiting.wait(socket, for: events, until: end, unless: place.deadline) == nil {
        let host = [pq.pointee.PQhost(begun), pq.pointee.PQport(begun)]
          .map { $0.map { String(cString: $0) } ?? "" }.joined(separator: ":")
        throw PostgresError(
          .timedOut, PostgresHandshake.beginning + "\(host) did not answer in time")
      }
      step = Int(pq.pointee.PQconnectPoll(begun))
    }
  }

  private func failure(_ begun: OpaquePointer, isStart: Bool = false) -> PostgresError {
    let text = pq.pointee.PQerrorMessage(begun).map { String(cString: $0) } ?? ""
    return ConnectionRefusal(text).error(isStart: isStart)
  }

  /// What libpq says of a connection, in one line.
  static func message(of connection: OpaquePointer, _ pq: UnsafePointer<runnel_pq>) -> String {
    let text = pq.pointee.PQerrorMessage(connection).map { String(cString: $0) } ?? ""
    return MessageLines.joined(text.split { "\n\t".contains($0) })
  }
}

/// Waits for a socket.
enum Waiting {
  /// Between two looks whether the program ends.
  private static let lookTime = Duration.seconds(1)

  /// Waits for events of a socket until a time, or until the program waits no more.
  static func wait(
    _ socket: Int32, for events: Int16, until end: ContinuousClock.Instant,
    unless deadline: PostgresDeadline?
  ) -> Int16? {
    guard let deadline else { return wait(socket, for: events, until: end) }
    let start = ContinuousClock.now
    while !deadline.ends(waitSince: start) {
      let look = min(end, ContinuousClock.now + lookTime)
      if let ready = wait(socket, for: events, until: look) { return ready }
      if look >= end { return nil }
    }
    return nil
  }

  /// Waits for events of a socket until a time.
  ///
  /// - Returns: the events, errors of the socket among them; nil if the time came first.
  static func wait(
    _ socket: Int32, for events: Int16, until end: ContinuousClock.Instant
  ) -> Int16? {
    while true {
      let rest = ContinuousClock.now.duration(to: end)
      if rest <= .zero { return nil }
      let (seconds, attoseconds) = rest.components
      let milliseconds = min(seconds, 3600) * 1000 + attoseconds / 1_000_000_000_000_000 + 1
      var descriptor = pollfd(fd: socket, events: events, revents: 0)
      let count = poll(&descriptor, 1, Int32(milliseconds))
      if count > 0 { return descriptor.revents }
      // A signal may have ended the wait.
      if count < 0, errno != EINTR { return Int16(POLLERR) }
    }
  }
}
