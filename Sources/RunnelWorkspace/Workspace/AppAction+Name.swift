import RunnelBase
import RunnelStore
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The names of actions in the view of the last actions.

extension AppAction {
  /// Returns the name of an action, in words; what goes into a hidden field is not told.
  static func name(of action: any Action, isHidden: Bool = false) -> String {
    switch action {
    case let action as AppAction:
      if isHidden, case .input = action { return "input to a hidden field" }
      return action.name
    default: return String(describing: type(of: action))
    }
  }

  /// Returns whether an action is listed even if it changed nothing: all but the clock's and the
  /// loop's own actions.
  static func isOfInterest(_ action: any Action) -> Bool {
    switch action as? AppAction {
    case .tick, .effectsTaken, .counted, .keptAll: false
    default: true
    }
  }
}

extension AppAction {
  fileprivate var name: String {  // tidy:table
    switch self {
    case .tick: "time"
    case .input(.key(let stroke)): "key \(stroke)"
    case .input(.paste(let text)): "paste of \(text.count) characters"
    case .input(.pasteTooLong(let count)): "paste of \(count) characters, too long"
    case .input(.mouse(let mouse)): "mouse \(mouse.kind)"
    case .input(.resize(let size)): "resize to \(size.columns)x\(size.rows)"
    case .input(.focus(let isThere)): isThere ? "focus" : "no focus"
    case .input(.reply): "answer of the terminal"
    case .list(let view, let change):
      change.update.isReload
        ? "list \(view + 1) read anew"
        : "list \(view + 1): \(change.update.insertedRows.count) in, "
          + "\(change.update.deletedRows.count) out, \(change.records.count) new or changed"
    case .tree(let path, _): "children of \(path)"
    case .record(let path, _): "record \(path)"
    case .answered(let id, let answer): "request \(id): \(answer.name)"
    case .keptAll(let view): "list \(view + 1) keeps all its rows for now"
    case .counted(let view, let count):
      "list \(view + 1) has \(count.map { "\($0)" } ?? "unknown many") rows"
    case .waiting(let view, let count): "list \(view + 1): \(count) wait"
    case .configured: "configuration"
    case .redefined(let file, _, _): "file \(file) changed"
    case .pendingWrites(let writes):
      writes.count == 1
        ? "1 write waits for the origin" : "\(writes.count) writes wait for the origin"
    case .rejected(let write, _): "write #\(write) was refused"
    case .refusedWrites(let kept):
      kept.count == 1 ? "1 refused write is kept" : "\(kept.count) refused writes are kept"
    case .origin(let facts): "server: \(facts.link)"
    case .accounts(let facts): "\(facts.accounts.count) accounts"
    case .devices(let facts): "\(facts.devices.count) devices"
    case .present(let people): "\(people.count) others are here"
    case .trouble(let message): "trouble: \(message)"
    case .interrupted(let message): "interrupted: \(message)"
    case .said(let message): message
    case .sessionKept(let problem): problem ?? "the session is kept again"
    case .fileGone: "the file is gone"
    case .fileBack: "the file is back"
    case .exported(let report): report.name
    case .fileReading(let count, let size): "\(count) of \(size) bytes read"
    case .fileRead(let file, _): "file \(file)"
    case .refusedListed(let file, let problem): problem ?? "refused records are in \(file)"
    case .indexing(.progress(let rows)): "an index has \(rows) rows"
    case .indexing: "the making of an index ended"
    case .savingCopy(.progress(let bytes, _)): "a copy has \(bytes) bytes"
    case .savingCopy: "the saving of a copy ended"
    case .greeted: "greeting"
    case .restored: "the last session"
    case .copied(let what, _): "copying the \(what)"
    case .opened(let link, _): "opening \(link)"
    case .edited(let edit, _): "editor of \(edit.path) ended"
    case .typedAhead: "a key that waited"
    case .effectsTaken: "effects taken"
    }
  }
}

extension Answer {
  fileprivate var name: String {
    switch self {
    case .written: "on disk"
    case .undonePartly(_, let partial): "undone, \(partial.doneCount) of \(partial.count) places"
    case .performed(let performed):
      "\(performed.kind?.rawValue ?? "nothing to do at") \(performed.path)"
    case .value: "a value"
    case .excerpt(let excerpt): "the beginning of a value of \(excerpt.byteCount) bytes"
    case .records(let rows): "\(rows.count) records"
    case .history(let page): "\(page.entries.count) entries of the history"
    case .orders(let orders): "\(orders.count) orders with an index"
    case .count(let count, let hasMore): "\(count)\(hasMore ? " or more" : "") records"
    case .clients(let page): "\(page.clients.count) clients"
    case .disconnected: "a client is disconnected"
    case .account: "done with an account"
    case .devices(let outcome): "\(outcome.removed) devices removed"
    case .result: "the result of a method"
    case .refused(let refusal): "refused: \(refusal.message)"
    }
  }
}
