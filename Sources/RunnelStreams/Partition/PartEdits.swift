/// What happens to the sections of a partition in one change.
struct PartEdits<Item: KeyedItem, Section: Comparable & Hashable> {
  typealias Part = PartitionSection<Item, Section>

  /// The edit of the rows that one section shows.
  struct Edit {
    let part: Part
    let edit: RowEdit<RowObject>
  }

  /// The sections before, without their rows: who held them would have them copied.
  let headings: [StreamSection<Item>]
  /// How many rows each of them showed.
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

  /// Notes what was done to a section.
  mutating func note(_ part: Part, _ edit: RowEdit<RowObject>) {
    edits.append(Edit(part: part, edit: edit))
  }

  /// The rows that went, at their old places; asked for before the sections get their new ones.
  var oldRows: [SectionedDiff.Row] {
    sorted.flatMap { index, edit in edit.edit.removedRows(section: index) }
  }

  /// The rows that came, at their new places; asked for when the sections have them.
  var newRows: [SectionedDiff.Row] {
    sorted.flatMap { index, edit in edit.edit.insertedRows(section: index) }
  }

  private var sorted: [(Int, Edit)] {
    edits.compactMap { edit in edit.part.index.map { ($0, edit) } }.sorted { $0.0 < $1.0 }
  }
}
