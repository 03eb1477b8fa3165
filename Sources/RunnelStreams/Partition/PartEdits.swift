/// The edits of a partition's sections in one change.
struct PartEdits<Item: StreamItem, Section: Comparable & Hashable> {
  typealias Part = PartitionSection<Item, Section>

  /// The edit of the rows that a section shows.
  struct Edit {
    let part: Part
    let edit: RowEdit<RowObject>
  }

  /// The sections before the change, without their rows: a reference to the rows would make edits
  /// copy them.
  let headings: [StreamSection<Item>]
  /// The number of rows that each of them showed.
  let counts: [Int]
  private(set) var edits: [Edit] = []

  init(_ sections: [StreamSection<Item>]) {
    counts = sections.map(\.items.count)
    headings = sections.map { section in
      var heading = section
      heading.items = []
      return heading
    }
  }

  /// Adds an edit of a section.
  mutating func note(_ part: Part, _ edit: RowEdit<RowObject>) {
    edits.append(Edit(part: part, edit: edit))
  }

  /// The removed rows, at their old places; to be read before the sections get their new places.
  var oldRows: [SectionedDiff.Row] {
    sorted.flatMap { index, edit in edit.edit.removedRows(section: index) }
  }

  /// The inserted rows, at their new places; to be read when the sections have their new places.
  var newRows: [SectionedDiff.Row] {
    sorted.flatMap { index, edit in edit.edit.insertedRows(section: index) }
  }

  private var sorted: [(Int, Edit)] {
    edits.compactMap { edit in edit.part.index.map { ($0, edit) } }.sorted { $0.0 < $1.0 }
  }
}
