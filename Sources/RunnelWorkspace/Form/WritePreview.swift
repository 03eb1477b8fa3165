import RunnelBase
import RunnelStreams
package import RunnelTerminal
import RunnelTree

/// The preview of the write that saving would make of the text typed so far.
package struct WritePreview {
  private static let title = " Preview of the write "
  /// The number of columns from which the old and the new value stand side by side.
  private static let besideWidth = 60

  /// A value that would be written.
  private struct Change {
    var name: String
    /// The present value, or nil for none.
    var old: JSONValue?
    /// The new value, or nil for none.
    var new: JSONValue?
    /// The present values of several records in words, in the place of `old`; nil for those of one.
    var oldWords: String?
  }

  /// The kind of the write and its place, such as `PUT /a`.
  private let deed: String
  private let changes: [Change]
  /// The reason why nothing would be written, or nil.
  private var obstacle: String?
  /// The number of lines reserved for values, so that the lines above stay in place during typing.
  private var restingCount = 1

  private static let restingCountMax = 4

  /// The number of lines of the preview if there is room for two columns.
  package var height: Int { max(changes.count, restingCount) + 2 }

  /// Makes the preview of a form, or nil if the form writes nothing.
  init?(_ form: FormScreen, _ state: AppState) {
    guard form.writes else { return nil }
    var form = form
    let coding = state.database.coding
    form.take(coding)
    let values = form.values()
    let filled = values ?? []
    let isNamed = filled.count == 2 && filled[0].value.string != nil
    switch form.purpose {
    case .setLeaf(let path, let original):
      deed = "PUT \(path)"
      let new = filled.first?.value
      changes = new == original ? [] : [Change(name: "", old: original, new: new)]
    case .addChild(let path), .addField(let path):
      deed = "PUT \(path)\(path.isRoot ? "" : "/")\(isNamed ? filled[0].value.string ?? "" : "")"
      changes = isNamed ? [Change(name: "", old: nil, new: filled[1].value)] : []
    case .addRecord(let view):
      let definition = state.tabs.lists[view].definition
      let collection = definition.source.path
      deed = form.typedKey.map { "PUT \(collection)/\($0)" } ?? "POST \(collection)"
      changes =
        filled.isEmpty
        ? []
        : WritePreview.added(
          definition.record(filledWith: filled, me: state.database.me, isForm: true))
    case .addResource(_, let collection, let view):
      deed = form.typedKey.map { "PUT \(collection)/\($0)" } ?? "POST \(collection)"
      let typed = filled.filter { !$0.path.isRoot }
      let record =
        view.map {
          state.tabs.lists[$0].definition.record(
            filledWith: typed, me: state.database.me, isForm: true)
        } ?? .object(typed.map { JSONMember($0.path.text, $0.value) })
      changes = typed.isEmpty ? [] : WritePreview.added(record)
    case .editResource(let path, let original):
      deed = "PATCH \(path)"
      changes = form.fields.compactMap { field in
        let old = original[field.path]
        let new = filled.first { $0.path == field.path }?.value
        if old == new { return nil }
        return Change(name: field.path.text, old: old.map { coding.shown($0) }, new: new)
      }
    case .editField(let edited):
      let set = BulkEdit.isSet(form) ? BulkEdit.value(of: form, values, coding) : nil
      let writing = set.map { edited.writing($0, in: state) } ?? edited
      let (count, left) = (writing.targets.count, writing.leftCount)
      let same = edited.targets.count - count - (left - edited.leftCount)
      let rest =
        (same > 0 ? " · \(same) with this value already" : "")
        + (left > 0 ? " · \(left) that others changed" : "")
      deed = "PATCH \(BulkEdit.words(count))\(rest)"
      changes =
        count == 0
        ? []
        : set.map { _ in
          [
            Change(
              name: edited.field.text, old: nil, new: filled.first?.value,
              oldWords: writing.replacedWords)
          ]
        } ?? []
    case .choose, .export, .importFile, .account, .renameDevice, .callMethod: return nil
    }
    restingCount = min(form.fields.count, WritePreview.restingCountMax)
    if values == nil {
      let wrong = form.fields.filter { $0.input.error != nil }.map(\.label)
      let names = wrong.joined(separator: ", ")
      obstacle = "nothing yet: \(names) \(wrong.count == 1 ? "is" : "are") wrong"
    }
  }

  /// Makes the preview of an edit of a field.
  init(_ edit: RecordScreen.Edit, in screen: RecordScreen) {
    let path = Path(unchecked: screen.path.keys + edit.field.keys)
    deed = edit.field.isRoot ? "PUT \(path)" : "PATCH \(screen.path)"
    if screen.isEditGone {
      changes = []
      obstacle = "nothing yet: it was deleted elsewhere, saving asks first"
      return
    }
    // The edit replaces the value as it is now, which others may have written or deleted meanwhile.
    let present = screen.node?[edit.field]
    let old = present?.leaf?.json ?? present.flatMap { screen.coding.codedValue($0) }
    do throws(InputError) {
      let isRemoved = edit.input.isEmpty && edit.input.rule?.isRequired != true
      let new = isRemoved ? nil : try edit.input.value()
      changes =
        old == new || edit.isUntouched ? [] : [Change(name: edit.field.text, old: old, new: new)]
    } catch {
      changes = []
      obstacle = "nothing yet: the field is wrong"
    }
  }

  private static func added(_ record: JSONValue) -> [Change] {
    guard case .object(let members) = record else { return [Change(name: "", new: record)] }
    return members.map { Change(name: $0.name, old: nil, new: $0.value) }
  }

  /// Draws the part of the preview that fits: a rule, the kind of the write, and the values.
  package func draw(into canvas: inout Canvas, _ rect: Rect) {
    guard rect.height > 2 else { return }
    let cursor = canvas.cursor
    canvas.fill(rect)
    canvas.horizontalLine(row: rect.row, column: rect.column, width: rect.width, role: .frame)
    let place = rect.line(0).splitLeft(1).rest
    canvas.put(WritePreview.title, at: place.origin, width: place.width, role: .title)
    let head = rect.line(1)
    canvas.put(deed, at: head.origin, width: head.width, role: .strong)
    let area = rect.splitTop(2).rest
    let shown = lines(width: rect.width)
    for (index, line) in shown.prefix(area.height).enumerated() {
      let row = area.line(index)
      if index == area.height - 1, shown.count > area.height {
        let rest = "and \(shown.count - index) more lines"
        canvas.put(rest, at: row.origin, width: row.width, role: .muted)
        break
      }
      let (left, right) = row.splitLeft(line.new == nil ? row.width : row.width / 2)
      canvas.put(line.old, at: left.origin, width: max(left.width - 1, 0))
      if let new = line.new { canvas.put(new, at: right.origin, width: right.width) }
    }
    canvas.cursor = cursor
  }

  /// Returns the lines, with the new value beside the old one or below it.
  private func lines(width: Int) -> [(old: StyledLine, new: StyledLine?)] {
    let isBeside = width >= WritePreview.besideWidth
    let room = isBeside ? width / 2 - 1 : width
    if let obstacle { return [(StyledLine(obstacle, .warn), nil)] }
    if changes.isEmpty { return [(StyledLine("nothing yet", .muted), nil)] }
    return changes.flatMap { change -> [(old: StyledLine, new: StyledLine?)] in
      let texts = WritePreview.texts(of: change, width: room - change.name.count - 4)
      let old = texts.old.map { WritePreview.line("-", change.name, $0, .muted) }
      let new = texts.new.map { WritePreview.line("+", change.name, $0, .ok) }
      switch (old, new) {
      case (let old?, let new?): return isBeside ? [(old, new)] : [(old, nil), (new, nil)]
      case (let old?, nil): return [(old, nil)]
      case (nil, let new?): return [(new, nil)]
      case (nil, nil): return []
      }
    }
  }

  /// The number of characters before the first difference that are shown of long values.
  private static let leadCount = 8

  /// Returns the values as text; the common beginning of long values is left out.
  private static func texts(of change: Change, width: Int) -> (old: String?, new: String?) {
    let (old, new) = (change.oldWords ?? change.old?.jsonText(), change.new?.jsonText())
    guard let old, let new, max(old.count, new.count) > width else { return (old, new) }
    let same = zip(old, new).prefix { $0 == $1 }.count - leadCount
    if same <= leadCount { return (old, new) }
    return ("…" + old.dropFirst(same), "…" + new.dropFirst(same))
  }

  private static func line(
    _ sign: String, _ name: String, _ text: String, _ role: StyleRole
  ) -> StyledLine {
    StyledLine("\(sign) \(name.isEmpty ? "" : name + "  ")\(text)", role)
  }
}
