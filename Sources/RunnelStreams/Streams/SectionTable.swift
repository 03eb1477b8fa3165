/// Which sections a partition has after a change, and which of those before they are.
struct SectionTable<Section: Comparable & Hashable> {
  /// The keys of the sections, in their new order.
  private(set) var keys: [Section]
  /// For each new section the index it had before; nil if it is new.
  private(set) var origins: [Int?]
  /// For each old section its new index; nil if it is gone.
  private(set) var successors: [Int?]
  private let places: [Section: Int]

  /// Finds the sections after a change.
  ///
  /// - Parameters:
  ///   - before: the sections before, each with the number of its rows.
  ///   - added: the section of each row that comes.
  ///   - removed: the old index of the section of each row that goes.
  ///   - fixed: sections that are there in any case.
  init(
    _ before: [(key: Section, count: Int)], adding added: [Section], removing removed: [Int],
    fixed: Set<Section>
  ) {
    var counts = before.map(\.count)
    for section in removed { counts[section] -= 1 }
    var shown = fixed.union(added)
    for (section, count) in zip(before, counts) where count > 0 { shown.insert(section.key) }
    let keys = shown.sorted()
    let places = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) })
    successors = before.map { places[$0.key] }
    origins = Array(repeating: nil, count: keys.count)
    for (old, new) in successors.enumerated() {
      if let new { origins[new] = old }
    }
    self.keys = keys
    self.places = places
  }

  /// The new index of a section that rows come into.
  func index(of key: Section) -> Int {
    guard let index = places[key] else { preconditionFailure("The section of a row is there.") }
    return index
  }
}
