import RunnelNetwork
import RunnelSync
import RunnelTree
import Synchronization

/// A connection that is told what trees tell.
///
/// Loop only.
protocol ServedConnection: AnyObject {
  /// Takes what is told.
  func take(_ news: TreeNews)
  /// Hands to the network what was sent.
  func flush()
  /// The server ends.
  func stop()
  /// An administrator ends the connection.
  func disconnect()
  /// Another connection of the client took over.
  func endSession()
  /// What makes credentials valid has changed: one that is not any more ends.
  func reviewCredential()
  /// What an administrator is told of it.
  var summary: ConnectionSummary { get }
}

/// What an administrator is told of a connection.
struct ConnectionSummary: Sendable {
  var number: Int64
  var kind: String
  var database: String
  var address: String
  var user: String
  var listenCount: Int
  var sentBytes: Int
  /// When it was opened, in milliseconds since 1970; set by the switchboard.
  var time: Int64 = 0
}

/// Where each connection is, by its number: what trees tell goes to the loops of those concerned.
///
/// What is told at once is handed to each loop at once, and flushed once for each connection.
final class Switchboard: TreeAudience, Sendable {
  private struct Entry: Sendable {
    var connection: LoopBound<any ServedConnection>
    /// The name of the session; nil for none.
    var session: String?
    /// When it was opened, in milliseconds since 1970.
    var time: Int64
  }

  private struct State {
    var last: Int64 = 0
    var entries: [Int64: Entry] = [:]
    var sessions: [String: Int64] = [:]
  }

  private let state = Mutex(State())

  /// The number of connections.
  var count: Int { state.withLock { $0.entries.count } }

  /// Adds a connection; returns its number, which no other one of the process has or had.
  func add(_ connection: any ServedConnection, on loop: NetworkLoop, session: String?) -> Int64 {
    let entry = Entry(
      connection: LoopBound(connection, to: loop), session: session, time: ServerWorld.calendar)
    return state.withLock { state in
      state.last += 1
      state.entries[state.last] = entry
      if let session { state.sessions[session] = state.last }
      return state.last
    }
  }

  /// A connection is told nothing any more.
  func remove(_ number: Int64) {
    // It is released after the lock.
    let entry = state.withLock { state in
      let entry = state.entries.removeValue(forKey: number)
      if let session = entry?.session { state.sessions[session] = nil }
      return entry
    }
    withExtendedLifetime(entry) {}
  }

  func take(_ told: TreeTold) {
    var batches: [(loop: NetworkLoop, told: [(LoopBound<any ServedConnection>, TreeNews)])] = []
    var indexes: [NetworkLoop: Int] = [:]
    state.withLock { state in
      for (number, news) in told {
        guard let connection = state.entries[number]?.connection else { continue }
        let index = indexes[connection.loop] ?? batches.count
        if index == batches.count {
          indexes[connection.loop] = index
          batches.append((connection.loop, []))
        }
        batches[index].told.append((connection, news))
      }
    }
    for batch in batches {
      let told = batch.told
      batch.loop.run { Switchboard.tell(told) }
    }
  }

  private static func tell(_ told: [(LoopBound<any ServedConnection>, TreeNews)]) {
    var touched: [ObjectIdentifier: any ServedConnection] = [:]
    for (bound, news) in told {
      let connection = bound.value
      connection.take(news)
      touched[ObjectIdentifier(connection)] = connection
    }
    for connection in touched.values { connection.flush() }
  }

  /// Ends the session of a name, if it is still there.
  func endSession(_ name: String) {
    let connection = state.withLock { state in
      state.sessions[name].flatMap { state.entries[$0]?.connection }
    }
    guard let connection else { return }
    connection.loop.run { connection.value.endSession() }
  }

  /// Ends the connection of a number, for an administrator; false if there is none.
  func disconnect(_ number: Int64) -> Bool {
    guard let connection = state.withLock({ $0.entries[number]?.connection }) else { return false }
    connection.loop.run { connection.value.disconnect() }
    return true
  }

  /// Tells all connections that the server ends.
  func stopAll() {
    for connection in all { connection.loop.run { connection.value.stop() } }
  }

  /// Has all connections look again whether their credentials are valid.
  func reviewCredentials() {
    for connection in all { connection.loop.run { connection.value.reviewCredential() } }
  }

  private var all: [LoopBound<any ServedConnection>] {
    state.withLock { state in
      state.entries.keys.sorted().compactMap { state.entries[$0]?.connection }
    }
  }

  // MARK: Summaries

  /// The numbers of all connections, the oldest first.
  var numbers: [Int64] { state.withLock { $0.entries.keys.sorted() } }

  /// Gives what an administrator is told of connections to `body`, the oldest first, without those that
  /// have ended; it is called once, on any thread.
  func summaries(
    of numbers: ArraySlice<Int64>, _ body: @escaping @Sendable ([ConnectionSummary]) -> Void
  ) {
    let entries = state.withLock { state in numbers.compactMap { state.entries[$0] } }
    if entries.isEmpty { return body([]) }
    let found = Collected(entries.count)
    for entry in entries {
      entry.connection.loop.run {
        var summary = entry.connection.value.summary
        summary.time = entry.time
        if let list = found.add(summary) { body(list.sorted { $0.number < $1.number }) }
      }
    }
  }

  /// What several loops find out, until all have.
  private final class Collected: Sendable {
    private let state: Mutex<(rest: Int, list: [ConnectionSummary])>

    init(_ count: Int) { state = Mutex((count, [])) }

    /// All that was added, if this was the last.
    func add(_ summary: ConnectionSummary) -> [ConnectionSummary]? {
      state.withLock { state in
        state.list.append(summary)
        state.rest -= 1
        return state.rest == 0 ? state.list : nil
      }
    }
  }
}
