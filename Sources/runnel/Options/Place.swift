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
    if text.isEmpty { throw ValidationError("a path is empty; the root of the tree is written /.") }
    do throws(TreeError) {
      return try Path(text)
    } catch {
      throw ValidationError(error.message)
    }
  }

  /// Reads the path of a place that is written: no piece of it may be empty, for a variable of the shell
  /// that is not set would make the place above it of `/users/$id`.
  ///
  /// - Throws: `ValidationError` that says what is wrong with it.
  static func target(_ text: String) throws -> Path {
    let path = try path(text)
    let pieces = text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
    if text != "/", pieces.dropFirst(text.hasPrefix("/") ? 1 : 0).contains(where: \.isEmpty) {
      throw ValidationError(
        "a piece of the path is empty. Is a variable of the shell not set? Written without it, it is "
          + "\(path).")
    }
    if path.isInfo {
      throw ValidationError("what stands at /.info is told by the program: nobody writes it.")
    }
    return path
  }

  /// Checks a write whose values stand in the command line.
  ///
  /// - Throws: `ValidationError` that says what no tree takes.
  static func check(_ write: Write) throws {
    do throws(TreeError) {
      _ = try write.assignments(now: 0, reader: EmptyTree())
    } catch {
      throw ValidationError(error.description)
    }
  }
}

/// A tree in which nothing stands: what a write must be for any tree shows there.
private struct EmptyTree: TreeReader {
  func node(at path: Path) -> Node { .empty }

  func summary(at path: Path) -> NodeSummary { NodeSummary(.empty) }

  func row(_ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail) -> TreeRow? {
    nil
  }

  func rows(of path: Path, in slice: RowSlice, detail: TreeRow.Detail) -> [TreeRow] { [] }
}
