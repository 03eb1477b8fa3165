package import RunnelBase

/// The rows of the pane of views and bookmarks, with the sections of the list in front below them.
package struct ViewsPane {
  static let viewsSection = "views"
  static let bookmarksSection = "bookmarks"
  static let sectionsSection = "sections"
  /// The most sections that are shown.
  static let sectionsMax = 200

  /// What a row stands for.
  package enum Row: Hashable, Sendable {
    /// The tab at a position.
    case tab(Int)
    /// The bookmark with a letter.
    case bookmark(Character)
    /// A section of the list in front, by its id.
    case section(String)

    /// The id of the row.
    package var id: String {
      switch self {
      case .tab(let position): "view \(position)"
      case .bookmark(let letter): "bookmark \(letter)"
      case .section(let section): "section \(section)"
      }
    }
  }

  /// The rows, in their sections.
  package let content: ListContent
  /// What the rows stand for, by their ids.
  package let rows: [String: Row]

  package init(tabs: [String], letters: [Character], sections: [String] = []) {
    let parts = [tabs.indices.map { Row.tab($0) }, letters.map { .bookmark($0) }]
    let shown = sections.map { Row.section($0) }
    var content = [
      ListSection(id: ViewsPane.viewsSection, rows: parts[0].map(\.id)),
      ListSection(
        id: ViewsPane.bookmarksSection, rows: parts[1].map(\.id), emptyText: "none yet"),
    ]
    if !shown.isEmpty {
      content.append(ListSection(id: ViewsPane.sectionsSection, rows: shown.map(\.id)))
    }
    self.content = ListContent(sections: content)
    rows = Dictionary(
      (parts[0] + parts[1] + shown).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  }
}
