import RunnelBase
package import RunnelStreams
package import RunnelTerminal
package import RunnelTree

/// Writes a record as one line of a list.
package struct RowText: Equatable {
  /// The columns before the first: a mark, a state, and a blank.
  private static let gutterWidth = 3
  /// Below so many columns there is no gutter: the sign of a row's state stands before it.
  private static let gutterScreen = 50
  private static let transientAge = "not saved"
  /// What a column that takes what is left should have at least.
  private static let openWidthMin = 12

  package let definition: ViewDefinition
  package var now: Int64
  package let local: LocalTime
  package let glyphs: Glyphs
  /// The width of the whole screen, which decides which columns are shown.
  let screenWidth: Int
  /// The width of the list, which may be one of several panes.
  let listWidth: Int
  /// How ages are written.
  let timeStyle: TimeStyle
  /// The columns that are not shown, by their places in the definition.
  var hiddenColumns: Set<Int> = []
  /// Whether columns are shown in full; those without a width come last then, so that the others
  /// stand one below the other.
  var isWide = false

  package init(
    definition: ViewDefinition, now: Int64, local: LocalTime, glyphs: Glyphs, screenWidth: Int,
    listWidth: Int, timeStyle: TimeStyle, hiddenColumns: Set<Int> = [], isWide: Bool = false
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
  }

  /// What distinguishes a row from the others.
  package struct State: Hashable {
    var isTransient = false
    var isChanged = false
    var isMarked = false
    /// What the user wrote in it was refused, because others wrote there.
    var isConflict = false
    /// It arrived since the last visit.
    var isNew = false
    var isCursor = false
  }

  /// The line of a record in so many columns.
  package func line(for record: Record, state: State, width: Int) -> StyledLine {
    let node = record.row.node ?? .empty
    let columns = shownColumns
    // Beside the cursor's sign, that of the state stands at the end.
    let end = hasGutter || !state.isCursor ? nil : sign(of: state)
    let room = width - (hasGutter ? RowText.gutterWidth : end == nil ? 0 : 2)
    let widths = widths(of: columns, in: room, state)
    var line = hasGutter ? gutter(state) : StyledLine()
    for (index, column) in columns.enumerated() {
      let isLast = index == columns.count - 1
      let isAge = isLast && column.format == .age
      let value = column.field.node(key: record.row.key, node)
      let words =
        state.isTransient && isAge ? RowText.transientAge : text(of: value, column.format)
      let role: StyleRole = state.isTransient ? .transient : column.isMuted ? .muted : .text
      let isRight = isAge || column.format == .count
      let width = isWide ? max(widths[index], CellWidth.width(of: words)) : widths[index]
      line.append(
        padded: CellText.fitted(words, to: width, isRight: isRight, glyphs: glyphs), role)
      if !isLast { line.append(" ") }
    }
    if let end { line.append(" " + end.text, end.role) }
    return line
  }

  /// Whether signs stand in columns of their own.
  var hasGutter: Bool { listWidth >= RowText.gutterScreen }

  private var shownColumns: [ColumnDefinition] {
    let columns = definition.columns.enumerated()
      .filter { $1.minimumScreen <= screenWidth && !hiddenColumns.contains($0) }
      .map(\.element)
    guard isWide else { return fitting(columns) }
    return columns.filter { $0.width != nil } + columns.filter { $0.width == nil }
  }

  /// The columns without those for which a pane has no room.
  ///
  /// Of those that a screen as narrow as the list would not show, the ones for the widest screens go
  /// first, until there is room for the columns that take what is left.
  private func fitting(_ columns: [ColumnDefinition]) -> [ColumnDefinition] {
    var columns = columns
    while !hasRoom(for: columns) {
      let last = columns.indices.filter { columns[$0].minimumScreen > listWidth }
        .max { columns[$0].minimumScreen < columns[$1].minimumScreen }
      guard let last else { break }
      columns.remove(at: last)
    }
    return columns
  }

  private func hasRoom(for columns: [ColumnDefinition]) -> Bool {
    let openCount = columns.count { $0.width == nil }
    let fixed = columns.reduce(0) { $0 + ($1.width ?? 0) } + columns.count
    let gutter = hasGutter ? RowText.gutterWidth : 0
    return fixed + gutter + openCount * RowText.openWidthMin <= listWidth
  }

  private func gutter(_ state: State) -> StyledLine {
    var line = state.isMarked ? StyledLine(glyphs.marked, .rowMarked) : StyledLine(" ")
    if let sign = condition(of: state) {
      line.append(sign.text + " ", sign.role)
    } else {
      line.append("  ")
    }
    return line
  }

  /// The sign that stands before a row on a narrow screen, if it has one.
  func narrowSign(of state: State) -> StyledRun? { hasGutter ? nil : sign(of: state) }

  private func sign(of state: State) -> StyledRun? {
    state.isMarked ? StyledRun(glyphs.marked, .rowMarked) : condition(of: state)
  }

  private func condition(of state: State) -> StyledRun? {
    if state.isTransient { return StyledRun(glyphs.transient, .transient) }
    if state.isConflict { return StyledRun(glyphs.conflict, .conflict) }
    if state.isChanged { return StyledRun(glyphs.changed, .rowChanged) }
    return state.isNew ? StyledRun(glyphs.new, .rowNew) : nil
  }

  /// The fixed widths as given, and what is left shared by the others.
  private func widths(
    of columns: [ColumnDefinition], in width: Int, _ state: State
  ) -> [Int] {
    var widths = columns.map { column in
      guard let width = column.width else { return 0 }
      switch column.format {
      case .age: return max(width, timeStyle.width)
      case .time: return width == 5 ? local.timeWidth : width
      default: return width
      }
    }
    if state.isTransient, let last = columns.last, last.format == .age {
      widths[widths.count - 1] = max(last.width ?? 0, RowText.transientAge.count)
    }
    let taken = widths.reduce(0, +) + max(columns.count - 1, 0)
    let open = columns.indices.filter { columns[$0].width == nil }
    guard !open.isEmpty else { return widths }
    let (share, extra) = max(width - taken, 0).quotientAndRemainder(dividingBy: open.count)
    for (order, index) in open.enumerated() { widths[index] = share + (order < extra ? 1 : 0) }
    return widths
  }

  // MARK: Values

  /// What a column writes of a value.
  package func text(of node: RunnelTree.Node, _ format: ColumnDefinition.Format) -> String {
    let json = node.json
    switch format {
    case .plain: return FieldKind.text(of: json)
    case .mark: return json == .bool(true) ? glyphs.pinned : ""
    case .change:
      return ChangeText(ellipsis: glyphs.ellipsis, local: local).text(of: node)
        ?? FieldKind.text(of: json)
    case .count: return json == .number(0) ? "" : FieldKind.text(of: json)
    case .time, .date, .age:
      guard case .number(let number) = json, let time = number.integer else {
        return FieldKind.text(of: json)
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
  /// How the rows of a list are written on the screen as it is.
  static func rowText(_ state: AppState, of screen: ListScreen, _ glyphs: Glyphs) -> RowText {
    RowText(
      definition: screen.definition, now: state.now, local: state.settings.local, glyphs: glyphs,
      screenWidth: state.size.columns, listWidth: state.layout.body.width,
      timeStyle: state.settings.timeStyle,
      hiddenColumns: screen.hiddenColumns, isWide: screen.isWide)
  }
}

extension StyledLine {
  /// Adds a text whose blanks at both ends have no colour, for which the terminal would be sent more.
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
