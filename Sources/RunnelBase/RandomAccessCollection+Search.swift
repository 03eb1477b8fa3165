extension RandomAccessCollection {
  /// The first index whose element is not before the place sought; the end if all are before it.
  ///
  /// O(log n). `isBefore` is true for a first part of the elements and false for the rest.
  @inlinable
  package func lowerBound(_ isBefore: (Element) -> Bool) -> Index {
    var (low, count) = (startIndex, count)
    while count > 0 {
      let half = count / 2
      let middle = index(low, offsetBy: half)
      if isBefore(self[middle]) {
        low = index(after: middle)
        count -= half + 1
      } else {
        count = half
      }
    }
    return low
  }
}
