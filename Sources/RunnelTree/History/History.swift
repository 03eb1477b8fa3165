/// The limits of the log of writes.
public enum History {
  /// How many entries a database keeps, unless it is told otherwise.
  public static let entryCountDefault = 1000
  /// The most bytes of JSON of one value that is kept; what is larger cannot be undone.
  public static let valueBytesMax = 65_536
}
