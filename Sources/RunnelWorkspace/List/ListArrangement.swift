import RunnelTree

/// The order and the sections of a list: the view's own, and those that the user chose.
///
/// What the list shows, its source and its sections, follows from these.
package struct ListArrangement: Hashable, Sendable {
  /// The source of the view itself, without the order that the user chose.
  private(set) var ownSource: SourceDefinition
  /// The rules of the view itself for the sections, which the order may suspend.
  private(set) var ownSections: [SectionRule]
  /// The sections that the user chose, or nil for those of the view.
  var grouping: Grouping?
  /// The order that the user chose, or nil for the view's own.
  package private(set) var order: ListOrder?
  /// The orders of the collection that have an index, or nil until the database has told them.
  var indexedOrders: Set<String>?

  /// Makes the arrangement of a view: its own order and sections.
  init(of view: ViewDefinition) {
    (ownSource, ownSections) = (view.source, view.sections)
  }

  /// The rules for the sections that the list shows.
  var sections: [SectionRule] {
    grouping?.sections(from: ownSections)
      ?? order?.sections(from: ownSections, of: ownSource) ?? ownSections
  }

  /// Chooses an order, or the view's own if it is nil; returns the source in this order, or nil, with
  /// nothing changed, if the source cannot be read in it.
  mutating func sort(by order: ListOrder?) -> SourceDefinition? {
    guard let source = order.map({ $0.source(from: ownSource) }) ?? ownSource else { return nil }
    self.order = order
    return source
  }

  /// Takes a view that was saved as it is shown: nothing in it is the user's choice any more.
  mutating func adopt(_ view: ViewDefinition) {
    (ownSource, ownSections) = (view.source, view.sections)
    (order, grouping) = (nil, nil)
  }
}
