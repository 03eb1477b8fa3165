import RunnelBase
import RunnelStreams
package import RunnelTree

/// An order that the user chose for a list.
package struct ListOrder: Hashable, Sendable {
  package var field: RowField
  package var isDescending = false

  init(_ field: RowField, isDescending: Bool = false) {
    self.field = field
    self.isDescending = isDescending
  }

  private static let up = " asc"
  private static let down = " desc"

  /// Parses `created` or `created desc`; nil if the text names no field.
  ///
  /// A name may have blanks.
  init?(_ text: String) {
    let words = text.trimmingBlanks
    let isDescending = words.hasSuffix(ListOrder.down)
    let end = isDescending ? ListOrder.down : words.hasSuffix(ListOrder.up) ? ListOrder.up : ""
    let name = words.dropLast(end.count).trimmingBlanks
    guard !name.isEmpty, let field = (try? RowField(name)) ?? FieldPath(named: name)?.rowField
    else { return nil }
    self.init(field, isDescending: isDescending)
  }

  /// The text that `init(_:)` parses.
  package var text: String {
    let name = "\(field)"
    if isDescending { return name + ListOrder.down }
    // The end of such a name would be taken for the direction.
    let isUnclear = name.hasSuffix(ListOrder.down) || name.hasSuffix(ListOrder.up)
    return isUnclear ? name + ListOrder.up : name
  }

  /// The text with the field's name as people read it, where `init(_:)` parses that too.
  var shownText: String {
    guard case .child(let path) = field else { return text }
    let plain = path.shownText + (isDescending ? ListOrder.down : "")
    return ListOrder(plain) == self ? plain : text
  }

  /// The name of the field as people read it.
  var fieldText: String { if case .child(let path) = field { path.shownText } else { "\(field)" } }

  /// Returns the source in this order, from its first row on; nil if the source's own order selects
  /// its rows.
  package func source(from own: SourceDefinition) -> SourceDefinition? {
    if own.equalTo != nil { return nil }
    var source = own
    source.order = field.index
    // A descending order is the ascending one read backwards, from its end.
    source.anchor = isDescending ? .last : .first
    source.isDescending = isDescending
    return source
  }

  /// Returns the rules of a view for sections, without those by day if the order is not by that time:
  /// rows of a day then do not stand together.
  func sections(from own: [SectionRule], of source: SourceDefinition) -> [SectionRule] {
    own.filter { rule in
      guard case .day(let field) = rule else { return true }
      if self.field.index == source.order { return true }
      guard case .path(let time) = field, case .child(let path) = self.field else { return false }
      return time == path
    }
  }
}

extension ListScreen {
  /// Changes the order of the list, or restores its own if `order` is nil; the list is empty until
  /// the rows are read in the new order.
  package mutating func sort(by order: ListOrder?, height: Int) {
    guard let source = arrangement.sort(by: order) else { return }
    definition.source = source
    beginReading(height: height)
  }

  /// Empties the list until its rows are read, in its present order and sections.
  mutating func beginReading(height: Int) {
    reach.beginReading(definition.source)
    definition.sections = arrangement.sections
    let old = content
    content = ListContent()
    headings.all = [:]
    list.apply(.reload, from: old, to: content, height: height)
    list.clearNewRows()
    goal.endJump()
    unloading.beginReading()
  }

  /// The fields to sort by: those of the columns, others that loaded rows have, and the key; the priority
  /// if a loaded row has one, or if it is the order.
  func sortFields(_ coding: ValueCoding) -> [RowField] {
    var fields: [RowField] = []
    for column in definition.columns {
      switch column.field {
      case .key: fields.append(.key)
      case .value: if definition.columns.count == 1 { fields.append(.value) }
      case .path(let path): fields.append(.child(path))
      }
    }
    for column in Columns.addable(
      to: self, showing: Set(definition.columns.indices).subtracting(look.hiddenColumns), coding)
    {
      if case .path(let path) = column.field { fields.append(.child(path)) }
    }
    fields.append(.key)
    if hasPriorities { fields.append(.priority) }
    var known: Set<RowField> = []
    return fields.filter { known.insert($0).inserted }
  }

  /// Whether the priority may order the rows.
  private var hasPriorities: Bool {
    arrangement.order?.field == .priority || arrangement.ownSource.order.forward == .priority
      || someRecords(ListScreen.priorityRecordsMax).contains { $0.row.node?.priority != nil }
  }

  /// The most records that are looked at for a priority.
  private static let priorityRecordsMax = 1000

  /// Returns whether an index gives the order of a field, so that not all rows are read; nil if
  /// that is not known yet.
  func isIndexed(_ field: RowField) -> Bool? {
    if field == .key { return true }
    return arrangement.indexedOrders.map { $0.contains(field.index.description) }
  }
}
