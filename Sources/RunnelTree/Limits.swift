/// The limits of a tree.
///
/// Each is enforced when something is written, with an error that names the limit.
///
/// Source: tree semantics, section 2.2.
public enum TreeLimits {
  /// The most bytes of UTF-8 in one key.
  public static let keyBytesMax = 768
  /// The most bytes of UTF-8 in one path, one byte counted for each separator.
  public static let pathBytesMax = 768
  /// The most levels below the root.
  public static let depthMax = 32
  /// The most bytes of UTF-8 in one string value.
  public static let stringBytesMax = 10_485_760
}
