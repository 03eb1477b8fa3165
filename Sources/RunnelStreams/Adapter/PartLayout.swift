import RunnelBase

/// The sections of a part of a list, with the placeholders that its state requires.
struct PartLayout<Item: StreamItem> {
  private(set) var sections: [AdapterSection<Item>]
  /// The index of the section with only placeholders, which is the last; nil if there is none.
  private(set) var aloneSection: Int?

  /// A part that shows these sections.
  init(sections: [AdapterSection<Item>] = []) { self.sections = sections }

  /// Lays a part out.
  ///
  /// O(sections), and the stream's cost of finding a boundary row.
  ///
  /// - Parameters:
  ///   - part: the part.
  ///   - content: the rows; nil if there are none to show yet.
  ///   - loadState: the load state.
  init(_ part: ListPart<Item>, content: [StreamSection<Item>]?, loadState: LoadState) {
    sections = (content ?? []).map { section in
      var result = AdapterSection<Item>(id: part.idPrefix + section.id)
      result.labels = part.labels(section)
      result.content = section
      result.idPrefix = part.idPrefix
      return result
    }
    let contentCount = sections.count
    if content != nil {
      // What a replica does not know may be there.
      if loadState != .cached { addEmptyRows(part, contentCount) }
      for paging in part.pagings { addFetchMoreRow(paging, part, contentCount) }
    }
    addStatusRow(part, contentCount, loadState)
  }

  private mutating func addEmptyRows(_ part: ListPart<Item>, _ contentCount: Int) {
    guard part.placeholders.contains(.empty) else { return }
    let id = part.idPrefix + "empty"
    if contentCount == 0 { addAlone(PlaceholderRow(id: id, content: .empty)) }
    for index in 0..<contentCount where sections[index].content.items.isEmpty {
      let row = PlaceholderRow(id: "\(id):\(sections[index].content.id)", content: .empty)
      sections[index].trailing.append(row)
    }
  }

  private mutating func addFetchMoreRow(
    _ paging: PagingPoint<Item>, _ part: ListPart<Item>, _ contentCount: Int
  ) {
    let state = paging.state()
    if state == .unknown { return }
    let row = PlaceholderRow(id: part.idPrefix + paging.id, content: .paging(state))
    if let home = home(of: paging, part, contentCount) {
      add(row, at: paging.end, of: home)
    } else if state != .exhausted {
      addAlone(row)
    }
  }

  private mutating func addStatusRow(
    _ part: ListPart<Item>, _ contentCount: Int, _ loadState: LoadState
  ) {
    guard part.placeholders.contains(.status) else { return }
    let content: PlaceholderRow.Content
    switch loadState {
    case .failed(let reason): content = .failed(reason)
    case .idle, .loading, .cached:
      if sections.contains(where: { !$0.content.items.isEmpty }) { return }
      content = .loading
    case .loaded: return
    }
    let row = PlaceholderRow(id: part.idPrefix + "status", content: content)
    if contentCount == 0 { return addAlone(row) }
    add(row, at: part.statusEnd, of: part.statusEnd == .start ? 0 : contentCount - 1)
  }

  /// The section that holds the boundary row.
  private func home(
    of paging: PagingPoint<Item>, _ part: ListPart<Item>, _ contentCount: Int
  ) -> Int? {
    guard let boundary = paging.boundaryID() else { return nil }
    for (index, section) in sections[..<contentCount].enumerated() {
      let row = paging.end == .start ? section.content.items.first : section.content.items.last
      if row?.id == boundary { return index }
    }
    if let path = part.stream.indexPath(forID: boundary), path.section < contentCount,
      sections[path.section].content.items.indices.contains(path.row),
      sections[path.section].content.items[path.row].id == boundary
    {
      return path.section
    }
    // The stream may already be in a later state than the one that it told.
    return sections[..<contentCount].firstIndex { section in
      section.content.items.contains { $0.id == boundary }
    }
  }

  private mutating func add(_ row: PlaceholderRow, at end: ListEnd, of section: Int) {
    switch end {
    case .start: sections[section].leading.insert(row, at: 0)
    case .end: sections[section].trailing.append(row)
    }
  }

  private mutating func addAlone(_ row: PlaceholderRow) {
    if aloneSection == nil {
      aloneSection = sections.count
      sections.append(AdapterSection(id: row.id))
    }
    sections[sections.count - 1].trailing.append(row)
  }
}

// MARK: Reading

extension PartLayout {
  /// The placeholders, with their places in the part, in order.
  ///
  /// O(sections).
  var placeholders: [PlacedPlaceholder] {
    var placed: [PlacedPlaceholder] = []
    for index in sections.indices {
      if sections[index].leading.isEmpty, sections[index].trailing.isEmpty { continue }
      let section = sections[index]
      for (row, placeholder) in section.leading.enumerated() {
        placed.append(.init(row: placeholder, path: ListIndexPath(section: index, row: row)))
      }
      let start = section.leading.count + section.content.items.count
      for (row, placeholder) in section.trailing.enumerated() {
        placed.append(
          .init(row: placeholder, path: ListIndexPath(section: index, row: start + row)))
      }
    }
    return placed
  }

  /// The side of a difference with these touched rows of the stream.
  func side(touched: [SectionedDiff.Row], idPrefix: String) -> SectionedDiff.Side {
    var rows = touched.map { row in
      var path = row.path
      path.row += sections[path.section].leading.count
      return SectionedDiff.Row(path: path, id: idPrefix + row.id)
    }
    rows += placeholders.map { SectionedDiff.Row(path: $0.path, id: $0.row.id) }
    rows.sort { $0.path < $1.path }
    return SectionedDiff.Side(
      sections: sections.map(\.id), counts: sections.map(\.count), touched: rows)
  }
}
