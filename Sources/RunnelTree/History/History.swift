/// The limits of the log of writes.
package enum History {
  /// The default number of entries that a database keeps.
  package static let entryCountDefault = 1000
  /// The most bytes of JSON of one kept value; a change with a larger value cannot be undone.
  package static let valueBytesMax = 65_536
}
