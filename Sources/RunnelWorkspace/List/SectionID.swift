import RunnelBase
package import RunnelStreams
package import RunnelTree

/// The id of a section of a view: the rule that made it, and its value.
///
/// The text of the id is the section's id in the list; the id also gives the order of sections.
package typealias SectionID = RuleSection

extension SectionID {
  private static var separator: Character { "|" }

  /// Parses an id from its text.
  package init(_ text: String) {
    let parts = text.split(
      separator: SectionID.separator, maxSplits: 2, omittingEmptySubsequences: false)
    self.init(
      rule: parts.first.flatMap { Int($0) } ?? 0,
      rank: parts.count > 1 ? Int(parts[1]) ?? 0 : 0,
      value: parts.count > 2 ? String(parts[2]) : "")
  }

  /// The id as text.
  package var text: String { "\(rule)\(SectionID.separator)\(rank)\(SectionID.separator)\(value)" }

  /// Makes the id of a record's section in a view.
  package init(
    of record: RunnelTree.Node, key: RunnelTree.Key, in view: ViewDefinition, local: LocalTime
  ) {
    for (index, rule) in view.sections.enumerated() {
      if let id = SectionID(rule, index, key, record, view.source, local) {
        self = id
        return
      }
    }
    self.init(rule: view.sections.count, value: "")
  }

  private init?(
    _ rule: SectionRule, _ index: Int, _ key: RunnelTree.Key, _ record: RunnelTree.Node,
    _ source: SourceDefinition, _ local: LocalTime
  ) {
    switch rule {
    case .match(_, let conditions):
      guard conditions.allSatisfy({ $0.node(key: key, record).json == $1 }) else { return nil }
      self.init(rule: index, value: "")
    case .field(let field, let titles):
      let value = FieldKind.text(of: field.node(key: key, record).json)
      let rank = titles.firstIndex { $0.value == value } ?? titles.count
      self.init(rule: index, rank: rank, value: value)
    case .day(let field):
      let leaf = field.node(key: key, record).leaf
      guard let milliseconds = StoredTime.milliseconds(of: leaf, local) else { return nil }
      // The rank of a day is its number counted from 1970, which orders the days; if the newest rows come
      // first, its opposite.
      let day = local.civil(milliseconds).dayNumber
      self.init(rule: index, rank: source.showsNewestFirst(by: field) ? -day : day, value: "")
    }
  }

  /// Returns whether sections follow the order of the rows: sections by day do if rows are ordered
  /// by the same time, or by keys, which ascend with time.
  func isPieceOfOrder(of view: ViewDefinition) -> Bool {
    guard view.sections.indices.contains(rule), case .day(let field) = view.sections[rule] else {
      return false
    }
    return view.source.isDescending(along: field) != nil
  }

  /// Returns the title of the header.
  package func title(in view: ViewDefinition, now: Int64, local: LocalTime) -> String {
    guard view.sections.indices.contains(rule) else {
      return view.sections.isEmpty ? view.name : "Others"
    }
    switch view.sections[rule] {
    case .match(let title, _): return title
    case .field(_, let titles):
      if titles.indices.contains(rank) { return titles[rank].title }
      return value.isEmpty ? "None" : value
    case .day(let field):
      let day = view.source.showsNewestFirst(by: field) ? -rank : rank
      return SectionID.dayTitle(day, today: local.civil(now).dayNumber)
    }
  }

  static func dayTitle(_ day: Int, today: Int) -> String {
    let date = CivilTime(milliseconds: Int64(day) * 86_400_000, offsetSeconds: 0).longDateText
    return switch today - day {
    case 0: "Today · \(date)"
    case 1: "Yesterday · \(date)"
    default: date
    }
  }
}

extension SourceDefinition {
  /// Whether the rows with the latest times in a field come first.
  fileprivate func showsNewestFirst(by field: FieldPath) -> Bool {
    isDescending(along: field) == true
  }

  /// Whether the rows are sorted against a time; nil if they are not sorted by it.
  ///
  /// They are by the field itself, or by keys, which ascend with time.
  fileprivate func isDescending(along field: FieldPath) -> Bool? {
    guard let first = order.sortKeys.first else { return nil }
    switch (first.field, field) {
    case (.key, _): return first.isDescending != isDescending
    case (.child(let path), .path(let time)) where path == time:
      return first.isDescending != isDescending
    case (.child, _), (.value, _), (.priority, _): return nil
    }
  }
}
