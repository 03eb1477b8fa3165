import CPostgres
import Glibc

/// A link to a server of PostgreSQL by libpq.
///
/// Statements are sent many at once, and their answers are read in one go (*pipeline mode*), so a
/// transaction takes few round trips. Parameters and results are in binary form. A statement's text
/// is prepared when it is first used.
///
/// Isolation: synchronous, and used by one thread at a time.
final class NetworkLink: PostgresLink {
  /// A statement's text and the types of its parameters, which are prepared together.
  private struct Preparation: Hashable {
    var text: String
    var types: [UInt32]

    init(_ statement: PostgresStatement) {
      (text, types) = (statement.text, statement.values.map(\.type))
    }
  }

  /// What the next answer of the pipeline is for.
  private enum Expected {
    case preparation(Preparation, name: String)
    case statement
  }

  let pq: UnsafePointer<runnel_pq>
  private let patience: PostgresConnection.Patience
  private let deadline: PostgresDeadline?
  private let notices: NoticeLog
  /// libpq's connection; nil once closed.
  private(set) var connection: OpaquePointer?
  private var prepared: [Preparation: String] = [:]
  private var preparationCount = 0
  /// What the answers are for that nobody waited for; they come before all others.
  private var posted: [[Expected]] = []
  private let canceller: PostgresCanceller
  /// Which primary of several hosts it leads to; nil if there is one host, or that is not known.
  var primary: PrimaryChoice.Mark?
  /// After this time of waiting it is looked whether the primary was replaced, or the program ends.
  private static let lookTime = Duration.seconds(1)

  /// Connects.
  ///
  /// - Parameters:
  ///   - place: the database.
  ///   - host: the only host of the place that is asked; nil for all.
  ///   - patience: how long it is waited for.
  /// - Throws: `PostgresError` that says why there is no connection.
  init(
    _ place: PostgresPlace, host: PostgresHost? = nil, patience: PostgresConnection.Patience
  ) throws(PostgresError) {
    guard let pq = runnel_pq_load() else { throw .missingLibrary }
    let end = ContinuousClock.now + patience.connecting
    let notices = NoticeLog(pq)
    let opened = try PostgresHandshake(place, host: host, pq).connect(until: end)
    _ = pq.pointee.PQsetNoticeReceiver(
      opened, NoticeLog.receiver, Unmanaged.passUnretained(notices).toOpaque())
    canceller = PostgresCanceller(opened, pq)
    (self.pq, self.patience, self.notices) = (pq, patience, notices)
    deadline = place.deadline
    connection = opened
    guard pq.pointee.PQsetnonblocking(opened, 1) == 0,
      pq.pointee.PQenterPipelineMode(opened) == 1
    else { throw fail() }
  }

  /// The hosts that a place names.
  static func hosts(of place: PostgresPlace) throws(PostgresError) -> [PostgresHost] {
    guard let pq = runnel_pq_load() else { throw .missingLibrary }
    return try PostgresHandshake(place, pq).hosts()
  }

  deinit { close() }

  var isOpen: Bool { connection != nil }

  var serverVersion: Int { connection.map { Int(pq.pointee.PQserverVersion($0)) } ?? 0 }

  var name: String {
    guard let connection else { return "" }
    let parts = [
      pq.pointee.PQdb(connection), pq.pointee.PQhost(connection), pq.pointee.PQport(connection),
    ].map { $0.map { String(cString: $0) } ?? "" }
    return "\(parts[0]) at \(parts[1]):\(parts[2])"
  }

  func close() {
    canceller.end()
    if let connection { pq.pointee.PQfinish(connection) }
    connection = nil
    (prepared, posted) = ([:], [])
  }

  var warningState: String? { notices.warningState }

  // MARK: Statements

  func perform(
    _ statements: [PostgresStatement], within patience: Duration?
  ) throws(PostgresError) -> [PostgresResult] {
    guard let connection else {
      throw PostgresError(.disconnected, "There is no connection to the database.")
    }
    if isReplaced { throw replaced() }
    if deadline?.isInVain == true { throw givenUp() }
    notices.warningState = nil
    let end = ContinuousClock.now + (patience ?? self.patience.answering)
    var expected: [Expected] = []
    // A text that is prepared in this call must not be prepared twice.
    var fresh: [Preparation: String] = [:]
    for statement in statements {
      let preparation = Preparation(statement)
      let known = prepared[preparation] ?? fresh[preparation]
      let name = known ?? nextName()
      if known == nil {
        fresh[preparation] = name
        expected.append(.preparation(preparation, name: name))
        if pq.pointee.PQsendPrepare(
          connection, name, statement.text, Int32(preparation.types.count), preparation.types) != 1
        {
          throw fail()
        }
      }
      expected.append(.statement)
      if !send(statement, name, connection) { throw fail() }
    }
    if pq.pointee.PQpipelineSync(connection) != 1 { throw fail() }
    try dropPosted(connection, until: end)
    return try answers(to: expected, connection, until: end)
  }

  func post(_ statements: [PostgresStatement]) throws(PostgresError) {
    let names = statements.map { prepared[Preparation($0)] }
    guard let connection, !names.contains(nil) else {
      // What is used for the first time is waited for.
      _ = try perform(statements, within: nil)
      return
    }
    for case (let statement, let name?) in zip(statements, names) {
      if !send(statement, name, connection) { throw fail() }
    }
    if pq.pointee.PQpipelineSync(connection) != 1 { throw fail() }
    // What is still unsent then goes with the next statements.
    if pq.pointee.PQflush(connection) < 0 { throw fail() }
    posted.append(statements.map { _ in .statement })
  }

  /// Drops the answers that nobody waited for.
  private func dropPosted(
    _ connection: OpaquePointer, until end: ContinuousClock.Instant
  ) throws(PostgresError) {
    if posted.isEmpty { return }
    for expected in posted {
      do {
        _ = try answers(to: expected, connection, until: end)
      } catch {
        if error.kind != .refused { throw error }
      }
    }
    posted = []
    // A warning about them says nothing about what follows.
    notices.warningState = nil
  }

  private func nextName() -> String {
    preparationCount += 1
    return "runnel_\(preparationCount)"
  }

  private func send(
    _ statement: PostgresStatement, _ name: String, _ connection: OpaquePointer
  ) -> Bool {
    // One buffer for all values; its first byte stands for values without bytes.
    var bytes: [UInt8] = [0]
    var places: [Int?] = []
    var counts: [Int32] = []
    for value in statement.values.map(\.encoded) {
      places.append(value.map { _ in bytes.count })
      counts.append(Int32(value?.count ?? 0))
      if let value { bytes += value }
    }
    let formats = [Int32](repeating: 1, count: counts.count)
    return bytes.withUnsafeBytes { buffer in
      let start = buffer.bindMemory(to: CChar.self).baseAddress
      let values: [UnsafePointer<CChar>?] = places.map { place in
        place.flatMap { place in start.map { $0 + place } }
      }
      return pq.pointee.PQsendQueryPrepared(
        connection, name, Int32(counts.count), values, counts, formats, 1) == 1
    }
  }

  // MARK: Answers

  private func answers(
    to expected: [Expected], _ connection: OpaquePointer, until end: ContinuousClock.Instant
  ) throws(PostgresError) -> [PostgresResult] {
    var results: [PostgresResult] = []
    var refusal: PostgresError?
    var position = 0
    // An answer is followed by nil; two of them in a row come from a connection that broke.
    var nilCount = 0
    while true {
      try waitForAnswer(connection, until: end, refusal)
      guard let result = pq.pointee.PQgetResult(connection) else {
        nilCount += 1
        if nilCount > 2 { throw fail(refusal) }
        continue
      }
      nilCount = 0
      let answer = PostgresResult(result, pq)
      let status = Int(pq.pointee.PQresultStatus(result))
      if status == RUNNEL_PQ_PIPELINE_SYNC { break }
      if status == RUNNEL_PQ_TUPLES_OK || status == RUNNEL_PQ_COMMAND_OK {
        guard position < expected.count else { throw fail(refusal) }
        switch expected[position] {
        case .preparation(let preparation, let name): prepared[preparation] = name
        case .statement: results.append(answer)
        }
      } else if status != RUNNEL_PQ_PIPELINE_ABORTED {
        refusal = refusal ?? self.refusal(result)
      }
      position += 1
    }
    if let refusal { throw refusal }
    return results
  }

  /// Sends what is still unsent, and waits until an answer can be taken without waiting.
  private func waitForAnswer(
    _ connection: OpaquePointer, until end: ContinuousClock.Instant, _ refusal: PostgresError?
  ) throws(PostgresError) {
    let start = ContinuousClock.now
    while true {
      let unsent = pq.pointee.PQflush(connection)
      if unsent < 0 { throw fail(refusal) }
      if unsent == 0, pq.pointee.PQisBusy(connection) == 0 { return }
      let events = Int16(POLLIN) | (unsent == 1 ? Int16(POLLOUT) : 0)
      let mayEnd = primary != nil || deadline != nil
      let look = mayEnd ? min(end, ContinuousClock.now + NetworkLink.lookTime) : end
      guard let ready = Waiting.wait(pq.pointee.PQsocket(connection), for: events, until: look)
      else {
        if isReplaced { throw replaced() }
        if deadline?.ends(waitSince: start) == true { throw timedOut() }
        if look < end { continue }
        throw timedOut()
      }
      if ready & ~Int16(POLLOUT) != 0, pq.pointee.PQconsumeInput(connection) != 1 {
        throw fail(refusal)
      }
    }
  }

  private func refusal(_ result: OpaquePointer) -> PostgresError {
    let field = { [pq] (field: Int) -> String? in
      pq.pointee.PQresultErrorField(result, Int32(field)).map { String(cString: $0) }
    }
    let state = field(RUNNEL_PQ_SQLSTATE)
    let message = field(RUNNEL_PQ_PRIMARY) ?? "The database refused a statement."
    if state == PostgresError.lockTimeout {
      return PostgresError(
        .refused, state: state,
        "Another transaction has it locked, and did not end in time; nothing was changed (\(message))"
      )
    }
    let detail = field(RUNNEL_PQ_DETAIL).map { ": \($0)" } ?? ""
    return PostgresError(.refused, state: state, message + detail)
  }

  /// Closes the connection, which is broken; returns the error that says so.
  ///
  /// `refusal` is what the server said before: why it ended the connection, maybe.
  func fail(_ refusal: PostgresError? = nil) -> PostgresError {
    let text = refusal?.message ?? connection.map { PostgresHandshake.message(of: $0, pq) }
    let place = place
    close()
    return PostgresError(
      .disconnected, state: refusal?.state,
      "The connection to the database\(place) broke: \(text ?? "it was closed")")
  }

  /// True if another connection of the process has found a newer primary: what this one answers is old.
  var isReplaced: Bool { primary.map { PrimaryChoice.isReplaced($0) } ?? false }

  /// Closes the connection to a primary that was replaced; returns the error that says so.
  private func replaced() -> PostgresError {
    let place = place
    close()
    return PostgresError(
      .disconnected, "The database\(place) was replaced by another primary.")
  }

  /// Closes the connection of a program that ends; returns the error that says so.
  private func givenUp() -> PostgresError {
    let place = place
    close()
    return PostgresError(
      .timedOut, "The database\(place) did not answer in time, and the program ends.")
  }

  /// Stops what the server does, and closes the connection; returns the error that says so.
  private func timedOut() -> PostgresError {
    canceller.cancel()
    let place = place
    close()
    return PostgresError(.timedOut, "The database\(place) did not answer in time.")
  }

  /// The name with a blank before it, for messages; empty once closed.
  private var place: String { isOpen ? " \(name)" : "" }

  // MARK: Notifications

  var socket: Int32? { connection.map { pq.pointee.PQsocket($0) } }

  func takeNotifications() throws(PostgresError) -> [String] {
    guard let connection else { return [] }
    if pq.pointee.PQconsumeInput(connection) != 1 { throw fail() }
    var texts: [String] = []
    while let notification = pq.pointee.PQnotifies(connection) {
      if let text = notification.pointee.payload { texts.append(String(cString: text)) }
      pq.pointee.PQfreemem(notification)
    }
    return texts
  }
}
