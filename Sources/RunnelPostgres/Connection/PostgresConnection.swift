import CPostgres
import Glibc

/// A connection to a database of PostgreSQL.
///
/// Statements are sent many at once, and their answers are read in one go (*pipeline mode*), so a
/// transaction takes few round trips. Parameters and results are in binary form. A statement's text
/// is prepared when it is first used.
///
/// ```
///   open --broken, timed out, close--> closed
/// ```
///
/// Isolation: synchronous, and used by one thread at a time; only its canceller is for others.
package final class PostgresConnection {
  /// How long the server is waited for.
  package struct Patience: Hashable, Sendable {
    /// For a connection, all hosts of the place together.
    package var connecting = Duration.seconds(10)
    /// For the answers to the statements of one call.
    package var answering = Duration.seconds(60)

    package init() {}
  }

  /// A statement's text and the types of its parameters, which are prepared together.
  private struct Preparation: Hashable {
    var text: String
    var types: [UInt32]
  }

  /// What the next answer of the pipeline is for.
  private enum Expected {
    case preparation(Preparation, name: String)
    case statement
  }

  let pq: UnsafePointer<runnel_pq>
  private let patience: Patience
  private let notices: NoticeLog
  /// libpq's connection; nil once closed.
  private(set) var connection: OpaquePointer?
  private var prepared: [Preparation: String] = [:]
  private var preparationCount = 0
  /// The last failure of `perform`; nil for none since this was set.
  package var lastFailure: PostgresError?
  /// Stops a statement that runs, from any thread.
  package let canceller: PostgresCanceller

  /// Connects.
  ///
  /// - Throws: `PostgresError` that says why there is no connection.
  package init(_ place: PostgresPlace, patience: Patience = Patience()) throws(PostgresError) {
    guard let pq = runnel_pq_load() else { throw .missingLibrary }
    let end = ContinuousClock.now + patience.connecting
    let notices = NoticeLog(pq)
    let opened = try PostgresHandshake(place, pq).connect(until: end)
    _ = pq.pointee.PQsetNoticeReceiver(
      opened, NoticeLog.receiver, Unmanaged.passUnretained(notices).toOpaque())
    canceller = PostgresCanceller(opened, pq)
    (self.pq, self.patience, self.notices) = (pq, patience, notices)
    connection = opened
    guard pq.pointee.PQsetnonblocking(opened, 1) == 0,
      pq.pointee.PQenterPipelineMode(opened) == 1
    else { throw fail() }
  }

  deinit { close() }

  /// True until the connection was closed, or found broken.
  package var isOpen: Bool { connection != nil }

  /// The version of the server, like 150018 for 15.18; 0 once closed.
  package var serverVersion: Int { connection.map { Int(pq.pointee.PQserverVersion($0)) } ?? 0 }

  /// The host and the database, for messages; empty once closed.
  package var name: String {
    guard let connection else { return "" }
    let parts = [
      pq.pointee.PQdb(connection), pq.pointee.PQhost(connection), pq.pointee.PQport(connection),
    ].map { $0.map { String(cString: $0) } ?? "" }
    return "\(parts[0]) at \(parts[1]):\(parts[2])"
  }

  /// Ends the connection; a transaction under way is rolled back by the server.
  package func close() {
    canceller.end()
    if let connection { pq.pointee.PQfinish(connection) }
    connection = nil
    prepared = [:]
  }

  /// The code of the last warning during the last call of `perform`; nil if there was none.
  package var warningState: String? { notices.warningState }

  // MARK: Statements

  /// Sends statements, and waits for all their answers.
  ///
  /// After a refused statement the server skips the rest. Then a transaction that was begun must be
  /// rolled back; without one, nothing was done.
  ///
  /// - Parameters:
  ///   - statements: done in order.
  ///   - patience: how long the answers may take; nil for that of the connection.
  /// - Returns: a result per statement.
  /// - Throws: `PostgresError`; after `disconnected` and `timedOut` the connection is closed.
  @discardableResult
  package func perform(
    _ statements: [PostgresStatement], within patience: Duration? = nil
  ) throws(PostgresError) -> [PostgresResult] {
    do {
      return try answers(to: statements, within: patience)
    } catch {
      lastFailure = error
      throw error
    }
  }

  private func answers(
    to statements: [PostgresStatement], within patience: Duration?
  ) throws(PostgresError) -> [PostgresResult] {
    guard let connection else {
      throw PostgresError(.disconnected, "There is no connection to the database.")
    }
    notices.warningState = nil
    let end = ContinuousClock.now + (patience ?? self.patience.answering)
    var expected: [Expected] = []
    // A text that is prepared in this call must not be prepared twice.
    var fresh: [Preparation: String] = [:]
    for statement in statements {
      let preparation = Preparation(text: statement.text, types: statement.values.map(\.type))
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
    return try answers(to: expected, connection, until: end)
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
    while true {
      let unsent = pq.pointee.PQflush(connection)
      if unsent < 0 { throw fail(refusal) }
      if unsent == 0, pq.pointee.PQisBusy(connection) == 0 { return }
      let events = Int16(POLLIN) | (unsent == 1 ? Int16(POLLOUT) : 0)
      guard let ready = Waiting.wait(pq.pointee.PQsocket(connection), for: events, until: end)
      else { throw timedOut() }
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
    let detail = field(RUNNEL_PQ_DETAIL).map { ": \($0)" } ?? ""
    return PostgresError(.refused, state: state, message + detail)
  }

  /// Closes the connection, which is broken; returns the error that says so.
  ///
  /// `refusal` is what the server said before: why it ended the connection, maybe.
  func fail(_ refusal: PostgresError? = nil) -> PostgresError {
    let text = refusal?.message ?? connection.map { PostgresHandshake.message(of: $0, pq) }
    close()
    return PostgresError(
      .disconnected, state: refusal?.state,
      "The connection to the database broke: \(text ?? "it was closed")")
  }

  /// Stops what the server does, and closes the connection; returns the error that says so.
  private func timedOut() -> PostgresError {
    canceller.cancel()
    close()
    return PostgresError(.timedOut, "The database did not answer in time.")
  }
}

/// Stops the statement that a connection runs.
package final class PostgresCanceller: Sendable {
  private let address: UnsafeAddress

  init(_ connection: OpaquePointer, _ pq: UnsafePointer<runnel_pq>) {
    address = UnsafeAddress(pq.pointee.PQgetCancel(connection))
  }

  /// Asks the server to stop what the connection does now; nothing if it is closed.
  ///
  /// Blocks while the request is delivered, on a connection of its own. Any thread may call it.
  package func cancel() {
    guard let pq = runnel_pq_load() else { return }
    address.withPointer { pointer in
      var message = [CChar](repeating: 0, count: 256)
      // Without success the connection's own patience ends it.
      _ = pq.pointee.PQcancel(pointer, &message, Int32(message.count))
    }
  }

  /// Makes `cancel` do nothing from now on.
  func end() {
    guard let pq = runnel_pq_load() else { return }
    address.take { pq.pointee.PQfreeCancel($0) }
  }
}
