import RunnelBase
import RunnelTerminal
package import RunnelTree

/// A sample of a collection's records, from which a view is inferred.
package struct CollectionSample: Sendable {
  /// The collection.
  package var path: Path
  /// The keys of the records.
  package var keys: [RunnelTree.Key]
  /// The records: their leaves, and the leaves of small groups in them.
  package var records: [RunnelTree.Node]

  package init(path: Path, keys: [RunnelTree.Key], records: [RunnelTree.Node]) {
    self.path = path
    self.keys = keys
    self.records = records
  }
}

/// Infers how to show a collection for which no view is defined.
///
/// The most useful columns come first: title, number, state, person, date. Long texts come last and take
/// the rest of the line. Fields with the same value everywhere, fields that not most records have, and
/// values for programs come late, and are left out if there is no room.
package enum ViewInference {
  /// The greatest number of columns of a view, besides the column of the key.
  package static let columnsMax = 6
  /// The greatest number of columns on wide screens, if all of them inform.
  static let wideColumnsMax = 24
  /// The width up to which columns grow on wide screens.
  private static let wideWidthMax = 60
  /// The width that a column for the rest of the line should have at least.
  private static let openWidth = 20
  private static let gutterWidth = 3

  /// Returns the inferred view of a collection.
  package static func view(
    of sample: CollectionSample, named name: String, pageSize: Int
  ) -> ViewDefinition {
    var source = SourceDefinition(path: sample.path)
    source.page = pageSize
    var view = ViewDefinition(name: name, source: source, columns: columns(of: sample))
    view.awaitsColumns = sample.records.isEmpty
    return view
  }

  private static func columns(of sample: CollectionSample) -> [ColumnDefinition] {
    let profiles = profiles(of: sample.records)
    let ranked = ranked(profiles)
    // Without a title, the text distinguishes the records.
    let hasTitle = ranked.contains { $0.role == .title }
    let shown = ranked.filter { !$0.isText } + ranked.filter(\.isText)
    let texts = shown.indices.filter { shown[$0].isText && !shown[$0].isUnnamed }
    // A text of few records leaves the line empty in most rows.
    let open =
      texts.first { !shown[$0].isInFew } ?? shown.firstIndex { $0.role == .title }
      ?? longestText(of: shown)
    var columns = shown.enumerated().map { index, profile in
      column(of: profile, isOpen: index == open)
    }
    columns.insert(keyColumn(of: sample, hasTexts: open != nil), at: 0)
    limitToRoom(&columns, ranked: ranked, hasTitle: hasTitle)
    return columns
  }

  /// Returns the index of the field with the longest texts, the first one of several; nil if no field
  /// has texts for people.
  private static func longestText(of profiles: [FieldProfile]) -> Int? {
    var texts = profiles.indices.filter {
      profiles[$0].kind == .text && !profiles[$0].isTechnical
    }
    let common = texts.filter { !profiles[$0].isInFew && !profiles[$0].isConstant }
    if !common.isEmpty { texts = common }
    // A column without a name takes the rest of the line only if there is no other text.
    let named = texts.filter { !profiles[$0].isUnnamed }
    if !named.isEmpty, named.count < texts.count {
      return named.max { (profiles[$0].widest, $1) < (profiles[$1].widest, $0) }
    }
    let widest = texts.map { profiles[$0].widest }.max()
    return texts.first { profiles[$0].widest == widest }
  }

  /// Returns a column for each field of some records, in the order of their first appearance.
  static func columns(ofFieldsIn records: [RunnelTree.Node]) -> [ColumnDefinition] {
    profiles(of: records).map { column(of: $0, isOpen: false) }
  }

  /// Returns the fields to show, the most useful first.
  private static func ranked(_ profiles: [FieldProfile]) -> [FieldProfile] {
    let sorted = profiles.enumerated()
      .sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }
      .map(\.element)
    // Further dates tell less than other fields.
    let furtherDates = sorted.filter { $0.role == .date }.dropFirst(datesMax).map(\.path)
    let useful = sorted.filter { rank($0) < lateRank }
    let last = sorted.filter { rank($0) >= lateRank }
    let early = useful.filter { !furtherDates.contains($0.path) }
    let late = useful.filter { furtherDates.contains($0.path) }
    let informing = Array((early + late).prefix(wideColumnsMax))
    // What all have alike, and what is for programs only, fills up what is left.
    return informing + Array(last.prefix(max(columnsMax - informing.count, 0)))
  }

  /// The rank from which fields hardly inform.
  private static let lateRank = 60
  /// The number of dates that come before other fields.
  private static let datesMax = 2

  /// The rank of a field that tells the records apart: after their title, before what they hold.
  private static let identifyingRank = 3
  /// The least rank of a text that few records have: after the numbers that all have.
  private static let sparseTextRank = 50

  // MARK: Fields

  /// Returns the profiles of the fields, in the order of their first appearance.
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

  /// Returns the rank of a field; columns of low rank come first.
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
    if profile.isIdentifying { rank = identifyingRank }
    if profile.isInFew {
      rank += 25
      if profile.isText { rank = max(rank, sparseTextRank) }
    } else if !profile.isInMost {
      rank += 11
    }
    if profile.isUnnamed { rank = max(rank, lateRank - 1) }
    if profile.isConstant { rank += 100 }
    return rank
  }

  // MARK: Columns

  /// Returns the column of a field, as wide as the values of the sample need, or open to take the
  /// rest of the line.
  private static func column(of profile: FieldProfile, isOpen: Bool) -> ColumnDefinition {
    var column = ColumnDefinition(field: .path(profile.path))
    // The sign of the order stands beside the title.
    let title = CellWidth.width(of: column.field.title) + 1
    if isOpen {
      column.wideWidth = min(max(title, profile.widest), wideWidthMax)
      return column
    }
    column.isColored = profile.isColored
    switch profile.kind {
    case .moment: (column.format, column.width) = (.date, 10)
    case .dateText: (column.format, column.width) = (.date, 10)
    case .number: (column.format, column.width) = (.number, numberWidth(of: profile))
    case .bool:
      // As wide as the title, which tells what the mark is of.
      column.format = .mark
      column.width = min(max(CellWidth.width(of: column.field.title), 2), 9)
    case .text, .mixed:
      column.width = min(max(profile.widest, 4), profile.role == .title ? 28 : 16)
    }
    switch profile.kind {
    case .text, .mixed: column.leastWidth = max(profile.widest, title)
    // Other rows may have numbers with one digit more.
    case .number: column.leastWidth = max(profile.widest + 1, title)
    case .bool, .moment, .dateText: break
    }
    let values =
      switch profile.kind {
      case .text, .mixed: profile.widest
      case .number: profile.widest > column.width ?? 0 ? profile.widest : 0
      case .bool, .moment, .dateText: 0
      }
    column.isDense = profile.isDense
    column.wideWidth =
      profile.hasTimes ? ColumnDefinition.timestampWidth : min(max(title, values), wideWidthMax)
    return column
  }

  /// The greatest width of a column of numbers, with the digits behind their points as far as there is room.
  private static let numberWidths = (whole: 16, withDigits: 10)

  /// Returns the width of a column of numbers: with many digits behind the point they are cut, so that texts
  /// keep their room.
  private static func numberWidth(of profile: FieldProfile) -> Int {
    // Other rows may have numbers with one digit more.
    let wanted = min(profile.widest + 1, numberWidths.withDigits)
    return min(max(wanted, profile.widestWhole + 1, 5), numberWidths.whole)
  }

  /// Returns the column of the keys, as wide as the keys of the sample.
  ///
  /// Long keys are left out on narrow screens if a text distinguishes the records.
  private static func keyColumn(of sample: CollectionSample, hasTexts: Bool) -> ColumnDefinition {
    // Single keys that the program made stand among keys that people chose.
    let chosen = sample.keys.filter { $0.text.utf8.count < 20 }
    let isGenerated = chosen.count * 2 < sample.keys.count
    let widest =
      (isGenerated ? sample.keys : chosen).map { CellWidth.width(of: $0.text) }.max() ?? 0
    let minimum = !hasTexts ? 0 : isGenerated ? 120 : widest > 12 ? 60 : 0
    return ColumnDefinition(
      field: .key, width: min(max(widest, 4), 20), minimumScreen: minimum, isMuted: true)
  }

  /// Returns the width that a list needs for all inferred columns that a screen of a width shows; 0 if there
  /// are none.
  ///
  /// O(columns). The key gives way to the others.
  static func width(neededBy columns: [ColumnDefinition], onScreenOf screen: Int) -> Int {
    let inferred = columns.filter { $0.wideWidth != nil && $0.minimumScreen <= screen }
    // A list keeps its columns while the open one has what it needs at least.
    let spare = columns.contains { $0.width == nil } ? openWidth - RowText.openWidthMin : 0
    return max((inferred.map(\.minimumScreen).max() ?? 0) - spare, 0)
  }

  /// Hides late columns on screens that have no room for them and the columns before them.
  private static func limitToRoom(
    _ columns: inout [ColumnDefinition], ranked: [FieldProfile], hasTitle: Bool
  ) {
    let places = ranked.compactMap { profile in
      columns.firstIndex { $0.field == .path(profile.path) }
    }
    // The field that distinguishes the records is always shown, so its room is taken before that of others.
    let essential = places.enumerated()
      .filter { $0.offset == 0 || (!hasTitle && columns[$0.element].width == nil) }
      .map(\.element)
    let keyWidth = (columns[0].width ?? 0) + 1
    var needed = gutterWidth
    for index in essential { needed += (columns[index].width ?? openWidth) + 1 }
    for index in places where !essential.contains(index) {
      needed += (columns[index].width ?? openWidth) + 1
      // On a screen that shows the key too, there is less room.
      let screen = needed + keyWidth > columns[0].minimumScreen ? needed + keyWidth : needed
      if screen > 40 { columns[index].minimumScreen = screen }
    }
  }
}
