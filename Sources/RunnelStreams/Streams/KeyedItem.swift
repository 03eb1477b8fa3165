/// A row of a stream: its identity is the key, its content is what `==` compares.
///
/// Two values with one key are two states of the same row. Keys are unique in a stream.
public protocol KeyedItem: Equatable {
  /// The identity of the row; it never changes while the row lives.
  var key: String { get }
}
