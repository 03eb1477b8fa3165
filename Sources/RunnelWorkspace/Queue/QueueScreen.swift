package import RunnelBase
import RunnelTerminal
package import RunnelTree

/// The queue of writes as a list: refused writes, writes under way, and writes that wait for the
/// origin.
package struct QueueScreen: Hashable, Sendable {
  private static let section = "queue"
  /// The row that says that nothing of the shown account is there.
  private static let emptyRow = "none"

  /// The number of characters of the typed text in the line of a refused write.
  private static let typedMax = 30

  /// The ids of the refused writes that are shown in full.
  package var opened: Set<AppRequestID> = []
  /// The ids of the writes waiting for the origin that are shown in full.
  var openedPending: Set<Int64> = []
  package private(set) var content = ListContent()
  /// The lines of the rows, with the ages at the last change of the queue.
  ///
  /// They are kept: the row of a write is found by a look at the whole queue, and what is written is
  /// compared for its details. A key is to cost no more than the rows on the screen.
  private(set) var lines: [String: StyledLine] = [:]
  package var list = ListState()
  /// The time when an age in the queue changes its text, in milliseconds since 1970; nil if none
  /// does.
  package private(set) var due: Int64?
  /// Words about unsent texts, which are drafts and not in the queue; empty if there are none.
  var wordsOnDrafts = ""
  /// A line for each other account whose writes wait.
  var others: [StyledLine] = []
  /// What is said if nothing of the shown account waits, and nothing was refused.
  var emptyText = ""
  /// How values that a tree does not hold stand in the writes.
  var coding = ValueCoding.tree

  /// The refused write under the cursor, whose row or detail row the cursor is on; nil if there is
  /// none.
  func cursorWrite(in queue: WriteQueue) -> WriteQueue.Refused? {
    guard case .row(let id)? = list.cursor, let number = id.split(separator: ".").first else {
      return nil
    }
    return queue.refused.first { "\($0.id)" == number }
  }

  /// The write waiting for the origin under the cursor, or nil if there is none.
  func cursorPending(in queue: WriteQueue) -> PendingWrite? {
    guard case .row(let id)? = list.cursor, let name = id.split(separator: ".").first else {
      return nil
    }
    return queue.pending.first { QueueScreen.row(of: $0) == name }
  }

  /// The row id of a write that waits for the origin.
  package static func row(of write: PendingWrite) -> String { "p\(write.id)" }

  /// Builds the rows again.
  mutating func rebuild(_ queue: WriteQueue, now: Int64, height: Int) {
    lines = [:]
    due = queue.times.compactMap { Age.nextChange(of: $0, now: now) }.min()
    var ids: [String] = []
    // Oldest first: if they are tried again from the top, they are written in their original order.
    for item in queue.refused {
      let id = "\(item.id)"
      let state = item.draft == nil ? "refused " : "conflict"
      var line = StyledLine(" ! \(state) ", .conflict)
      line.append(item.title(coding))
      // The typed text distinguishes several messages to one place.
      if item.draft == nil, let typed = item.purpose.kind.typed.first {
        line.append("  \(typed.prefix(QueueScreen.typedMax))")
      }
      line.append("  \(QueueScreen.tries(item.tries)), \(Age.text(of: item.at, now: now))", .muted)
      lines[id] = line
      ids.append(id)
      if opened.contains(item.id) { append(detail(of: item), under: id, to: &ids) }
    }
    for (id, write) in queue.waiting.sorted(by: { $0.key < $1.key }) {
      let id = "w\(id)"
      var line = StyledLine("   waiting  ", .rowPending)
      line.append(write.request.deed)
      line.append("  \(Age.text(of: write.since, now: now))", .muted)
      lines[id] = line
      ids.append(id)
    }
    for write in queue.pending {
      let id = QueueScreen.row(of: write)
      let isUnknown = queue.unknown.contains(write.id)
      lines[id] = PendingText.line(of: write, isUnknown: isUnknown, now: now, coding)
      ids.append(id)
      if openedPending.contains(write.id) {
        append(PendingText.detail(of: write, isUnknown: isUnknown, coding), under: id, to: &ids)
      }
    }
    if !others.isEmpty, ids.isEmpty {
      lines[QueueScreen.emptyRow] = StyledLine(emptyText + wordsOnDrafts, .muted)
      ids.append(QueueScreen.emptyRow)
    }
    for (index, line) in others.enumerated() {
      lines["o\(index)"] = line
      ids.append("o\(index)")
    }
    let old = content
    content = ListContent(sections: [
      ListSection(
        id: QueueScreen.section, rows: ids,
        emptyText: emptyText + wordsOnDrafts)
    ])
    // If the write under the cursor is gone, the cursor moves to the next one.
    let before = list.cursor
    list.apply(.reload, from: old, to: content, height: height)
    if old.rowCount > 0, before == list.cursor { return }
    if old.rowCount > 0, case .row? = list.cursor { return }
    if let first = ids.first { _ = list.moveTo(.row(first), in: content, height: height) }
  }

  /// The headings of the sections, by section.
  func headings(_ queue: WriteQueue) -> [String: ListHeading] {
    let count = queue.refused.count + queue.waiting.count + queue.pending.count
    return [
      QueueScreen.section: ListHeading(
        title: StyledLine("Writes that wait or were refused", .sectionHeader),
        detail: StyledLine("\(count)", .muted))
    ]
  }

  private static func tries(_ count: Int) -> String { count == 1 ? "1 try" : "\(count) tries" }

  private mutating func append(_ details: [StyledLine], under id: String, to ids: inout [String]) {
    for (index, line) in details.enumerated() {
      lines["\(id).\(index)"] = line
      ids.append("\(id).\(index)")
    }
  }

  /// The width of the lines of a reason: what matters may be its end.
  private static let reasonWidth = 72

  private static func reason(_ text: String) -> [StyledLine] {
    StyledLine(text, .error).wrapped(width: reasonWidth).map {
      StyledLine("      \($0.text)", .error)
    }
  }

  /// Returns the reason why a write was refused, and the text typed for it.
  private func detail(of item: WriteQueue.Refused) -> [StyledLine] {
    var details = QueueScreen.reason(item.refusal.message)
    for field in item.refusal.fields {
      details += QueueScreen.reason("\(field.name) \(field.message)")
    }
    let others = item.others(coding).map { PendingText.detail(of: $0, coding) } ?? []
    if let draft = item.draft {
      for change in EntryText.changes(from: draft.base, to: draft.mine) {
        let name = change.name.isEmpty ? "" : "\(change.name)  "
        details.append(StyledLine("      - \(name)\(change.old.jsonText())", .muted))
        details.append(StyledLine("      + \(name)\(change.new.jsonText())", .ok))
      }
      return details + others
    }
    if case .earlier(let write) = item.purpose {
      return details + PendingText.detail(of: write, coding)
    }
    for text in item.purpose.kind.typed { details.append(StyledLine("      \(text)", .ok)) }
    return details + others
  }
}
