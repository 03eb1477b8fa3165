/// What a long list remembers of unloading rows: which rows are beyond its ends, and how many rows stay.
struct ListUnloading: Hashable, Sendable {
  /// Facts about the rows beyond the end where rows may arrive, or nil if the list reaches it.
  var beyond: UnloadedRows?
  /// Whether the list has asked to unload rows that are not gone yet.
  var isLettingGo = false
  /// The number of rows of the collection when the list asked to unload rows.
  ///
  /// Rows that arrive from then on beyond the kept ones are known only by their number.
  var totalWhenAsked: Int?
  /// The number of loaded rows after the last unloading or search; rows are not unloaded below it.
  private(set) var loadedFloor = 0
  /// The number of rows that came since the last unloading and are neither new nor fetched.
  var returnedCount = 0
  /// The number of rows that were loaded before a filter searched further ones; nil if none did.
  private(set) var loadedBeforeSearch: Int?

  /// Asks to unload rows while the collection has a number of rows.
  mutating func ask(_ total: Int?) { (isLettingGo, totalWhenAsked) = (true, total) }

  /// Notes that rows are unloaded, and how many are left.
  mutating func end(leaving count: Int) {
    isLettingGo = false
    keepReturned(count)
  }

  /// Keeps the loaded rows, those that have come back by themselves among them.
  mutating func keepReturned(_ count: Int) { (loadedFloor, returnedCount) = (count, 0) }

  /// Keeps at least a number of rows, because the user fetched them.
  mutating func keep(atLeast count: Int) { loadedFloor = max(loadedFloor, count) }

  /// Begins another search: what the last one loaded may go.
  mutating func forgetFloor() { loadedFloor = 0 }

  /// Notes how many rows are loaded before a filter searches further ones.
  mutating func noteSearch(_ loadedCount: Int) {
    loadedBeforeSearch = loadedBeforeSearch ?? loadedCount
  }

  /// Notes that what was found by a search is not loaded any more, or stays.
  mutating func forgetSearch() { loadedBeforeSearch = nil }

  /// Begins to read the rows again.
  mutating func beginReading() {
    (beyond, isLettingGo, loadedFloor, loadedBeforeSearch) = (nil, false, 0, nil)
  }
}
