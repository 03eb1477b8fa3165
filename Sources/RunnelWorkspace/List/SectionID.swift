import RunnelBase
package import RunnelStreams
package import RunnelTree

/// What a section of a view is known by: which rule made it, and of which value.
///
/// Its text is the id of the section in the list; it also gives the order of sections.
package typealias SectionID = RuleSection

extension SectionID {
  private static var separator: Character { "|" }

  /// Reads an id from its text.
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

  /// The section of a record in a view.
  package init(
    of record: RunnelTree.Node, key: RunnelTree.Key, in view: ViewDefinition, local: LocalTime
  ) {
    for (index, rule) in view.sections.enumerated() {
      if let id = SectionID(rule, index, key, record, local) {
        self = id
        return
      }
    }
    self.init(rule: view.sections.count, value: "")
  }

  private init?(
    _ rule: SectionRule, _ index: Int, _ key: RunnelTree.Key, _ record: RunnelTree.Node,
    _ local: LocalTime
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
      guard case .leaf(.number(let number)) = field.node(key: key, record).content,
        let milliseconds = number.integer ?? Int64(exactly: number.double.rounded(.down))
      else { return nil }
      // Days are numbered from 1970; the number orders them.
      self.init(rule: index, rank: local.civil(milliseconds).dayNumber, value: "")
    }
  }

  /// True if the rows of the section follow each other in the order of the rows: a day, where that is the
  /// order of the same time, or of keys, which are made as time goes on.
  func isPieceOfOrder(of view: ViewDefinition) -> Bool {
    guard view.sections.indices.contains(rule), case .day(let field) = view.sections[rule] else {
      return false
    }
    return switch (view.source.order.forward, field) {
    case (.key, _): true
    case (.child(let path), .path(let time)): path == time
    case (.child, _), (.value, _), (.priority, _), (.compound, _): false
    }
  }

  /// The words of the header.
  package func title(in view: ViewDefinition, now: Int64, local: LocalTime) -> String {
    guard view.sections.indices.contains(rule) else {
      return view.sections.isEmpty ? view.name : "Others"
    }
    switch view.sections[rule] {
    case .match(let title, _): return title
    case .field(_, let titles):
      if titles.indices.contains(rank) { return titles[rank].title }
      return value.isEmpty ? "None" : value
    case .day: return SectionID.dayTitle(rank, today: local.civil(now).dayNumber)
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
