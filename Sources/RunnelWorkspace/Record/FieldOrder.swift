package import RunnelTree

/// The order in which the fields of a record are shown: those with a column of its list first, as the
/// columns stand there, then the others by their names.
package struct FieldOrder: Hashable, Sendable {
  /// The paths of the columns below the record, from the left.
  private let columns: [Path]

  package init(_ columns: [FieldPath] = []) {
    var known: Set<Path> = []
    self.columns = columns.compactMap { column in
      guard case .path(let path) = column, known.insert(path).inserted else { return nil }
      return path
    }
  }

  /// Makes the order of the view among several that shows the records of a place.
  package init(ofRecordsIn place: Path, among views: some Sequence<ViewDefinition>) {
    let view = views.first { view in
      ([view.source] + view.also).contains { $0.path.keys(in: place) != nil }
    }
    self.init(view?.columns.map(\.field) ?? [])
  }

  /// Whether no field goes before the others.
  package var isEmpty: Bool { columns.isEmpty }

  /// Returns elements in the order of their fields; elements of one rank keep their order.
  ///
  /// The fields of an object stay together, where the first of them has its column.
  package func sorted<Element>(_ elements: [Element], by field: (Element) -> Path) -> [Element] {
    if columns.isEmpty { return elements }
    var places: [Key: Int] = [:]
    var exact: [Path: Int] = [:]
    for (index, column) in columns.enumerated() {
      exact[column] = index
      if let key = column.keys.first, places[key] == nil { places[key] = index }
    }
    return elements.enumerated().map { offset, element in
      let path = field(element)
      let place = path.keys.first.flatMap { places[$0] } ?? columns.count
      let rank = place == columns.count ? place : exact[path] ?? columns.count
      return (rank: (place, rank, offset), element: element)
    }
    .sorted { $0.rank < $1.rank }.map(\.element)
  }
}

extension FieldOrder {
  /// Makes the order of the fields of a record: that of the list in front, if the record stands in it, or else
  /// that of the first list that may hold it.
  init(_ state: AppState, ofRecordAt path: Path) {
    let place = Path(unchecked: Array(path.keys.dropLast()))
    let front = [state.tabs.frontList?.definition].compactMap(\.self)
    self.init(
      ofRecordsIn: place,
      among: front + state.tabs.lists.map(\.definition) + state.tabs.templates)
  }
}
