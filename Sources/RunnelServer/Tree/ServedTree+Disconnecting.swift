import RunnelDatabase
import RunnelSync
import RunnelTree

// Disconnect requests that are due, in a transaction. Source: tree semantics, section 12.

extension ServedTree {
  /// Does the disconnect requests of a connection, each write that is allowed.
  mutating func carryOut(
    _ kept: KeptDisconnect, _ now: Int64, _ transaction: some ServedTransaction,
    _ told: inout TreeTold, of connection: Int64? = nil
  ) throws(Refused) {
    for write in kept.writes {
      do throws(Refused) {
        _ = try perform(
          write, kept.caller, now, transaction, &told, of: connection, leaving: kept.passing)
      } catch {
        guard case .refusal(let refusal) = error else { throw error }
        try tellUndone(write, refusal, kept.caller, now, transaction)
      }
    }
  }

  /// Tells the log of a write that is not done, because nobody else can be told.
  private func tellUndone(
    _ write: Write, _ refusal: TreeError, _ caller: Caller, _ now: Int64,
    _ transaction: some ServedTransaction
  ) throws(Refused) {
    guard let undone, undone.takesLine(now: now) else { return }
    var reason = refusal.message
    if refusal.code == .permissionDenied, let rules {
      let why = try refusing { () throws(TreeError) in
        try rules.explain(
          .write(write.assignments(now: now, reader: transaction)), as: caller.auth, now: now,
          before: TreeRulesReader(transaction))
      }
      reason = "denied: " + DenialText.reason(why)
    }
    undone.tell(write, of: caller, reason: reason)
  }

  /// Does all disconnect requests that were left when a server ended without notice.
  mutating func carryOutAll(
    now: Int64, _ transaction: some ServedTransaction
  ) throws -> TreeTold {
    var told: TreeTold = []
    for text in try transaction.takeLeftDisconnects() {
      // What cannot be read cannot be done, whatever is wrong with it.
      guard let kept = try? KeptDisconnect(parsing: text) else {
        undone?.tellUnreadable()
        continue
      }
      do throws(Refused) {
        try carryOut(kept, now, transaction, &told)
      } catch {
        _ = try error.refusal()
      }
    }
    return told
  }
}
