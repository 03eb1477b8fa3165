import RunnelBase
import RunnelTree

/// The drafts of forms and fields, kept until they are taken up again.
package struct Drafts: Hashable, Sendable {
  /// The greatest number of drafts; the oldest are dropped first.
  package static let countMax = 100
  /// The most bytes of all drafts together; the oldest are dropped first.
  package static let bytesMax = 256 << 10

  /// The drafts, the oldest first.
  package private(set) var all: [Draft] = []
  /// Counts the changes, for what is kept between frames.
  private(set) var revision = 0

  package init(_ drafts: [Draft] = []) {
    for draft in drafts { keep(draft) }
  }

  /// Keeps a draft, and returns the older ones that were dropped for lack of room.
  ///
  /// O(n) in the drafts.
  @discardableResult
  package mutating func keep(_ draft: Draft) -> [Draft] {
    revision += 1
    all.removeAll { $0 == draft }
    all.append(draft)
    var dropped: [Draft] = []
    var bytes = all.reduce(0) { $0 + $1.byteCount }
    while all.count > Drafts.countMax || bytes > Drafts.bytesMax, all.count > 1 {
      let oldest = all.removeFirst()
      bytes -= oldest.byteCount
      dropped.append(oldest)
    }
    return dropped
  }

  /// Whether a draft can be kept without dropping an older one.
  func hasRoom(for draft: Draft) -> Bool {
    all.count < Drafts.countMax
      && all.reduce(draft.byteCount) { $0 + $1.byteCount } <= Drafts.bytesMax
  }

  /// Takes a draft of a subject out of the drafts; nil if there is none.
  ///
  /// Of messages, which are all to be sent, it is the oldest; otherwise the newest is the one that counts.
  package mutating func take(_ subject: Draft.Subject) -> Draft? {
    let index =
      subject.kind == .message
      ? all.firstIndex { $0.subject == subject } : all.lastIndex { $0.subject == subject }
    guard let index else { return nil }
    revision += 1
    return all.remove(at: index)
  }

  /// Names records by the places to which they have moved.
  mutating func follow(_ moves: RecordMoves) {
    for index in all.indices {
      let place = moves.place(all[index].subject.path)
      if place == all[index].subject.path { continue }
      all[index].subject.path = place
      revision += 1
    }
  }

  /// Whether a record has a draft: of its form, or of one of its fields.
  func isOf(record path: Path) -> Bool {
    all.contains { $0.subject.path == path && $0.isOfRecord }
  }

  /// The fields of a record that have a draft of their own.
  func fields(ofRecord path: Path) -> Set<Path> {
    Set(all.lazy.map(\.subject).filter { $0.kind == .line && $0.path == path }.map(\.field))
  }
}

extension Draft {
  /// Whether it belongs to a record.
  fileprivate var isOfRecord: Bool {
    switch subject.kind {
    case .edit, .line, .field: true
    case .add, .message, .value, .child, .marked, .outside, .importing, .exporting: false
    }
  }

  /// The collection that a list shows a sign for; nil for the tree.
  fileprivate var collection: Path? {
    switch subject.kind {
    case .add, .message, .marked, .importing: subject.path
    case .edit, .line, .field: subject.path.parent
    case .value, .child, .outside, .exporting: nil
    }
  }
}

extension Drafts {
  /// The places in the tab bar with a draft: the lists of its collection, or else the tree.
  ///
  /// O(drafts · views).
  static func tabs(_ state: AppState) -> Set<Int> {
    let lists = state.tabs.lists
    var tabs = Set(lists.indices.filter { !lists[$0].line.draft.isEmpty }.map(Tab.view))
    // What is being composed stands in its line.
    for case .compose(let composer) in state.layers { tabs.remove(.view(composer.view)) }
    for draft in state.writes.drafts.all where draft.subject.kind != .exporting {
      let shown = lists.indices.filter { lists[$0].definition.source.path == draft.collection }
      tabs.formUnion(shown.isEmpty ? [.tree] : shown.map(Tab.view))
    }
    return Set(tabs.map(state.tabs.position(of:)))
  }

  /// The number of writes under way whose texts are kept as drafts until they are on disk.
  ///
  /// O(writes).
  package static func writingCount(_ state: AppState) -> Int {
    state.requests.writes.values.count { !$0.kind.isOneOfMany }
  }

  /// Returns the drafts that a session keeps: those that wait, those of open forms and fields, and
  /// the texts of writes that are not on disk.
  static func session(_ state: AppState) -> [Draft] {
    var drafts = state.writes.drafts
    var outside: [Draft] = []
    func keep(_ draft: Draft?) {
      guard let draft else { return }
      // The text of a whole record may be large: it takes no room from others.
      if draft.subject.kind == .outside { outside.append(draft) } else { drafts.keep(draft) }
    }
    for item in state.writes.queue.refused { keep(item.draft(state)) }
    // A write of many records is no text that was typed.
    let typed = state.requests.writes.filter { !$0.value.kind.isOneOfMany }
    for (_, purpose) in typed.sorted(by: { $0.key < $1.key }) { keep(purpose.kind.draft(state)) }
    for layer in state.layers {
      switch layer {
      case .form(let form): keep(form.draft(state))
      case .record(let screen): keep(screen.draft)
      default: break
      }
    }
    return drafts.all + Draft.fitting(outside)
  }
}
