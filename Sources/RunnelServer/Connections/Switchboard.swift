import RunnelNetwork
import RunnelSync
import RunnelTree
import Synchronization

/// A connection that receives the messages of trees.
///
/// Loop only.
protocol ServedConnection: AnyObject {
  /// Takes a message of a tree.
  func take(_ news: TreeNews)
  /// Takes changes of what a listen shows.
  func take(_ run: PushRun, of listen: ListenNumber)
  /// Hands the sent bytes to the network.
  func flush()
  /// Ends the connection at once, because the server ends, or serves its database no more.
  func stop(_ reason: StopReason)
  /// Takes no more messages, and ends the connection, because the server ends, when those that were taken are
  /// done and answered.
  func stopWhenDone()
  /// Ends the connection for an administrator.
  func disconnect()
  /// Ends the session, because another connection of the client took over.
  func endSession()
  /// Checks the credential again, because secrets or keys have changed; ends it if it is not valid
  /// any more.
  func reviewCredential()
  /// Ends the connection if its credential depends on accounts that have not been read for a while.
  func endIfUnconfirmed()
  /// The id of the user whose credential is used; nil for none.
  var user: String? { get }
  /// The summary for an administrator.
  var summary: ConnectionSummary { get }
}

extension ServedConnection {
  func stopWhenDone() { stop() }

  func take(_ run: PushRun, of listen: ListenNumber) {
    preconditionFailure("Only sessions and streams listen.")
  }

  /// Ends the connection, because the server ends.
  func stop() { stop(.serverEnds) }
}

/// The summary of a connection for an administrator.
struct ConnectionSummary: Sendable {
  var number: Int64
  var kind: String
  var database: String
  var address: String
  var user: String
  var listenCount: Int
  var sentBytes: Int
  /// When the connection was opened, in milliseconds since 1970; set by the switchboard.
  var time: Int64 = 0
}

/// The connections by number: messages of trees go to the loops of the connections concerned.
///
/// Messages that are told together are handed to each loop together, and flushed once for each
/// connection.
final class Switchboard: TreeAudience, Sendable {
  struct Entry: Sendable {
    var connection: LoopBound<any ServedConnection>
    /// The name of the session; nil for none.
    var session: String?
    /// When the connection was opened, in milliseconds since 1970.
    var time: Int64
  }

  private struct State {
    var last: Int64 = 0
    var entries: [Int64: Entry] = [:]
    var sessions: [String: Int64] = [:]
    var isEnding = false
  }

  private let state = Mutex(State())

  /// The number of connections.
  var count: Int { state.withLock { $0.entries.count } }

  /// Adds a connection; returns its number, which is unique in the process.
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

  /// Removes a connection, which receives no more messages.
  func remove(_ number: Int64) {
    // The connection is released after the lock.
    let entry = state.withLock { state in
      let entry = state.entries.removeValue(forKey: number)
      if let session = entry?.session { state.sessions[session] = nil }
      return entry
    }
    withExtendedLifetime(entry) {}
  }

  func take(_ told: TreeTold) {
    let batches = state.withLock { state in
      var batches = LoopBatches(state.entries)
      for (number, news) in told { batches.add(news, to: number) }
      return batches.finish()
    }
    for (loop, messages) in batches { loop.run { Switchboard.tell(messages) } }
  }

  private static func tell(_ messages: [LoopBatches.Message]) {
    var touched: [any ServedConnection] = []
    var known: Set<ObjectIdentifier> = []
    func touch(_ connection: any ServedConnection) {
      if known.insert(ObjectIdentifier(connection)).inserted { touched.append(connection) }
    }
    for message in messages {
      switch message {
      case .news(let bound, let news):
        let connection = bound.value
        connection.take(news)
        touch(connection)
      case .run(let receivers, let run):
        for receiver in receivers {
          let connection = receiver.connection.value
          connection.take(run, of: receiver.listen)
          touch(connection)
        }
      }
    }
    for connection in touched { connection.flush() }
  }

  /// Ends the session with a name, if it still exists.
  func endSession(_ name: String) {
    let connection = state.withLock { state in
      state.sessions[name].flatMap { state.entries[$0]?.connection }
    }
    guard let connection else { return }
    connection.loop.run { connection.value.endSession() }
  }

  /// Ends the connection with a number, for an administrator; false if there is none.
  func disconnect(_ number: Int64) -> Bool {
    guard let connection = state.withLock({ $0.entries[number]?.connection }) else { return false }
    connection.loop.run { connection.value.disconnect() }
    return true
  }

  /// True once the server ends, so that no session begins.
  var isEnding: Bool { state.withLock { $0.isEnding } }

  /// Tells all connections, and those to come, that the server ends when what was taken is done.
  func stopAllWhenDone() {
    state.withLock { $0.isEnding = true }
    for connection in all { connection.loop.run { connection.value.stopWhenDone() } }
  }

  /// Ends all connections at once, because the server ends, or serves none of them.
  func stopAll(_ reason: StopReason = .serverEnds) {
    for connection in all { connection.loop.run { connection.value.stop(reason) } }
  }

  /// Tells the connections to a database why it is served here no more.
  func stop(database: String, _ reason: StopReason) {
    for connection in all {
      connection.loop.run {
        if connection.value.summary.database == database { connection.value.stop(reason) }
      }
    }
  }

  /// Makes all connections check their credentials again.
  func reviewCredentials() {
    for connection in all { connection.loop.run { connection.value.reviewCredential() } }
  }

  /// Makes the connections of some users check their credentials again.
  func reviewCredentials(of users: Set<String>) {
    for connection in all {
      connection.loop.run {
        if let user = connection.value.user, users.contains(user) {
          connection.value.reviewCredential()
        }
      }
    }
  }

  /// Ends the connections to some databases whose credentials depend on accounts that have not been read for
  /// a while.
  func endUnconfirmed(of databases: Set<String>) {
    for connection in all {
      connection.loop.run {
        if databases.contains(connection.value.summary.database) {
          connection.value.endIfUnconfirmed()
        }
      }
    }
  }

  private var all: [LoopBound<any ServedConnection>] {
    state.withLock { state in
      state.entries.keys.sorted().compactMap { state.entries[$0]?.connection }
    }
  }

  // MARK: Summaries

  /// The numbers of all connections, the oldest first.
  var numbers: [Int64] { state.withLock { $0.entries.keys.sorted() } }

  /// Passes the summaries of connections to `body`, oldest first, without those that have ended;
  /// `body` is called once, on any thread.
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

  /// The summaries from several loops, until all have answered.
  private final class Collected: Sendable {
    private let state: Mutex<(rest: Int, list: [ConnectionSummary])>

    init(_ count: Int) { state = Mutex((count, [])) }

    /// Adds a summary; returns all summaries if this was the last, else nil.
    func add(_ summary: ConnectionSummary) -> [ConnectionSummary]? {
      state.withLock { state in
        state.list.append(summary)
        state.rest -= 1
        return state.rest == 0 ? state.list : nil
      }
    }
  }
}
