/// A part of a value that is kept in memory of its own and shared by all copies of the value until
/// one of them changes it.
///
/// A copy of the whole value is made several times for each key. A part with many references of its
/// own costs one reference that way. Reading and changing the part is as usual; a change copies the
/// part only while another copy shares it.
@propertyWrapper
package struct Boxed<Value> {
  /// The part, alone in an array, whose memory is shared by copies.
  private var storage: ContiguousArray<Value>

  package init(wrappedValue: Value) { storage = [wrappedValue] }

  package var wrappedValue: Value {
    _read { yield storage[0] }
    _modify { yield &storage[0] }
  }
}

extension Boxed: Sendable where Value: Sendable {}
extension Boxed: Equatable where Value: Equatable {}
extension Boxed: Hashable where Value: Hashable {}
