import RunnelBase

/// The rows of a partition's source in order, each with a label, so that two rows of a section can be
/// compared in O(1) without asking where they are.
///
/// Labels ascend with the order. A row that is inserted between two others gets a label between
/// theirs. If there is none, the labels around are spread: over the smallest stretch in which their
/// distance becomes at least its number of rows. So an insertion costs O(log n) on average,
/// wherever it is (Bender and others, "Two Simplified Algorithms for Maintaining Order in a List",
/// 2002).
struct SourceOrder {
  /// The rows.
  private(set) var rows = Rows<RowObject>()

  /// The distance between the labels at the ends and new ones beyond them.
  private static var stride: Int { 1 << 32 }
  private static var labelMax: Int { 1 << 61 }

  /// Makes an order of rows, and gives them labels.
  init(_ entries: [RowObject] = []) {
    rows = Rows(entries)
    spreadAll()
  }

  /// Removes, inserts and replaces rows; the labels of others may change, but not their order.
  ///
  /// O(log n) for each on average.
  ///
  /// - Parameters:
  ///   - indices: the indices of the rows to remove, ascending.
  ///   - arriving: the rows to insert, each before the row at its gap; they get labels.
  ///   - renewed: the rows that replace the row at their gap, and get its label.
  mutating func apply(
    removing indices: [Int], inserting arriving: [RowEdit<RowObject>.Insertion],
    replacing renewed: [RowEdit<RowObject>.Insertion]
  ) {
    // Removed rows stay until the others have labels, since lists that hold them search by labels.
    let arrival = RowEdit(inserting: arriving)
    rows.apply(arrival)
    label(arrival.insertedIndices)
    func shifted(_ index: Int) -> Int { index + arriving.lowerBound { $0.gap <= index } }
    let stale = rows.elements(at: renewed.map { shifted($0.gap) })
    for (old, new) in zip(stale, renewed) { new.item.label = old.label }
    let going = renewed.isEmpty ? indices : (indices + renewed.map(\.gap)).sorted()
    rows.apply(
      RowEdit(
        removing: going.map(shifted),
        inserting: renewed.map { .init(gap: shifted($0.gap), item: $0.item) }))
  }

  /// The index of a row that is here.
  ///
  /// O(log n).
  func index(of row: RowObject) -> Int { rows.places(of: [row], in: RowOrder())[0] }
}

// MARK: Labels

extension SourceOrder {
  /// Gives labels to the unlabelled rows at some indices, ascending.
  private func label(_ indices: [Int]) {
    var runs: [Range<Int>] = []
    for index in indices {
      if let last = runs.last, last.upperBound == index {
        runs[runs.count - 1] = last.lowerBound..<(index + 1)
      } else {
        runs.append(index..<(index + 1))
      }
    }
    var read = rows.elements(at: runs.flatMap(around))[...]
    for run in runs {
      let count = around(run).count
      if !spread(run, among: read.prefix(count)) { makeRoom(for: run) }
      read = read.dropFirst(count)
    }
  }

  /// Gives labels to a run of rows for which the labels around leave too little room.
  private func makeRoom(for run: Range<Int>) {
    var (stretch, width) = (run, run.count)
    repeat {
      precondition(stretch.count < rows.count, "There are labels for all rows.")
      stretch = max(0, stretch.lowerBound - width)..<min(rows.count, stretch.upperBound + width)
      width *= 2
    } while !spread(stretch, among: rows.elements(at: Array(around(stretch)))[...])
  }

  /// A stretch of rows, extended by one row at each end.
  private func around(_ stretch: Range<Int>) -> Range<Int> {
    max(0, stretch.lowerBound - 1)..<min(rows.count, stretch.upperBound + 1)
  }

  /// Spreads the labels of a stretch evenly between those of the rows around it; returns false if
  /// there is too little room.
  ///
  /// The entries are the rows of the stretch and those around it.
  private func spread(_ stretch: Range<Int>, among entries: ArraySlice<RowObject>) -> Bool {
    let lower = stretch.lowerBound > 0 ? entries.first?.label : nil
    let upper = stretch.upperBound < rows.count ? entries.last?.label : nil
    let room = Self.stride * (stretch.count + 1)
    let (first, last) =
      switch (lower, upper) {
      case (let lower?, let upper?): (lower, upper)
      case (let lower?, nil): (lower, lower + room)
      case (nil, let upper?): (upper - room, upper)
      case (nil, nil): (-room / 2, room / 2)
      }
    let step = (last - first) / (stretch.count + 1)
    guard step >= stretch.count, first > -Self.labelMax, last < Self.labelMax else { return false }
    let inner = entries.dropFirst(lower == nil ? 0 : 1).prefix(stretch.count)
    for (offset, row) in inner.enumerated() { row.label = first + step * (offset + 1) }
    return true
  }

  private func spreadAll() {
    for (index, entry) in rows.enumerated() {
      entry.label = (index - rows.count / 2) * Self.stride
    }
  }
}
