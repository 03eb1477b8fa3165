import RunnelStreams
import RunnelWorkspace

/// A search of a filter through the rows beyond an end of a list, requested once by the user.
struct FilterSearch {
  /// The number of rows read at once.
  static let step = 500
  /// The number of rows loaded before the others are searched without being loaded: as many as a list
  /// keeps.
  private static let scannedMax = SourceDefinition.keptRows

  let end: ListEnd
  private let found: Int
  private let scanned: Int

  /// Creates a search from the numbers of rows found and read so far; it is to find another page.
  init(at end: ListEnd, from found: Int, scanned: Int, page: Int) {
    self.end = end
    self.found = found + page
    self.scanned = scanned + FilterSearch.scannedMax
  }

  /// The number of rows that are still to be found.
  func missingCount(found: Int) -> Int { self.found - found }

  func isDone(found: Int, scanned: Int) -> Bool {
    found >= self.found || scanned >= self.scanned
  }
}
