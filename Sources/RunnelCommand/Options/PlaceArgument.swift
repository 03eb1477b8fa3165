import ArgumentParser
import RunnelTree

/// Reads places in the tree from the command line.
enum PlaceArgument {
  /// The help for an optional place.
  static let optionalHelp: ArgumentHelp = "The place in the tree, such as /users/ana."
  /// The help for a required place.
  static let requiredHelp: ArgumentHelp =
    "The place in the tree, such as /users/ana; / is the root."

  /// Reads a path, with or without a slash before it.
  ///
  /// - Throws: `ValidationError` that describes the mistake.
  static func path(_ text: String) throws -> Path {
    if text.isEmpty { throw ValidationError("a path is empty; the root of the tree is written /.") }
    do throws(TreeError) {
      return try Path(text)
    } catch {
      throw ValidationError(error.message)
    }
  }

  /// Reads the path of a place to be written.
  ///
  /// No key in it may be empty: if the shell variable `$id` is not set, `/users/$id` would be the
  /// place above.
  ///
  /// - Throws: `ValidationError` with the mistake.
  static func target(_ text: String) throws -> Path {
    let path = try path(text)
    let pieces = text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
    if text != "/", pieces.dropFirst(text.hasPrefix("/") ? 1 : 0).contains(where: \.isEmpty) {
      throw ValidationError(
        "a part of the path is empty. Is a shell variable not set? Without the empty part, the path is "
          + "\(path).")
    }
    if path.isInfo {
      throw ValidationError("/.info is read-only: the program provides its values.")
    }
    return path
  }

  /// Checks a write whose values stand in the command line.
  ///
  /// - Throws: `ValidationError` if every tree would refuse it.
  static func check(_ write: Write) throws {
    do throws(TreeError) {
      _ = try write.assignments(now: 0, reader: EmptyTree())
    } catch {
      throw ValidationError(error.description)
    }
  }
}

/// An empty tree; a write that it refuses is refused by every tree.
private struct EmptyTree: TreeReader {
  func node(at path: Path) -> Node { .empty }

  func summary(at path: Path) -> NodeSummary { NodeSummary(.empty) }

  func row(_ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail) -> TreeRow? {
    nil
  }

  func rows(of path: Path, in slice: RowSlice, detail: TreeRow.Detail) -> [TreeRow] { [] }
}
