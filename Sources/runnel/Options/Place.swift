import ArgumentParser
import RunnelTree

/// How a place in the tree is read from the command line.
enum Place {
  /// What the help says of a place that may be left out.
  static let optionalHelp: ArgumentHelp = "The place in the tree, such as /users/ana."
  /// What the help says of a place that must be given.
  static let requiredHelp: ArgumentHelp =
    "The place in the tree, such as /users/ana; / is the root."

  /// Reads a path, with or without a slash before it.
  ///
  /// - Throws: `ValidationError` that says what is wrong with it.
  static func path(_ text: String) throws -> Path {
    do throws(TreeError) {
      return try Path(text)
    } catch {
      throw ValidationError(error.message)
    }
  }
}
