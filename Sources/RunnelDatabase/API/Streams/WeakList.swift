/// Objects that others keep, in the order in which they were added.
///
/// It forgets those that are gone when it is read, and when it has twice as many entries as were
/// alive at the last look. So it never grows much beyond the objects that live.
struct WeakList<Element> {
  /// Closures that return the objects; nil for those that are gone.
  private var entries: [() -> Element?] = []
  /// The number of entries at which those that are gone are looked for.
  private var lookCount = 16

  /// The number of entries, with those of objects whose end was not noticed yet.
  var entryCount: Int { entries.count }

  /// Adds an object.
  ///
  /// O(1), amortized.
  ///
  /// - Parameter object: returns the object, which it does not keep; nil once it is gone.
  mutating func append(_ object: @escaping () -> Element?) {
    if entries.count >= lookCount {
      _ = elements()
      lookCount = 2 * entries.count + 16
    }
    entries.append(object)
  }

  /// The objects that are still kept, in order; the others are forgotten.
  ///
  /// O(n) in the entries.
  mutating func elements() -> [Element] {
    let elements = entries.compactMap { $0() }
    if elements.count < entries.count { entries.removeAll { $0() == nil } }
    return elements
  }
}
