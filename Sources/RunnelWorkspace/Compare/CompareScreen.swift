package import RunnelBase
import RunnelTerminal
package import RunnelTree

/// A write that was refused because others wrote at its place meanwhile.
package struct CompareDraft: Hashable, Sendable {
  /// The place to compare.
  package var path: Path
  /// The base version: the value when the user began.
  package var base: JSONValue
  /// The user's version.
  var mine: JSONValue
  /// The number of the write in the queue, or nil if it is not kept there.
  var queued: AppRequestID?
  /// Whether it is about an undo that was refused: then the base is what the user's write put there,
  /// and the user's version what stood there before it.
  var isUndo = false
  /// The record around the place; nil if there is none.
  ///
  /// It is compared instead if others removed or replaced it: a field alone would be half a record.
  var record: Whole?
  /// The places below, if only these are compared; empty if all is.
  var places: [Path] = []

  /// Two versions of a record.
  struct Whole: Hashable, Sendable {
    var path: Path
    var base: JSONValue
    var mine: JSONValue
  }

  /// The place that is read for the comparison.
  var readPath: Path { record?.path ?? path }

  /// Returns what is compared, and the version of the others, after `readPath` was read.
  func placed(in value: JSONValue) -> (draft: CompareDraft, theirs: JSONValue) {
    if !places.isEmpty { return (amid(value), value) }
    guard let record, let field = path.relative(to: record.path), !field.isRoot,
      let node = try? RunnelTree.Node(json: value)
    else { return (self, value) }
    if WriteCondition.keeping(field, in: node, at: record.path) != nil {
      return (self, node[field].exportJSON)
    }
    return (
      CompareDraft(path: record.path, base: record.base, mine: record.mine, queued: queued), value
    )
  }

  /// Returns the draft with what stands around its places in all versions.
  private func amid(_ value: JSONValue) -> CompareDraft {
    guard let around = try? RunnelTree.Node(json: value),
      let old = try? RunnelTree.Node(json: base), let new = try? RunnelTree.Node(json: mine)
    else { return self }
    var draft = self
    draft.base = places.reduce(around) { $0.replacing($1, with: old[$1]) }.exportJSON
    draft.mine = places.reduce(around) { $0.replacing($1, with: new[$1]) }.exportJSON
    return draft
  }

  /// The version that is chosen as mine, theirs or the base: after an undo, mine is what the user wrote, and
  /// the base what stood there before.
  func side(chosenAs name: ThreeWay.Side) -> ThreeWay.Side {
    switch name {
    case .base: isUndo ? .mine : .base
    case .mine: isUndo ? .base : .mine
    case .theirs: .theirs
    }
  }

  /// The label of a version.
  func label(of side: ThreeWay.Side) -> String {
    switch side {
    case .base: isUndo ? "your write" : "base"
    case .mine: isUndo ? "before it" : "mine"
    case .theirs: isUndo ? "now" : "theirs"
    }
  }
}

/// Three versions of one place, to choose from.
package struct CompareScreen: Hashable, Sendable {
  /// The number of columns from which the versions stand side by side.
  static let wideColumns = 100
  private static let section = "fields"

  /// What a row stands for.
  enum Line: Hashable, Sendable {
    /// A field with its three versions, in the wide form.
    case field(Int)
    /// A version of a field, in the narrow form.
    case version(ThreeWay.Side, Int)
    /// The typed value of a field, in the narrow form.
    case typed(Int)
    /// A line of a version of a field that is shown in full.
    case piece(ThreeWay.Side, Int, Int)

    /// The index of the field.
    var index: Int {
      switch self {
      case .field(let index), .version(_, let index), .typed(let index), .piece(_, let index, _):
        index
      }
    }

    /// The id of the row.
    var id: String {
      switch self {
      case .field(let index): "\(index)"
      case .version(let side, let index): "\(index).\(side)"
      case .typed(let index): "\(index).typed"
      case .piece(let side, let index, let piece): "\(index).\(side).\(piece)"
      }
    }
  }

  private(set) var draft: CompareDraft
  var model: ThreeWay
  /// Who wrote the versions, and when; nothing where that is not known.
  private var writers: [ThreeWay.Side: String] = [:]
  /// Whether the versions stand side by side; otherwise one below the other.
  private(set) var isWide = false
  package private(set) var content = ListContent()
  /// The fields whose values are shown in full.
  private var whole: Set<Int> = []
  /// The texts of the lines of versions that are shown in full, by their ids.
  private(set) var pieces: [String: String] = [:]
  /// What the rows stand for, by their ids.
  private(set) var lines: [String: Line] = [:]
  /// The fields of the sections, by the ids of those; empty in the wide form, which has one section.
  private var fieldsOfSections: [String: Int] = [:]
  /// The headings of the sections, by section.
  private(set) var headings: [String: ListHeading] = [:]
  package var list = ListState()

  init(_ draft: CompareDraft, theirs: JSONValue, columns: Int, height: Int) {
    self.draft = draft
    model = ThreeWay(base: draft.base, mine: draft.mine, theirs: theirs)
    rebuild(columns: columns, height: height)
    if let first = model.rows.firstIndex(where: { $0.choice == nil })
      ?? model.rows.firstIndex(where: { !$0.isSame })
    {
      moveTo(first, height: height)
    }
  }

  /// Names the record by the place to which it has moved.
  mutating func follow(_ moves: RecordMoves) { draft.follow(moves) }

  /// Notes who wrote the versions, and when.
  mutating func note(writers: [ThreeWay.Side: String]) { self.writers = writers }

  /// The label of a version, with who wrote it and when.
  package func title(of side: ThreeWay.Side) -> String {
    draft.label(of: side) + (writers[side].map { " · \($0)" } ?? "")
  }

  /// The fields that others changed.
  var changedPlaces: [Path] {
    model.rows.filter { $0.theirs != $0.base }
      .map { Path(unchecked: draft.path.keys + $0.place.keys) }
  }

  /// The index of the field under the cursor, or nil if the cursor is on none.
  var cursorIndex: Int? {
    switch list.cursor {
    case .row(let id): lines[id]?.index
    case .header(let id): fieldsOfSections[id]
    case nil: nil
    }
  }

  /// The version that a row of the narrow form shows; nil for the typed value, and in the wide form.
  func side(ofRow id: String) -> ThreeWay.Side? {
    switch lines[id] {
    case .version(let side, _)?, .piece(let side, _, _)?: side
    default: nil
    }
  }

  /// The height of the list; in the wide form the result stands below it.
  func listHeight(of height: Int) -> Int {
    isWide ? max(height - resultHeight(of: height), 1) : height
  }

  /// The height of the result; 0 in the narrow form.
  func resultHeight(of height: Int) -> Int {
    isWide ? min(model.rows.count + 2, height / 2) : 0
  }

  mutating func moveTo(_ index: Int, height: Int) {
    let line = isWide ? Line.field(index) : .version(.mine, index)
    _ = list.moveTo(.row(line.id), in: content, height: listHeight(of: height))
  }

  /// Moves the cursor to the next field that needs a choice, or if all are decided to the next
  /// conflict; returns false if there is no conflict.
  mutating func moveToConflict(by step: Int, height: Int) -> Bool {
    let conflicts = model.rows.indices.filter { model.rows[$0].isConflict }
    let undecided = conflicts.filter { model.rows[$0].choice == nil }
    let wanted = undecided.isEmpty ? conflicts : undecided
    guard let first = wanted.first, let last = wanted.last else { return false }
    let cursor = cursorIndex ?? -1
    let next =
      step > 0
      ? wanted.first { $0 > cursor } ?? first : wanted.last { $0 < cursor } ?? last
    moveTo(next, height: height)
    return true
  }

  /// Notes that the values of a field are shown in full, or no longer.
  mutating func toggle(whole index: Int) { whole.formSymmetricDifference([index]) }

  /// The lines of a version of a field that is shown in full; none for other fields.
  private mutating func pieces(of side: ThreeWay.Side, at index: Int, columns: Int) -> [Line] {
    if !whole.contains(index) { return [] }
    let texts = CompareScreen.pieces(of: model.rows[index].shown(side), columns: columns)
    return texts.enumerated().map { number, text in
      let line = Line.piece(side, index, number)
      pieces[line.id] = text
      return line
    }
  }

  /// Builds the rows again, after a choice or for another width.
  mutating func rebuild(columns: Int, height: Int) {
    let index = cursorIndex
    let wasWide = isWide
    isWide = columns >= CompareScreen.wideColumns
    var sections: [ListSection] = []
    (lines, fieldsOfSections, headings, pieces) = ([:], [:], [:], [:])
    func ids(_ made: [Line]) -> [String] {
      for line in made { lines[line.id] = line }
      return made.map(\.id)
    }
    if isWide {
      let rows = model.rows.indices.flatMap { index in
        [Line.field(index)]
          + ThreeWay.Side.allCases.flatMap { pieces(of: $0, at: index, columns: columns) }
      }
      sections = [ListSection(id: CompareScreen.section, rows: ids(rows))]
      headings[CompareScreen.section] = ListHeading(
        title: StyledLine(draft.path.shownPath, .sectionHeader))
    } else {
      for (index, row) in model.rows.enumerated() where !row.isSame {
        let id = "\(index)"
        var rows = ThreeWay.Side.allCases.flatMap { side in
          [Line.version(side, index)] + pieces(of: side, at: index, columns: columns)
        }
        if case .typed? = row.choice { rows.append(.typed(index)) }
        sections.append(ListSection(id: id, rows: ids(rows)))
        fieldsOfSections[id] = index
        // The cursor may be on the row of a typed value that was just given up.
        lines[Line.typed(index).id] = .typed(index)
        headings[id] = ListHeading(
          title: StyledLine(name(of: row), .sectionHeader),
          detail: StyledLine(
            writerWords(of: row) + words(of: row), row.choice == nil ? .conflict : .muted))
      }
    }
    content = ListContent(sections: sections)
    if wasWide != isWide || list.cursor == nil {
      list = ListState()
      list.apply(
        .reload, from: ListContent(), to: content, height: listHeight(of: height))
      if let index { moveTo(index, height: height) }
    }
    list.resize(toHeight: listHeight(of: height), in: content)
  }

  /// A text that says who changed a field last; empty if nobody did, or if it is not known.
  private func writerWords(of row: ThreeWay.Row) -> String {
    guard row.theirs != row.base, let writer = writers[.theirs] else { return "" }
    return "\(draft.label(of: .theirs)) by \(writer) · "
  }

  /// The name of a field in the comparison.
  package func name(of row: ThreeWay.Row) -> String {
    row.place.isRoot ? draft.path.lastKey?.text ?? "/" : row.place.text
  }

  /// A text that says how many fields differ, and how many need a choice.
  var counts: String {
    let differing = model.rows.count { !$0.isSame }
    let open = model.undecidedCount
    return "\(differing) differ, " + (open == 0 ? "all decided" : "\(open) to choose")
  }

  /// A text that says how many fields need a choice.
  package static func words(undecided count: Int) -> String {
    count == 1 ? "1 field needs a choice" : "\(count) fields need a choice"
  }

  /// A text that says which version of a field is chosen.
  package func words(of row: ThreeWay.Row) -> String {
    switch row.choice {
    case nil: return "choose"
    case .typed: return "typed"
    case .side(let side):
      let isMerged = side != .base && !row.isConflict && (side == .mine || !row.isSame)
      return draft.label(of: side) + (isMerged ? ", merged" : "")
    }
  }
}

extension CompareScreen: RecordNaming {}
