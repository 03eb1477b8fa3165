/// A part of a value that is kept in memory of its own and shared by all copies of the value until
/// one of them changes it.
///
/// A copy of the whole value is made several times for each key. A part with many references of its
/// own costs one reference that way. Reading and changing the part is as usual; a change copies the
/// part only while another copy shares it.
@propertyWrapper
package struct Boxed<Value> {
  /// The shared memory, which is changed only by an owner that shares it with no one.
  private final class Storage {
    @exclusivity(unchecked) var value: Value

    init(_ value: Value) { self.value = value }
  }

  private var storage: Storage

  package init(wrappedValue: Value) { storage = Storage(wrappedValue) }

  package var wrappedValue: Value {
    _read { yield storage.value }
    _modify {
      if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
      yield &storage.value
    }
  }
}

extension Boxed: Equatable where Value: Equatable {
  package static func == (one: Boxed, other: Boxed) -> Bool {
    one.storage === other.storage || one.storage.value == other.storage.value
  }
}

extension Boxed: Hashable where Value: Hashable {
  package func hash(into hasher: inout Hasher) { hasher.combine(storage.value) }
}

// Threads share the memory only to read it.
extension Boxed: @unchecked Sendable where Value: Sendable {}
