import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree
import Synchronization

/// A read beside the tree's thread, from one state of the database, written piece by piece if it is too large
/// for memory.
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
    /// All of a short text.
    case whole(text: [UInt8], hash: String?)
    case refused(TreeError)
  }

  private struct State: ~Copyable {
    var snapshot: (any ServedSnapshot)?
    var export: TreeExport
    /// A piece that was read and is still to be told.
    var first: [UInt8]?
  }

  /// The length in bytes up to which a text is short.
  private static let shortMax = 65_536

  private let state: Mutex<State>

  private init(_ snapshot: sending any ServedSnapshot, _ export: TreeExport) {
    state = Mutex(State(snapshot: snapshot, export: export))
  }

  /// Opens the database and checks that the caller may read; reads a text that may be short.
  static func begin(
    _ wish: Wish, of database: ServedDatabase, now: Int64, isLarge: Bool
  ) -> Begun {
    guard database.place.isConfirmed else { return .refused(failure) }
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
      let large = LargeExport(snapshot, export)
      if !isLarge, let text = try large.short().get() {
        large.close()
        return .whole(text: text, hash: hash)
      }
      return .reading(large, hash: hash)
    } catch let error as TreeError where error.code != .storage {
      return .refused(error)
    } catch {
      return .refused(LargeExport.failure)
    }
  }

  /// The whole text if it is short; else nil, and the text begins with the next piece.
  private func short() -> Result<[UInt8]?, TreeError> {
    var text: [UInt8] = []
    while text.count <= LargeExport.shortMax {
      switch next() {
      case .success(let piece?): text += piece
      case .success(nil): return .success(text)
      case .failure(let error): return .failure(error)
      }
    }
    state.withLock { $0.first = text }
    return .success(nil)
  }

  /// The next piece; nil at the end.
  func next() -> Result<[UInt8]?, TreeError> {
    state.withLock { state in
      if let first = state.first {
        state.first = nil
        return .success(first)
      }
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
