/// A list of things to do or places to go, found by typing some of their letters.
///
/// A value without time or keys: the owner turns keys into actions of a text field, moves the selection
/// and reads `selected`.
public struct Palette: Hashable, Sendable {
  /// One thing that can be chosen.
  public struct Item: Hashable, Sendable {
    /// What the owner knows it by.
    public var id: String
    /// What it does, in a few words: what is searched in.
    public var title: String
    /// Its name, which is searched in too.
    public var name: String
    /// The keys that do the same; empty if there are none.
    public var keys: String
    /// Why it cannot be done now; nil if it can.
    public var refusal: String?

    /// Makes an item.
    public init(
      id: String, title: String, name: String = "", keys: String = "", refusal: String? = nil
    ) {
      self.id = id
      self.title = title
      self.name = name
      self.keys = keys
      self.refusal = refusal
    }
  }

  /// An item that fits, and where.
  private struct Found: Hashable {
    var item: Item
    var positions: [Int]
  }

  /// What is typed.
  public private(set) var editor = LineEditor()
  private let items: [Item]
  private var found: [Found]
  private var selection = 0

  /// Makes a palette of items; they stand in this order until something is typed.
  public init(_ items: [Item]) {
    self.items = items
    found = items.map { Found(item: $0, positions: []) }
  }

  /// The items that fit what is typed, the best first.
  public var shown: [Item] { found.map(\.item) }

  /// The selected item; nil if none fits.
  public var selected: Item? { found.indices.contains(selection) ? found[selection].item : nil }

  /// Types text.
  public mutating func insert(_ text: String) {
    editor.insert(text)
    search()
  }

  /// Performs an action of a text field; up and down move the selection.
  ///
  /// - Returns: false if the action is for the owner.
  public mutating func perform(_ action: ActionID) -> Bool {
    switch action {
    case .inputNext: move(by: 1)
    case .inputPrevious: move(by: -1)
    default:
      let before = editor.text
      guard editor.perform(action) else { return false }
      if editor.text != before { search() }
    }
    return true
  }

  /// Moves the selection; it goes round at both ends.
  public mutating func move(by count: Int) {
    guard !found.isEmpty else { return }
    let next = (selection + count % found.count + found.count) % found.count
    selection = next
  }

  private mutating func search() {
    let pattern = editor.text
    selection = 0
    let matches = items.enumerated().compactMap { index, item -> (Int, Int, Found)? in
      let title = FuzzyMatch(pattern, in: item.title)
      let name = FuzzyMatch(pattern, in: item.name)
      guard let score = [title?.score, name?.score].compactMap(\.self).max() else { return nil }
      return (score, index, Found(item: item, positions: title?.positions ?? []))
    }
    found = matches.sorted { ($0.0, $1.1) > ($1.0, $0.1) }.map(\.2)
  }

  // MARK: Drawing

  /// Draws the palette as a box over the rectangle, with the terminal's cursor in its first line.
  public func draw(into canvas: inout Canvas, rect: Rect, title: String) {
    canvas.box(rect, title: title, role: .frameFocus)
    let inside = rect.inset(rows: 1, columns: 2)
    let (field, list) = inside.splitTop(1)
    editor.draw(into: &canvas, rect: field)
    guard !list.isEmpty else { return }
    if found.isEmpty {
      canvas.put("nothing fits", at: list.origin, width: list.width, role: .muted)
      return
    }
    // The selection stays in sight, in the middle where it can.
    let first = max(0, min(selection - list.height / 2, found.count - list.height))
    for (index, match) in found.enumerated().dropFirst(first).prefix(list.height) {
      let row = list.line(index - first)
      draw(match, into: &canvas, row)
      if index == selection {
        canvas.put(canvas.glyphs.cursor, at: row.origin, width: 1, role: .strong)
        canvas.highlightRow(row)
      }
    }
  }

  private func draw(_ match: Found, into canvas: inout Canvas, _ row: Rect) {
    let item = match.item
    let right = item.refusal.map { StyledLine($0, .warn) } ?? StyledLine(item.keys, .hintKey)
    let hits = Set(match.positions)
    var left = StyledLine()
    for (index, character) in item.title.enumerated() {
      let plain: StyleRole = item.refusal == nil ? .text : .muted
      left.append(String(character), hits.contains(index) ? .searchMatch : plain)
    }
    if !item.name.isEmpty { left.append("  [\(item.name)]", .muted) }
    StatusLine(left: left, right: right)
      .draw(into: &canvas, rect: row.splitLeft(2).rest)
  }
}
