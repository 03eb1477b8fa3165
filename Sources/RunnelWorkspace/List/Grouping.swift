import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

/// Sections of a list that the user chose in place of those of its view.
package enum Grouping: Hashable, Sendable {
  /// One section with all rows.
  case whole
  /// A section for each value of a field.
  case values(Path)

  /// What names one section.
  static let wholeName = "none"
  /// What names the sections of the view.
  static let ownName = "own"
  private static let before = "by "

  /// Parses `none`, or a field with or without `by` before it; nil if the text names no field.
  package init?(_ text: String) {
    let words = text.trimmingBlanks
    if words == Grouping.wholeName {
      self = .whole
      return
    }
    let name =
      words.hasPrefix(Grouping.before)
      ? words.dropFirst(Grouping.before.count).trimmingBlanks : words
    guard !name.isEmpty,
      case .child(let path)? = (try? RowField(name)) ?? FieldPath(named: name)?.rowField
    else { return nil }
    self = .values(path)
  }

  /// The text that `init(_:)` parses.
  package var text: String {
    switch self {
    case .whole: Grouping.wholeName
    case .values(let path): Grouping.before + "\(RowField.child(path))"
    }
  }

  /// The text with the field's name as people read it, where `init(_:)` parses that too.
  var shownText: String {
    guard case .values(let path) = self else { return text }
    let plain = Grouping.before + path.shownText
    return Grouping(plain) == self ? plain : text
  }

  /// Returns the rules for the sections; titles that the view gives the values of the field stay.
  func sections(from own: [SectionRule]) -> [SectionRule] {
    guard case .values(let path) = self else { return [] }
    let titled = own.first { rule in
      if case .field(let field, _) = rule { field == .path(path) } else { false }
    }
    return [titled ?? .field(.path(path), titles: [])]
  }
}

extension ListScreen {
  /// A field by which rows can be grouped, and how many values the loaded rows have there.
  struct GroupField: Hashable {
    var path: Path
    var valueCount: Int
  }

  /// The most records whose values are counted.
  private static let groupedRecordsMax = 500
  /// The number of values up to which a field makes sections that are easy to look through.
  private static let fewValues = 20

  /// The fields to group by: those with few values first, in the order of the columns.
  ///
  /// O(fields · records), of up to `groupedRecordsMax` records.
  func groupFields(_ coding: ValueCoding) -> [GroupField] {
    let records = someRecords(ListScreen.groupedRecordsMax).filter { !isTransient($0) }
    let fields = sortFields(coding).compactMap { field -> GroupField? in
      guard case .child(let path) = field else { return nil }
      let values = Set(
        records.compactMap { record in
          FieldPath.path(path).node(key: record.row.key, record.row.node ?? .empty).leaf
        })
      return values.isEmpty ? nil : GroupField(path: path, valueCount: values.count)
    }
    let isFew: (GroupField) -> Bool = { 2...ListScreen.fewValues ~= $0.valueCount }
    return fields.filter(isFew) + fields.filter { !isFew($0) }
  }

  /// Divides the list into other sections, or into its own if `grouping` is nil; the list is empty until
  /// its rows are read again.
  mutating func group(by grouping: Grouping?, height: Int) {
    arrangement.grouping = grouping
    beginReading(height: height)
  }
}

// MARK: - Choosing

extension Grouping {
  static func openMenu(_ state: inout AppState) {
    state.input.matcher.reset()
    guard let view = state.tabs.front.view, let screen = state.tabs.frontList else { return }
    var menu = MenuList(items(screen, state.database.coding))
    if let grouping = screen.arrangement.grouping { menu.select(grouping.text) }
    state.layers.append(
      .menu(
        MenuScreen(
          purpose: .group(view: view), title: "Sections of \(screen.definition.name)",
          menu: menu)))
  }

  private static func items(_ screen: ListScreen, _ coding: ValueCoding) -> [MenuList.Item] {
    let own = MenuList.Item(
      id: ownName, title: "the view's own sections", isChosen: screen.arrangement.grouping == nil)
    let whole = MenuList.Item(
      id: wholeName, title: "no sections", isChosen: screen.arrangement.grouping == .whole)
    let fields = screen.groupFields(coding).map { field in
      let grouping = Grouping.values(field.path)
      return MenuList.Item(
        id: grouping.text, title: "by \(field.path.shownText)", note: note(field),
        isChosen: screen.arrangement.grouping == grouping)
    }
    return [own] + (screen.arrangement.ownSections.isEmpty ? [] : [whole]) + fields
  }

  private static func note(_ field: ListScreen.GroupField) -> String {
    field.valueCount == 1 ? "1 value" : "\(field.valueCount) values"
  }

  /// Groups by an item of the menu.
  static func group(_ state: inout AppState, by item: MenuList.Item, inView view: Int) {
    state.closeLayer()
    group(&state, by: item.id == ownName ? nil : Grouping(item.id), inView: view)
  }

  /// Divides a list into other sections, or into its own if `grouping` is nil; the cursor stays on its
  /// row.
  static func group(_ state: inout AppState, by grouping: Grouping?, inView view: Int) {
    // Without sections of its own, a view has one.
    let isOwn = grouping == .whole && state.tabs.lists[view].arrangement.ownSections.isEmpty
    let grouping = isOwn ? nil : grouping
    guard state.tabs.lists[view].arrangement.grouping != grouping else { return }
    ListScreen.resume(&state, view)
    state.tabs.lists[view].keepCursorRecord()
    state.tabs.lists[view].group(
      by: grouping, height: state.tabs.height(ofView: view, in: state.height))
    guard state.tabs.lists[view].reach.isOpen else { return }
    state.effects.append(.openView(view))
    Presence.showTyping(&state, inOpenedView: view)
    if state.tabs.lists[view].filtering.filter != nil {
      FilterScreen.applyFilter(&state, inView: view)
    }
  }
}

extension PaletteCommand {
  package static let group = PaletteCommand(
    name: "group", hint: "by FIELD", key: .groupMenu,
    description: "sections by the values of a field; none ends them, own is the view's own",
    argument: .choice,
    tabs: .lists(else: "the tree has no sections"),
    choices: { state, _ in
      guard let screen = state.tabs.frontList else { return [] }
      let fields = screen.groupFields(state.database.coding).map { field in
        let grouping = Grouping.values(field.path)
        return Choice(
          argument: grouping.shownText, name: grouping.text,
          note: field.valueCount == 1 ? "1 value" : "\(field.valueCount) values",
          isChosen: screen.arrangement.grouping == grouping)
      }
      return [
        Choice(argument: Grouping.ownName, isChosen: screen.arrangement.grouping == nil),
        Choice(argument: Grouping.wholeName, isChosen: screen.arrangement.grouping == .whole),
      ] + fields
    },
    run: { state, text in
      let grouping = Grouping(text)
      if grouping == nil, text != Grouping.ownName { return "group takes a field, none or own" }
      guard let view = state.tabs.front.view else { return nil }
      Grouping.group(&state, by: text == Grouping.ownName ? nil : grouping, inView: view)
      return nil
    })
}
