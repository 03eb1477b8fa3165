import RunnelBase
import RunnelStreams
package import RunnelTree

/// The order that the user chose for a list, in place of its own.
package struct ListOrder: Hashable, Sendable {
  package var field: RowField
  package var isDescending = false

  init(_ field: RowField, isDescending: Bool = false) {
    self.field = field
    self.isDescending = isDescending
  }

  /// Reads `created` or `created desc`; nil if it is no field.
  init?(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard let name = words.first, let field = try? RowField(name) else { return nil }
    switch words.dropFirst() {
    case [], ["asc"]: self.init(field)
    case ["desc"]: self.init(field, isDescending: true)
    default: return nil
    }
  }

  /// What `init(_:)` reads.
  package var text: String { isDescending ? "\(field) desc" : "\(field)" }

  /// A source in this order, from the first row on; nil if its own order says which rows it has.
  package func source(from own: SourceDefinition) -> SourceDefinition? {
    if own.equalTo != nil { return nil }
    var source = own
    source.order = field.index
    // What descends is the order read backwards, from its end.
    source.anchor = isDescending ? .last : .first
    source.isDescending = isDescending
    return source
  }
}

extension ListScreen {
  /// Takes another order, or its own again; nothing is shown until the rows are read in it.
  package mutating func sort(by order: ListOrder?, height: Int) {
    guard let source = order.map({ $0.source(from: ownSource) }) ?? ownSource else { return }
    self.order = order
    definition.source = source
    let old = content
    content = ListContent()
    headings = [:]
    list.apply(.reload, from: old, to: content, height: height)
    list.clearNewRows()
    (phase, paging, newer) = (.loading, .exhausted, .exhausted)
    (unloaded, isLettingGo, loadedFloor) = (nil, false, 0)
  }

  /// What rows may be sorted by: the fields that are shown, those of a row, and its key.
  var sortFields: [RowField] {
    var fields: [RowField] = []
    for column in definition.columns {
      switch column.field {
      case .key: fields.append(.key)
      case .value: if definition.columns.count == 1 { fields.append(.value) }
      case .path(let path): fields.append(.child(path))
      }
    }
    let example = cursorRecord?.row.node ?? records.first { !isTransient($1) }?.value.row.node
    for child in example?.children ?? [] where child.node.leaf != nil {
      fields.append(.child(Path(unchecked: [child.key])))
    }
    fields += [.key, .priority]
    var known: Set<RowField> = []
    return fields.filter { known.insert($0).inserted }
  }

  /// True if rows in the order of a field are read without looking at all of them; nil if it is not
  /// known yet.
  func isIndexed(_ field: RowField) -> Bool? {
    if field == .key { return true }
    return indexedOrders.map { $0.contains(field.index.description) }
  }
}
