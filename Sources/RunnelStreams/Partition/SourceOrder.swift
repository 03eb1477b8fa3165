/// The rows of a partition's source in order, each with a label, so that two rows of a section can be
/// compared in O(1) without asking where they are.
///
/// Labels ascend with the order. A row that comes between two others takes a label between theirs. If
/// there is none, the labels around are spread: those of the smallest stretch in which they are then
/// as far from each other as it has rows, so that an insertion costs O(log n) on average, wherever it
/// is (Bender and others, "Two Simplified Algorithms for Maintaining Order in a List", 2002).
struct SourceOrder {
  /// The rows.
  private(set) var rows = Rows<RowObject>()

  /// How far the labels at the ends are from each other.
  private static var stride: Int { 1 << 32 }
  private static var labelMax: Int { 1 << 61 }

  /// Makes an order of rows, and gives them labels.
  init(_ entries: [RowObject] = []) {
    rows = Rows(entries)
    spreadAll()
  }

  /// Puts rows in and gives them labels; the labels of others may change, not their order.
  ///
  /// O(log n) for each on average.
  mutating func insert(_ insertions: [RowEdit<RowObject>.Insertion]) {
    let edit = RowEdit(inserting: insertions)
    rows.apply(edit)
    let indices = edit.insertedIndices
    var start = 0
    while start < indices.count {
      var end = start + 1
      while end < indices.count, indices[end] == indices[end - 1] + 1 { end += 1 }
      label(indices[start]..<(indices[end - 1] + 1))
      start = end
    }
  }

  /// Takes rows out, and puts others in the place of some.
  ///
  /// - Parameters:
  ///   - indices: where the rows are that go, ascending.
  ///   - replacements: rows and where they come to stand, ascending; each has the label of the row
  ///     that is there.
  mutating func update(removing indices: [Int], replacing replacements: [(Int, RowObject)]) {
    let replaced = replacements.map { RowEdit<RowObject>.Insertion(gap: $0.0, item: $0.1) }
    rows.apply(
      RowEdit(removing: (indices + replacements.map(\.0)).sorted(), inserting: replaced))
  }

  /// The index of a row that is here.
  ///
  /// O(log n).
  func index(of row: RowObject) -> Int {
    rows.lowerBound { $0.label < row.label }
  }
}

// MARK: Labels

extension SourceOrder {
  /// Gives labels to rows that follow each other and have none.
  private mutating func label(_ range: Range<Int>) {
    var width = range.count
    var stretch = range
    while !spread(stretch) {
      stretch = max(0, stretch.lowerBound - width)..<min(rows.count, stretch.upperBound + width)
      width *= 2
    }
  }

  /// Spreads the labels of a stretch evenly between those around it; false if it is too narrow.
  private func spread(_ stretch: Range<Int>) -> Bool {
    let lower = stretch.lowerBound > 0 ? rows[stretch.lowerBound - 1].label : nil
    let upper = stretch.upperBound < rows.count ? rows[stretch.upperBound].label : nil
    let room = Self.stride * (stretch.count + 1)
    let (first, last) =
      switch (lower, upper) {
      case (let lower?, let upper?): (lower, upper)
      case (let lower?, nil): (lower, lower + room)
      case (nil, let upper?): (upper - room, upper)
      case (nil, nil): (-room / 2, room / 2)
      }
    let step = (last - first) / (stretch.count + 1)
    guard step >= stretch.count, first > -Self.labelMax, last < Self.labelMax else {
      precondition(stretch.count < rows.count, "There are labels for all rows.")
      return false
    }
    for (offset, index) in stretch.enumerated() {
      rows[index].label = first + step * (offset + 1)
    }
    return true
  }

  private func spreadAll() {
    for (index, entry) in rows.enumerated() {
      entry.label = (index - rows.count / 2) * Self.stride
    }
  }
}
