import RunnelBase
package import RunnelStreams
package import RunnelTerminal
package import RunnelTree

/// Formats a record as a line of a list.
package struct RowText: Equatable {
  /// The columns before the first one: a mark, a state, and a blank.
  static let gutterWidth = 3
  /// The number of columns below which there is no gutter; the sign of a row's state stands before
  /// the row then.
  private static let gutterScreen = 50
  private static let transientAge = "not saved"

  package let definition: ViewDefinition
  package var now: Int64
  package let local: LocalTime
  package let glyphs: Glyphs
  /// The width of the whole screen, which decides which columns are shown.
  let screenWidth: Int
  /// The width of the list, which may be in a pane.
  let listWidth: Int
  /// The style of ages.
  let timeStyle: TimeStyle
  /// The hidden columns, by their indices in the definition.
  var hiddenColumns: Set<Int> = []
  /// The fields of columns that the user chose, which are shown on any screen.
  var chosenFields: Set<FieldPath> = []
  /// Whether columns are shown in full; then columns without a width come last, so that the others
  /// are aligned.
  var isWide = false
  /// The greatest number of lines of a row.
  var linesMax = 1
  /// The field that the user sorted the list by, whose column is always shown; nil for none.
  var sortedField: RowField?
  /// How values that a tree does not hold stand in the records.
  var coding = ValueCoding.tree

  package init(
    definition: ViewDefinition, now: Int64, local: LocalTime, glyphs: Glyphs, screenWidth: Int,
    listWidth: Int, timeStyle: TimeStyle, hiddenColumns: Set<Int> = [], isWide: Bool = false,
    linesMax: Int = 1, sortedField: RowField? = nil, chosenFields: Set<FieldPath> = []
  ) {
    self.definition = definition
    self.now = now
    self.local = local
    self.glyphs = glyphs
    self.screenWidth = screenWidth
    self.listWidth = listWidth
    self.timeStyle = timeStyle
    self.hiddenColumns = hiddenColumns
    self.isWide = isWide
    self.linesMax = linesMax
    self.sortedField = sortedField
    self.chosenFields = chosenFields
  }

  /// The state of a row that changes how it looks.
  package struct State: Hashable {
    var isTransient = false
    /// Whether the row is that of another who is typing.
    var isTyping = false
    var isChanged = false
    var isMarked = false
    /// Whether the user's write to the row was refused because others wrote there.
    var isConflict = false
    /// Whether the record has a draft.
    var hasDraft = false
    /// Whether a write to the row waits for the server.
    var isPending = false
    /// Whether the row arrived since the last visit.
    var isNew = false
    var isCursor = false
    /// The column of the cell under the column cursor, by its index in the definition; nil for none.
    var cell: Int?
    /// The names of the people whose cursor is on the row, in their workspaces.
    var people: [String] = []
  }

  /// Returns the lines of a record in a number of columns: at least one, at most `linesMax`.
  ///
  /// The columns that take the rest of the line go on in the lines below it; what does not fit into
  /// the last one is cut.
  ///
  /// `found` are the columns of other rows of this format.
  package func lines(
    for record: Record, state: State, width: Int, found: RowColumns = RowColumns()
  ) -> [StyledLine] {
    let first = line(for: record, state: state, width: width, found: found)
    guard linesMax > 1 else { return [first] }
    return [first] + furtherLines(for: record, state: state, width: width)
  }

  /// Returns the line of a record in a number of columns, the first one if it has several.
  package func line(
    for record: Record, state: State, width: Int, found: RowColumns = RowColumns()
  ) -> StyledLine {
    let node = record.row.node ?? .empty
    let columnsShown = found.shown(by: self)
    // On a narrow screen, the cursor's sign stands before the row, and the sign of the state at its
    // end.
    let end = hasGutter || !state.isCursor ? nil : sign(of: state)
    let people = hasGutter && !state.people.isEmpty ? Presence.sign(of: state.people, glyphs) : nil
    let room =
      width - (hasGutter ? RowText.gutterWidth : end == nil ? 0 : 2)
      - (people.map { CellWidth.width(of: $0.text) + 1 } ?? 0)
    let widths = found.widths(in: room, state, by: self)
    var line = hasGutter ? gutter(state) : StyledLine()
    for (index, shown) in columnsShown.enumerated() {
      let column = shown.column
      let isLast = index == columnsShown.count - 1
      let isAge = isLast && column.format == .age
      let value = column.field.node(key: record.row.key, node)
      let words =
        state.isTransient && isAge
        ? state.isTyping ? "" : RowText.transientAge : text(of: value, column, width: widths[index])
      let role = role(of: words, in: column, state)
      let isRight = isAge || column.format == .count || column.format == .number && value.isNumber
      let width = isWide ? max(widths[index], CellWidth.width(of: words)) : widths[index]
      let piece = linesMax > 1 && column.width == nil ? pieces(of: words, width: width)[0] : words
      let cell = CellText.fitted(piece, to: width, isRight: isRight, glyphs: glyphs)
      if state.cell == shown.index {
        line.append(cell, .searchCurrent)
      } else if role == .text, words.utf8.contains(UInt8(ascii: ":")) {
        line.append(StyledLine(cell).marking(links: WebLink.all(in: words)))
      } else {
        line.append(padded: cell, role)
      }
      if !isLast { line.append(" ") }
    }
    if let end { line.append(" " + end.text, end.role) }
    if let people { line.append(" " + people.text, people.role) }
    return line
  }

  private func role(of words: String, in column: ColumnDefinition, _ state: State) -> StyleRole {
    if state.isTransient { return .transient }
    if column.isColored, !words.isEmpty { return .color(ofValue: words) }
    return column.isMuted ? .muted : .text
  }

  /// Whether signs have columns of their own.
  var hasGutter: Bool { listWidth >= RowText.gutterScreen }

  private func gutter(_ state: State) -> StyledLine {
    var line = state.isMarked ? StyledLine(glyphs.marked, .rowMarked) : StyledLine(" ")
    if let sign = condition(of: state) {
      line.append(sign.text + " ", sign.role)
    } else {
      line.append("  ")
    }
    return line
  }

  /// Returns the sign before a row on a narrow screen, or nil if it has none.
  func narrowSign(of state: State) -> StyledRun? { hasGutter ? nil : sign(of: state) }

  func sign(of state: State) -> StyledRun? {
    state.isMarked ? StyledRun(glyphs.marked, .rowMarked) : condition(of: state)
  }

  private func condition(of state: State) -> StyledRun? {
    if state.isTransient { return StyledRun(glyphs.transient, .transient) }
    if state.isConflict { return StyledRun(glyphs.conflict, .conflict) }
    if state.hasDraft { return StyledRun(glyphs.transient, .transient) }
    if state.isPending { return StyledRun(glyphs.pending, .rowPending) }
    if state.isChanged { return StyledRun(glyphs.changed, .rowChanged) }
    return state.isNew ? StyledRun(glyphs.new, .rowNew) : nil
  }

  /// Returns the widths of columns: the fixed ones as given, and the rest shared among the others.
  func widths(
    of columns: [ColumnDefinition], in width: Int, _ state: State
  ) -> [Int] {
    var widths = columns.map { column in
      guard let width = column.width else { return 0 }
      switch column.format {
      case .age: return max(width, timeStyle.width)
      case .time: return width == 5 ? local.timeWidth : width
      case .date: return width == ColumnDefinition.timestampWidth ? timestampWidth : width
      default: return width
      }
    }
    if state.isTransient, let last = columns.last, last.format == .age {
      widths[widths.count - 1] = max(last.width ?? 0, RowText.transientAge.count)
    }
    grow(&widths, of: columns)
    let taken = widths.reduce(0, +) + max(columns.count - 1, 0)
    let open = columns.indices.filter { columns[$0].width == nil }
    guard !open.isEmpty else { return widths }
    let (share, extra) = max(width - taken, 0).quotientAndRemainder(dividingBy: open.count)
    for (order, index) in open.enumerated() { widths[index] = share + (order < extra ? 1 : 0) }
    return widths
  }

  /// The greatest width of a column for the rest of the line from which the titles of other columns
  /// are shown in full, and from which their values are.
  private static let openWidths = (titles: 24, values: 40)

  /// Widens inferred columns that cut their values or titles, as far as the list has room: first until
  /// no title is cut and dense times show the time of day, then until no value is cut, each time from the
  /// left.
  ///
  /// The room is that of the list, so that it is the same in all rows.
  private func grow(_ widths: inout [Int], of columns: [ColumnDefinition]) {
    if columns.allSatisfy({ $0.wideWidth == nil }) { return }
    func title(_ column: ColumnDefinition) -> Int {
      // The sign of the order stands beside the title.
      let sign = column.field.rowField == definition.source.order.sortKeys.first?.field ? 1 : 0
      let title = min(CellWidth.width(of: column.field.title) + sign, column.wideWidth ?? 0)
      return column.isDense ? max(title, timestampWidth) : title
    }
    grow(&widths, of: columns, besideOpen: RowText.openWidths.titles, to: title)
    var cut = 0
    for (index, column) in columns.enumerated() where column.width != nil {
      cut += max(title(column) - widths[index], 0)
    }
    if cut > 0 {
      take(&cut, from: &widths, of: columns)
      grow(&widths, of: columns, besideOpen: RowText.openWidths.titles, to: title)
    }
    grow(&widths, of: columns, besideOpen: RowText.openWidths.values) { column in
      isWithTime(column) ? timestampWidth : column.wideWidth ?? 0
    }
  }

  /// Takes room from columns that have more than they need, for titles that are cut.
  private func take(_ cut: inout Int, from widths: inout [Int], of columns: [ColumnDefinition]) {
    for (index, column) in columns.enumerated() {
      guard let least = column.leastWidth, least < widths[index] else { continue }
      let taken = min(widths[index] - least, cut)
      widths[index] -= taken
      cut -= taken
    }
  }

  /// Widens columns up to the width that each wants; those for the rest of the line keep a width, or
  /// what they need if that is known to be less.
  private func grow(
    _ widths: inout [Int], of columns: [ColumnDefinition], besideOpen openWidth: Int,
    to wanted: (ColumnDefinition) -> Int
  ) {
    let open = columns.filter { $0.width == nil }
      .reduce(0) { $0 + min($1.wideWidth ?? openWidth, openWidth) }
    let gutter = hasGutter ? RowText.gutterWidth : 0
    var spare = listWidth - gutter - 1 - widths.reduce(0, +) - columns.count - open
    for (index, column) in columns.enumerated() where spare > 0 && column.width != nil {
      let growth = min(max(wanted(column) - widths[index], 0), spare)
      widths[index] += growth
      spare -= growth
    }
  }

  /// Whether the values of a column are shown as dates with a time of day: those of an inferred one that
  /// have it, and those of one that is as wide as that.
  private func isWithTime(_ column: ColumnDefinition) -> Bool {
    column.format == .date
      && [column.wideWidth, column.width].contains(ColumnDefinition.timestampWidth)
  }

  /// The width of a date with the time of day.
  private var timestampWidth: Int { 11 + local.timeWidth }

  // MARK: Values

  /// Returns the text of a value in a column of a format and a width: a date has its time of day if
  /// there is room for it.
  private func text(of node: RunnelTree.Node, _ column: ColumnDefinition, width: Int) -> String {
    let text = text(of: node, column.format)
    guard isWithTime(column), width >= timestampWidth else { return text }
    let clock = self.text(of: node, .time)
    return clock.isEmpty || clock == text ? text : "\(text) \(clock)"
  }

  /// Returns the text of a value in a column that has room for all of it.
  package func text(of node: RunnelTree.Node, in column: ColumnDefinition) -> String {
    text(of: node, column, width: .max)
  }

  /// Returns the text of a value in a column of a format.
  package func text(of node: RunnelTree.Node, _ format: ColumnDefinition.Format) -> String {
    if let value = coding.codedValue(node) { return value.jsonText() }
    let json = node.json
    switch format {
    case .plain, .number: return FieldKind.text(of: json)
    case .mark: return json == .bool(true) ? glyphs.pinned : ""
    case .change:
      return ChangeText(ellipsis: glyphs.ellipsis, local: local).text(of: node)
        ?? FieldKind.text(of: json)
    case .count:
      if !node.children.isEmpty { return String(node.children.count) }
      return json == .number(0) ? "" : FieldKind.text(of: json)
    case .time, .date, .age:
      guard let time = StoredTime.moment(of: node.leaf) else {
        return dateText(of: FieldKind.text(of: json), format)
      }
      switch format {
      case .time: return local.timeText(time)
      case .date: return local.civil(time).dateText
      default: return timeStyle.text(of: time, now: now, local: local)
      }
    }
  }
}

extension RowText {
  /// Returns the age of a date that is a text without a zone, or what a column of another format shows of one
  /// in ISO 8601, as it is written; other texts stay as they are.
  private func dateText(of text: String, _ format: ColumnDefinition.Format) -> String {
    if format == .age, let date = DateText(text, local) {
      return timeStyle.text(of: date.start, now: now, local: local, hasTime: date.hasTime)
    }
    guard FieldProfile.isDate(text), text.utf8.count > 10 else { return text }
    return format == .time ? String(text.dropFirst(11).prefix(5)) : String(text.prefix(10))
  }
}

// MARK: - Titles

extension RowText {
  /// A title of a column, and where it stands.
  struct ColumnTitle: Equatable {
    /// The index of the column in the definition.
    var index: Int
    /// The place of the column's first cell in the line of a row.
    var start: Int
    /// The width of the column.
    var width: Int
    /// The place of the title's first cell in that line.
    var place: Int
    /// The title, cut if there is no room for it.
    var word: String

    /// The place behind the title.
    var end: Int { place + CellWidth.width(of: word) }
  }

  /// The title of a column in full.
  private struct FullTitle {
    var name: String
    /// The sign of the order beside the name; empty for none.
    var sign: String
    var isRight: Bool

    var width: Int { CellWidth.width(of: name) + CellWidth.width(of: sign) }

    /// Returns the title in a number of columns, which keeps the sign.
    func fitted(to width: Int, _ glyphs: Glyphs) -> String {
      if self.width <= width { return name + sign }
      let room = max(width - CellWidth.width(of: sign), 0)
      return CellText.fitted(name, to: room, isRight: false, glyphs: glyphs) + sign
    }
  }

  /// Returns the titles of the shown columns, for lines of a width; a sign of the order stands beside
  /// the title of the column that the rows are sorted by.
  func titles(width: Int, orderedBy order: QueryIndex, isDescending: Bool) -> [ColumnTitle] {
    let shown = shownColumns
    let start = hasGutter ? RowText.gutterWidth : 0
    let widths = widths(of: shown.map(\.column), in: width - start, State())
    let first = order.sortKeys.first
    let arrow = (first?.isDescending == true) != isDescending ? glyphs.down : glyphs.up
    let full = shown.enumerated().map { position, shown in
      let column = shown.column
      let isLast = position == widths.count - 1
      return FullTitle(
        name: column.title, sign: column.field.rowField == first?.field ? arrow : "",
        isRight: isLast && column.format == .age || [.count, .number].contains(column.format))
    }
    var titles: [ColumnTitle] = []
    var place = start
    for (position, title) in full.enumerated() {
      let width = widths[position]
      let word = title.fitted(to: width, glyphs)
      let blanks = title.isRight ? max(width - CellWidth.width(of: word), 0) : 0
      titles.append(
        ColumnTitle(
          index: shown[position].index, start: place, width: width, place: place + blanks,
          word: word))
      place += width + 1
    }
    lengthen(&titles, to: full)
    return titles
  }

  /// Lengthens titles that are cut over the cells that the title beside them leaves free.
  private func lengthen(_ titles: inout [ColumnTitle], to full: [FullTitle]) {
    for (position, title) in full.enumerated() {
      let cut = titles[position]
      let missing = title.width - CellWidth.width(of: cut.word)
      // A cell between two titles stays free.
      let spare: Int
      if title.isRight {
        spare = position == 0 ? 0 : cut.place - titles[position - 1].end - 1
      } else {
        spare = position == full.count - 1 ? 0 : titles[position + 1].place - cut.end - 1
      }
      let growth = min(missing, spare)
      guard growth > 0 else { continue }
      titles[position].word = title.fitted(to: title.width - missing + growth, glyphs)
      if title.isRight { titles[position].place -= growth }
    }
  }
}

/// The titles of the columns of a list.
struct ColumnTitles: Equatable {
  var titles: [RowText.ColumnTitle]
  /// The number of columns for which there is no room.
  var columnsWithoutRoom: Int

  /// Makes the titles for lines of a width.
  init(_ rows: RowText, width: Int, orderedBy order: QueryIndex, isDescending: Bool) {
    titles = rows.titles(width: width, orderedBy: order, isDescending: isDescending)
    columnsWithoutRoom = rows.columnsWithoutRoom
  }
}

extension ColumnDefinition {
  /// The title of the column.
  fileprivate var title: String {
    field == .value && format == .count ? "members" : field.title
  }
}

extension FieldPath {
  /// The title of a column of the field.
  var title: String {
    switch self {
    case .key: "key"
    case .value: "value"
    case .path(let path): path.shownText
    }
  }

  /// The field that an order by this field compares.
  var rowField: RowField {
    switch self {
    case .key: .key
    case .value: .value
    case .path(let path): .child(path)
    }
  }
}

extension RowText {
  /// Returns the formatter of a list's rows on the present screen.
  static func rowText(_ state: AppState, of screen: ListScreen, _ glyphs: Glyphs) -> RowText {
    var text = RowText(
      definition: screen.definition, now: state.now, local: state.settings.local, glyphs: glyphs,
      screenWidth: state.size.columns, listWidth: state.layout.body.width,
      timeStyle: state.settings.timeStyle,
      hiddenColumns: screen.look.hiddenColumns, isWide: screen.look.isWide,
      linesMax: screen.look.rowLines.linesMax(onScreenOf: state.size.rows),
      sortedField: screen.arrangement.order?.field, chosenFields: screen.look.chosenFields)
    text.coding = state.database.coding
    return text
  }
}

extension RunnelTree.Node {
  /// Whether the node is a number, or an amount that is a text.
  fileprivate var isNumber: Bool {
    switch leaf {
    case .number?: true
    case .string(let text)?: SortedTexts.isAmount(text)
    case .bool?, nil: false
    }
  }
}

extension StyledLine {
  /// Appends a text; blanks at both ends get no color, which sends less to the terminal.
  fileprivate mutating func append(padded text: String, _ role: StyleRole) {
    let bytes = text.utf8
    let start = bytes.prefix { $0 == UInt8(ascii: " ") }.count
    let end = bytes.reversed().prefix { $0 == UInt8(ascii: " ") }.count
    if start == bytes.count { return append(text) }
    if role == .text || start + end == 0 { return append(text, role) }
    if start > 0 { append(String(repeating: " ", count: start)) }
    append(String(text.dropFirst(start).dropLast(end)), role)
    if end > 0 { append(String(repeating: " ", count: end)) }
  }
}
