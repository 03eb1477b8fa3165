extension ListContent {
  /// The place of a row after an update, or the place nearest to it if the row is gone.
  package struct RowPassage: Hashable, Sendable {
    /// The place in the new content; it may be one after the last row of a section.
    package var path: ListIndexPath
    /// True if the same row is there.
    package var isSameRow: Bool
  }

  /// Follows a row through an update.
  ///
  /// O(sections + t log t) in the t rows that the update names. Nil if the new content has no
  /// sections, or there is no row at the path.
  ///
  /// - Parameters:
  ///   - path: the place of the row in this content.
  ///   - update: the update that leads to the new content; it is no reload.
  ///   - new: the new content.
  /// - Returns: the place of the row, or the place nearest to it.
  package func passage(
    of path: ListIndexPath, through update: BatchUpdate, to new: ListContent
  ) -> RowPassage? {
    guard row(at: path) != nil else { return nil }
    let passage = ListPassage(
      update, from: ListLayout(self, folded: []), to: ListLayout(new, folded: []))
    if let place = passage.place(after: ListPlace(path)), let row = place.row {
      return RowPassage(path: ListIndexPath(section: place.section, row: row), isSameRow: true)
    }
    return passage.successor(of: ListPlace(path)).map { place in
      RowPassage(
        path: ListIndexPath(section: place.section, row: place.row ?? 0), isSameRow: false)
    }
  }
}
