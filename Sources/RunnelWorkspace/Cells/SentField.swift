import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// A field of marked records that was set on a replica, until the origin has answered: a record whose write it
/// refuses is named, and marked again.
struct SentField: Hashable, Sendable {
  /// The most of them that are remembered.
  private static let countMax = 8

  /// The field.
  let field: Path
  /// The view in which the records were marked.
  let view: Int
  /// The records.
  let records: Set<Path>
  /// Those that the origin refused, in the order of its answers.
  private(set) var refused: [Path] = []

  init(_ field: Path, of records: [Path], inView view: Int) {
    (self.field, self.view, self.records) = (field, view, Set(records))
  }

  /// Remembers what is being sent.
  static func note(_ state: inout AppState, _ sent: SentField) {
    state.writes.sentFields = ([sent] + state.writes.sentFields).prefix(countMax).map(\.self)
  }

  /// Marks the records of a refused write again, and names them; returns false if it set no field of marked
  /// records.
  static func take(_ state: inout AppState, rejected write: PendingWrite, _ reason: String) -> Bool
  {
    for index in state.writes.sentFields.indices {
      let left = state.writes.sentFields[index].left(by: write)
      if left.isEmpty { continue }
      state.writes.sentFields[index].refused += left
      let sent = state.writes.sentFields[index]
      sent.mark(&state, left)
      let names = MarkedField.names(sent.refused)
      let isChanged = reason.contains("changed meanwhile")
      let words =
        isChanged
        ? "others changed \(names) meanwhile: left as they are, and still marked"
        : "not set, and still marked: \(names) · \(reason)"
      state.say(.error, state.phrase(words.withoutFullStop, .syncOpen, "lists them"))
      return true
    }
    return false
  }

  /// The records whose field a refused write was to set; empty if it is no write of this.
  private func left(by write: PendingWrite) -> [Path] {
    var left: [Path] = []
    for part in write.parts {
      let count = part.path.keys.count - field.keys.count
      guard count > 0, part.path.keys[count...].elementsEqual(field.keys) else { return [] }
      let record = Path(unchecked: Array(part.path.keys[..<count]))
      guard records.contains(record), !refused.contains(record) else { return [] }
      left.append(record)
    }
    return left
  }

  /// Marks records in the list in which they were marked, or another one of the same collection.
  private func mark(_ state: inout AppState, _ paths: [Path]) {
    guard let place = paths.first?.parent else { return }
    let showing = state.tabs.lists.indices.filter {
      state.tabs.lists[$0].definition.source.path == place
    }
    guard let view = showing.contains(view) ? view : showing.first else { return }
    let list = state.tabs.lists[view]
    let rows = paths.map { Record.id(of: $0) }
    // Records that are not loaded or that a filter hides are marked, too.
    let isWhole = list.isComplete && list.filtering.filter == nil
    state.tabs.lists[view].marks.formUnion(isWhole ? rows.filter(list.isMarkable) : rows)
  }
}
