import RunnelBase
import RunnelTree

/// An array so full of gaps that what is stored of it would not be read as an array.
struct SparseArray: Error {
  /// The number of elements up to which an array may have any gaps.
  static let anyGapsMax = 1_000

  private var names: [String] = []
  private let count: Int
  private let filled: Int

  /// Whether children with whole numbers as keys are an array.
  ///
  /// Longer ones must be half full, so that a single child with a great number takes no memory for
  /// all the elements before it.
  ///
  /// - Parameters:
  ///   - greatest: the greatest key.
  ///   - count: the number of children.
  /// - Returns: true if they are.
  static func isReadable(greatest: Int, count: Int) -> Bool {
    greatest < max(2 * count, anyGapsMax)
  }

  /// - Throws: `SparseArray` if the elements could not be read again.
  static func check(_ elements: [JSONValue]) throws(SparseArray) {
    guard elements.count > anyGapsMax,
      let greatest = elements.lastIndex(where: { !$0.isEmptyNode })
    else { return }
    let filled = elements.count { !$0.isEmptyNode }
    if isReadable(greatest: greatest, count: filled) { return }
    throw SparseArray(count: elements.count, filled: filled)
  }

  private init(count: Int, filled: Int) { (self.count, self.filled) = (count, filled) }

  /// The same array, in a member with this name.
  func within(_ name: String) -> SparseArray {
    var error = self
    error.names.insert(name, at: 0)
    return error
  }

  /// The place of the array below the place of the value that was written.
  func place(below path: Path) -> String {
    names.reduce(path.isRoot ? "" : path.description) { $0 + "/" + $1 }
  }

  /// The reason, as errors give it.
  var reason: String {
    "only \(filled) of the \(count) elements of the array hold anything, so it could not be read again: use a dictionary"
  }
}
