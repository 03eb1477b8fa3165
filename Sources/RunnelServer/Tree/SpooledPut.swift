import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree

/// A value put by an administrator that is too large for memory.
struct SpooledPut {
  var body: SpooledBody
  var path: Path
  var condition: String?
  var hashes: Bool
}

extension ServedTree {
  /// Puts a spooled value at its place.
  ///
  /// - Throws: errors that make the batch fail.
  mutating func perform(
    _ put: SpooledPut, for caller: Caller, of connection: Int64, now: Int64,
    _ transaction: some ServedTransaction
  ) throws -> TreeTold {
    var told: TreeTold = []
    do throws(Refused) {
      if let condition = put.condition,
        let stale = try stale(put.path, condition, caller, now, transaction)
      {
        return [(connection, .answered(.answer(stale)))]
      }
      let body = try resolved(put, now, transaction)
      try failing {
        try body.withBytes { document, wasRead in
          try transaction.importJSON(
            document, at: put.path, author: caller.author, now: now, wasRead: wasRead)
        }
        shelf.forget(around: put.path)
        told = ServedTree.told(try audiences.apply(touched: [put.path], after: transaction))
        told += try serviceEvents(touched: [put.path], now: now, transaction)
      }
      let hash = try hash(of: put.path, caller, now, isWanted: put.hashes, transaction)
      told.append((connection, .answered(.answer(.written([], hash: hash)))))
    } catch {
      told = [(connection, .answered(.answer(.refused(try error.refusal()))))]
    }
    return told
  }
  /// The body with its server values resolved, before anything is replaced.
  private func resolved(
    _ put: SpooledPut, _ now: Int64, _ transaction: some ServedTransaction
  ) throws(Refused) -> SpooledBody {
    do {
      return try put.body.resolved(at: put.path, now: now, transaction)
    } catch let error as TreeError where error.code != .storage {
      throw .refusal(error)
    } catch {
      throw .failure(error)
    }
  }
}
