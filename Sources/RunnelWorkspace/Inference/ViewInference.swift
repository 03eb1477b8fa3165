import RunnelBase
import RunnelTerminal
package import RunnelTree

/// Some records of a collection, from which a view of it is made up.
package struct CollectionSample {
  /// The collection.
  package var path: Path
  /// The keys of the records.
  package var keys: [RunnelTree.Key]
  /// The records: their leaves, and those of small groups in them.
  package var records: [RunnelTree.Node]

  package init(path: Path, keys: [RunnelTree.Key], records: [RunnelTree.Node]) {
    self.path = path
    self.keys = keys
    self.records = records
  }
}

/// Makes up how a collection is shown of which nobody has said it.
///
/// What one looks for first comes first: what a record is called, how far it is, who is concerned, when
/// it was. Long texts come last and take what is left of the line. What every record has alike, what few
/// have, and what is for programs only, comes late, and is left out where there is no room.
package enum ViewInference {
  /// How many columns a view gets, besides the key's.
  package static let columnsMax = 6
  /// What a column that takes what is left should have at least.
  private static let openWidth = 20
  private static let gutterWidth = 3

  /// The view of a collection.
  package static func view(
    of sample: CollectionSample, named name: String, pageSize: Int
  ) -> ViewDefinition {
    var source = SourceDefinition(path: sample.path)
    source.page = pageSize
    return ViewDefinition(name: name, source: source, columns: columns(of: sample))
  }

  private static func columns(of sample: CollectionSample) -> [ColumnDefinition] {
    let profiles = profiles(of: sample.records)
    let ranked = profiles.enumerated()
      .sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }
      .prefix(columnsMax).map(\.element)
    // Without a title the text is what tells records apart.
    let hasTitle = ranked.contains { $0.role == .title }
    let shown = ranked.filter { !$0.isText } + ranked.filter(\.isText)
    let open =
      shown.firstIndex { $0.isText } ?? shown.firstIndex { $0.role == .title }
      ?? shown.firstIndex { $0.kind == .text && !$0.isTechnical }
    var columns = shown.enumerated().map { index, profile in
      column(of: profile, isOpen: index == open)
    }
    columns.insert(keyColumn(of: sample, hasTexts: open != nil), at: 0)
    limitToRoom(&columns, ranked: ranked, hasTitle: hasTitle)
    return columns
  }

  // MARK: Fields

  /// The fields of the records, in the order in which they are met.
  private static func profiles(of records: [RunnelTree.Node]) -> [FieldProfile] {
    var order: [Path] = []
    var values: [Path: [Leaf]] = [:]
    func note(_ leaf: Leaf, _ path: Path) {
      if values[path] == nil { order.append(path) }
      values[path, default: []].append(leaf)
    }
    for child in records.flatMap(\.children) {
      let path = Path(unchecked: [child.key])
      if let leaf = child.node.leaf { note(leaf, path) }
      for below in child.node.children {
        if let leaf = below.node.leaf { note(leaf, Path(unchecked: [child.key, below.key])) }
      }
    }
    return order.map { FieldProfile($0, values[$0] ?? [], of: records.count) }
  }

  /// How late a field comes.
  private static func rank(_ profile: FieldProfile) -> Int {
    var rank =
      switch profile.role {
      case .title: 0
      case .text: 5
      case .status: 10
      case .priority: 14
      case .person: 18
      case .category: 22
      case .date: 26
      case .other: profile.kind == .text ? 30 : 40
      case .identifier: 60
      }
    if profile.isTechnical { rank = profile.kind == .text ? 70 : 60 }
    if profile.path.keys.count > 1 { rank += 8 }
    if profile.fillRate < 0.4 { rank += 25 }
    if profile.isConstant { rank += 25 }
    return rank
  }

  // MARK: Columns

  /// The column of a field: as wide as the values that were seen need, or what is left of the line.
  private static func column(of profile: FieldProfile, isOpen: Bool) -> ColumnDefinition {
    var column = ColumnDefinition(field: .path(profile.path))
    if isOpen { return column }
    switch profile.kind {
    case .moment: (column.format, column.width) = (.date, 10)
    case .dateText: column.width = min(profile.widest, 16)
    // Other rows may have numbers with a digit more.
    case .number: column.width = min(max(profile.widest + 1, 5), 16)
    case .bool: column.width = max(profile.widest, 5)
    case .text, .mixed:
      column.width = min(max(profile.widest, 4), profile.role == .title ? 28 : 16)
    }
    return column
  }

  /// The column of the keys, as wide as those that were seen.
  ///
  /// A long key is left out on narrow screens if a text tells the records apart.
  private static func keyColumn(of sample: CollectionSample, hasTexts: Bool) -> ColumnDefinition {
    let widest = sample.keys.map { CellWidth.width(of: $0.text) }.max() ?? 0
    let isGenerated = sample.keys.contains { $0.text.utf8.count >= 20 }
    let minimum = !hasTexts ? 0 : isGenerated ? 120 : widest > 12 ? 60 : 0
    return ColumnDefinition(
      field: .key, width: min(max(widest, 4), 20), minimumScreen: minimum, isMuted: true)
  }

  /// Has the columns that come late shown only where there is room for those that come before them.
  private static func limitToRoom(
    _ columns: inout [ColumnDefinition], ranked: [FieldProfile], hasTitle: Bool
  ) {
    var needed = gutterWidth + (columns[0].minimumScreen == 0 ? (columns[0].width ?? 0) + 1 : 0)
    for (order, profile) in ranked.enumerated() {
      guard let index = columns.firstIndex(where: { $0.field == .path(profile.path) }) else {
        continue
      }
      needed += (columns[index].width ?? openWidth) + 1
      // What tells the records apart is always shown.
      let isEssential = order == 0 || (!hasTitle && columns[index].width == nil)
      if !isEssential, needed > 40 { columns[index].minimumScreen = needed }
    }
  }
}
