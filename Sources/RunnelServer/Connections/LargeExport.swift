import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree
import Synchronization

/// An export that is too large for memory, written piece by piece from one state of the database.
///
/// It is used on the file thread, one call after another.
final class LargeExport: Sendable {
  /// The read to carry out.
  struct Wish: Sendable {
    var query: Query
    var form: TreeExport.Form
    var isPretty: Bool
    var hashes: Bool
    var caller: Caller
  }

  /// The result of `begin`.
  enum Begun: Sendable {
    case reading(LargeExport, hash: String?)
    case refused(TreeError)
  }

  private struct State: ~Copyable {
    var snapshot: (any ServedSnapshot)?
    var export: TreeExport
  }

  private let state: Mutex<State>

  private init(_ snapshot: sending any ServedSnapshot, _ export: TreeExport) {
    state = Mutex(State(snapshot: snapshot, export: export))
  }

  /// Opens the database and checks that the caller may read.
  static func begin(_ wish: Wish, of database: ServedDatabase, now: Int64) -> Begun {
    do {
      let snapshot = try database.place.snapshot()
      let tree = ServedTree(rules: database.rules, database.allowance)
      let checked = try snapshot.read { transaction in
        Result { () throws(TreeError) in
          try tree.checkRead(wish.query, wish.caller, now: now, transaction)
          try tree.checkIndex(wish.query, transaction)
          try tree.checkSize(wish.query, wish.caller, transaction)
          return wish.hashes ? try transaction.contentHash(of: wish.query) : nil
        }
      }
      let hash = try checked.get()
      let export = TreeExport(
        wish.query, form: wish.form, layout: wish.isPretty ? .pretty : .compact)
      return .reading(LargeExport(snapshot, export), hash: hash)
    } catch let error as TreeError where error.code != .storage {
      return .refused(error)
    } catch {
      return .refused(LargeExport.failure)
    }
  }

  /// The next piece; nil at the end.
  func next() -> Result<[UInt8]?, TreeError> {
    state.withLock { state in
      guard let snapshot = state.snapshot else { return .failure(LargeExport.failure) }
      do {
        var export = state.export
        let piece = try snapshot.read { try export.next(from: $0) }
        state.export = export
        return .success(piece)
      } catch {
        return .failure(LargeExport.failure)
      }
    }
  }

  /// Closes the database; the rest is not needed.
  func close() {
    state.withLock { state in
      // A connection that only read can be closed without loss, even if closing fails.
      try? state.snapshot?.close()
      state.snapshot = nil
    }
  }

  private static let failure = TreeError(.unavailable, "The database cannot be read now.")
}
