extension ListState {
  /// Folds the section if its rows show, and unfolds it if not.
  public mutating func toggleFold(_ section: String, in content: ListContent, height: Int) {
    if folded.contains(section) {
      unfold(section, in: content, height: height)
    } else {
      fold(section, in: content, height: height)
    }
  }

  /// Folds the section, if it exists; a cursor in it goes to its header.
  ///
  /// The header keeps its line on the screen, if it is on the screen.
  public mutating func fold(_ section: String, in content: ListContent, height: Int) {
    guard !folded.contains(section), let index = content.index(ofSection: section) else { return }
    changeFolds(at: index, in: content, height: height) { $0.insert(section) }
    forgetNewRows(of: content.sections[index])
  }

  /// Unfolds the section; its header keeps its line on the screen, if it is on the screen.
  public mutating func unfold(_ section: String, in content: ListContent, height: Int) {
    guard folded.contains(section) else { return }
    guard let index = content.index(ofSection: section) else {
      folded.remove(section)
      return
    }
    changeFolds(at: index, in: content, height: height) { $0.remove(section) }
  }

  /// Folds every section; the cursor goes to its header, which keeps its line on the screen.
  public mutating func foldAll(in content: ListContent, height: Int) {
    let frame = begin(content, height: height)
    clearNewRows()
    changeFolds(at: frame.cursor?.section, in: content, height: height) {
      $0.formUnion(content.sections.map(\.id))
    }
  }

  /// Unfolds every section; the cursor keeps its line on the screen.
  public mutating func unfoldAll(in content: ListContent, height: Int) {
    let frame = begin(content, height: height)
    changeFolds(at: frame.cursor?.section, in: content, height: height) { $0 = [] }
  }

  /// Changes the folds so that the header of a section keeps its line on the screen.
  ///
  /// A sticky header counts as on the top line. If the header is not on the screen, the cursor
  /// keeps its line.
  private mutating func changeFolds(
    at section: Int?, in content: ListContent, height: Int,
    change: (inout Set<String>) -> Void
  ) {
    let old = begin(content, height: height)
    change(&folded)
    let layout = ListLayout(content, folded: folded)
    guard let cursor = old.cursor, let section else { return }
    var next = Frame(layout: layout, height: old.height, top: old.top, cursor: cursor)
    if !layout.shows(cursor) { next.cursor = ListPlace(section: cursor.section) }
    guard let place = next.cursor else { return }

    let header = ListPlace(section: section)
    let offset = old.layout.line(of: header) - old.top
    let isSticky = old.layout.stickySection(top: old.top, height: old.height) == section
    if isSticky || (0..<old.height).contains(offset) || place != cursor {
      next.top = layout.line(of: header) - max(0, offset)
    } else {
      next.top = layout.line(of: place) - cursorLine
    }
    settle(next, from: next.top)
  }
}
