import RunnelBase
import RunnelClient
import RunnelDatabase
import RunnelSync
import Synchronization

/// A client in this program, whose link is cut and made again.
final class ClientBox: Sendable {
  private let state = Mutex<(database: Database?, receipt: WriteReceipt?)>((nil, nil))

  func set(_ database: Database) { state.withLock { $0.database = database } }

  private func database() throws -> Database {
    guard let database = state.withLock({ $0.database }) else {
      throw BenchmarkError("The client has no database.")
    }
    return database
  }

  /// Ends the connection, and waits until it has ended.
  func goOffline() async throws {
    try await database().goOffline()
    try await wait { if case .link(.offline) = $0 { true } else { false } }
  }

  /// Connects, and waits until the server has answered everything.
  func goOnline() async throws {
    _ = try await database().goOnline()
    try await wait { $0 == .link(.live) }
  }

  private func wait(until isReached: (OriginStatus.State) -> Bool) async throws {
    guard let link = await (try database()).originLink else {
      throw BenchmarkError("The client has no link.")
    }
    for await status in link.statuses where isReached(status.state) { return }
    throw BenchmarkError("The link has ended.")
  }

  /// Writes a small record.
  func write(_ reference: Reference, _ number: Int) async throws {
    let value: JSONValue = [
      "n": .number(JSONNumber(Int64(number))), "text": .string("row \(number)"),
    ]
    let receipt = try await reference.setValue(value)
    state.withLock { $0.receipt = receipt }
  }

  /// Waits until the server has done the last write.
  func acknowledgement() async throws {
    try await state.withLock({ $0.receipt })?.acknowledgement()
  }

  func close() { state.withLock { $0.database }?.close() }
}
