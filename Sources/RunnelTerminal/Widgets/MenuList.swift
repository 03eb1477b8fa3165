/// A list of commands or choices, which typed letters narrow down.
///
/// A value without time or keys: the owner narrows it to the typed letters, moves the selection and
/// reads `selected`. It draws only its rows, for a palette, or a box with a field, for a menu.
public struct MenuList: Hashable, Sendable {
  /// An item that can be chosen.
  public struct Item: Hashable, Sendable {
    /// The owner's id for it.
    public var id: String
    /// Its meaning in a few words, which are searched.
    public var title: String
    /// Its name, which is searched, too; empty if it has none.
    public var name: String
    /// The keys that do the same; empty if there are none.
    public var keys: String
    /// A note about it; empty for none.
    public var note: String
    /// Whether it is the current choice.
    public var isChosen: Bool
    /// The reason why it cannot be chosen now; nil if it can.
    public var refusal: String?

    /// Makes an item.
    public init(
      id: String, title: String, name: String = "", keys: String = "", note: String = "",
      isChosen: Bool = false, refusal: String? = nil
    ) {
      self.id = id
      self.title = title
      self.name = name
      self.keys = keys
      self.note = note
      self.isChosen = isChosen
      self.refusal = refusal
    }
  }

  /// An item that matches, and the positions of the letters in it.
  private struct Found: Hashable {
    var item: Item
    var positions: [Int]
  }

  private var items: [Item]
  private var pattern: String
  private var found: [Found]
  private var selection = 0
  /// The first visible row when a row was clicked; nil once the selection has moved otherwise.
  private var held: Int?

  /// Makes a list of the items that match a pattern, the best first; all in their order if it is
  /// empty.
  public init(_ items: [Item], pattern: String = "") {
    self.items = items
    self.pattern = pattern
    held = nil
    found = MenuList.matches(of: pattern, in: items)
  }

  /// The number of items, whether they match or not.
  public var itemCount: Int { items.count }

  /// The items that match the typed letters, the best first.
  public var shown: [Item] { found.map(\.item) }

  /// The selected item; nil if none matches.
  public var selected: Item? { found.indices.contains(selection) ? found[selection].item : nil }

  /// Shows the items that match some letters, and selects the best one.
  public mutating func narrow(to pattern: String) {
    guard pattern != self.pattern else { return }
    self.pattern = pattern
    held = nil
    found = MenuList.matches(of: pattern, in: items)
    selection = 0
  }

  /// Replaces the items; the selection stays on its item if that still exists.
  public mutating func replaceItems(with items: [Item]) {
    let id = selected?.id
    self.items = items
    held = nil
    found = MenuList.matches(of: pattern, in: items)
    select(id ?? "")
    selection = max(0, min(selection, found.count - 1))
  }

  /// Changes what is said of the items; their ids, titles and names must stay.
  public mutating func updateItems(_ body: (inout Item) -> Void) {
    for index in items.indices { body(&items[index]) }
    for index in found.indices { body(&found[index].item) }
  }

  /// Selects the item with an id, if it is shown.
  public mutating func select(_ id: String) {
    if let index = found.firstIndex(where: { $0.item.id == id }) { selection = index }
  }

  /// Moves the selection; it wraps around at both ends.
  public mutating func move(by count: Int) {
    guard !found.isEmpty else { return }
    held = nil
    selection = (selection + count % found.count + found.count) % found.count
  }

  /// Moves the selection by screens of a number of rows, up if negative; it stays at the ends.
  public mutating func movePage(by pages: Int, height: Int) {
    let step = max(height - 1, 1)
    held = nil
    selection = max(0, min(selection + pages * step, found.count - 1))
  }

  private static func matches(of pattern: String, in items: [Item]) -> [Found] {
    if pattern.isEmpty { return items.map { Found(item: $0, positions: []) } }
    let pattern = FuzzyMatch.Pattern(pattern)
    let matches = items.enumerated().compactMap { index, item -> (Int, Int, Found)? in
      let title = FuzzyMatch(pattern, in: item.title)
      let name = FuzzyMatch(pattern, in: item.name)
      guard let score = [title?.score, name?.score].compactMap(\.self).max() else { return nil }
      return (score, index, Found(item: item, positions: title?.positions ?? []))
    }
    return matches.sorted { ($0.0, $1.1) > ($1.0, $0.1) }.map(\.2)
  }
}

// MARK: - Drawing

extension MenuList {
  /// The columns before a title: the cursor's sign, the sign of the current choice, and a blank.
  private static let gutterWidth = 3

  /// The height of a box that shows all items under a field.
  public var fittingHeight: Int { items.count + 3 }

  /// Returns the index of the first row that is drawn in a number of lines.
  ///
  /// The selection stays visible, in the middle if possible; after a click the rows stay in place.
  /// are.
  private func firstRow(height: Int) -> Int {
    if let held, held..<held + height ~= selection { return held }
    return max(0, min(selection - height / 2, found.count - height))
  }

  /// Selects the row that is drawn at a line; returns false if there is none.
  public mutating func select(line: Int, height: Int) -> Bool {
    let index = firstRow(height: height) + line
    guard (0..<height).contains(line), found.indices.contains(index) else { return false }
    held = index - line
    selection = index
    return true
  }

  /// Draws the rows around the selection.
  public func draw(into canvas: inout Canvas, rect: Rect) {
    canvas.fill(rect)
    guard !rect.isEmpty else { return }
    if found.isEmpty {
      let place = rect.splitLeft(MenuList.gutterWidth).rest
      canvas.put("nothing fits", at: place.origin, width: place.width, role: .muted)
      return
    }
    let first = firstRow(height: rect.height)
    for (index, match) in found.enumerated().dropFirst(first).prefix(rect.height) {
      let row = rect.line(index - first)
      draw(match, into: &canvas, row)
      if index == selection {
        canvas.put(canvas.glyphs.cursor, at: row.origin, width: 1, role: .strong)
        canvas.highlightRow(row)
      }
    }
  }

  /// The reason why the selected item cannot be chosen, if a row of a width cuts it; otherwise nil.
  public func cutReason(width: Int) -> String? {
    guard found.indices.contains(selection), let refusal = found[selection].item.refusal else {
      return nil
    }
    let room = width - MenuList.gutterWidth
    let left = MenuList.left(found[selection]).width
    return MenuList.right(found[selection].item).width > max(room - left - 2, room / 3)
      ? refusal : nil
  }

  private func draw(_ match: Found, into canvas: inout Canvas, _ row: Rect) {
    let item = match.item
    let (gutter, text) = row.splitLeft(MenuList.gutterWidth)
    let right = MenuList.right(item)
    var left = MenuList.left(match)
    // If there is little room, the name is left out before the reason, and the reason before the
    // title.
    let named = StyledLine("  [\(item.name)]", .muted)
    let isRoomy = item.refusal == nil || left.width + named.width + right.width < text.width
    if !item.name.isEmpty, isRoomy { left.append(named) }
    let room = max(text.width - left.width - 2, text.width / 3)
    let (end, start) = text.splitRight(min(right.width, room))
    canvas.put(right, at: end.origin, width: end.width)
    canvas.put(left, at: start.origin, width: max(start.width - (end.isEmpty ? 0 : 1), 0))
    if item.isChosen {
      let sign = gutter.splitLeft(1).rest
      canvas.put(canvas.glyphs.marked, at: sign.origin, width: 1, role: .rowMarked)
    }
  }

  private static func left(_ match: Found) -> StyledLine {
    let hits = Set(match.positions)
    let plain: StyleRole = match.item.refusal == nil ? .text : .muted
    var line = StyledLine()
    for (index, character) in match.item.title.enumerated() {
      line.append(String(character), hits.contains(index) ? .searchMatch : plain)
    }
    return line
  }

  private static func right(_ item: Item) -> StyledLine {
    if let refusal = item.refusal { return StyledLine(refusal + " ", .warn) }
    var line = StyledLine(item.note, .muted)
    if !item.note.isEmpty, !item.keys.isEmpty { line.append("  ") }
    line.append(item.keys, .hintKey)
    line.append(" ")
    return line
  }

  /// Whether a box has room for a frame around rows.
  private static func isFramed(_ box: Rect) -> Bool { box.height > 3 }

  private static func inside(_ box: Rect) -> Rect {
    isFramed(box) ? box.inset(rows: 1, columns: 1) : box
  }

  /// The rectangle of the rows in a box with a field; a low box has no frame.
  public static func rows(inBox box: Rect) -> Rect {
    let inside = inside(box)
    // If there is only one line, it shows the selected row.
    return inside.height < 2 ? inside : inside.splitTop(1).rest
  }

  /// Draws a box with a title, a field to type letters into, and the rows below it.
  public func draw(
    into canvas: inout Canvas, box: Rect, title: String, editor: LineEditor, label: String = ""
  ) {
    if MenuList.isFramed(box) {
      canvas.box(box, title: title, role: .dialog)
    } else {
      canvas.fill(box)
    }
    let inside = MenuList.inside(box)
    canvas.cursor = nil
    draw(into: &canvas, rect: MenuList.rows(inBox: box))
    guard inside.height > 1 else { return }
    let line = inside.splitTop(1).top.inset(rows: 0, columns: 1)
    editor.draw(into: &canvas, rect: line, label: label)
  }
}
