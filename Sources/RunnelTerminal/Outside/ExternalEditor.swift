import Glibc

/// Lets the user edit a text in the editor of their choice.
package struct ExternalEditor: Sendable {
  /// The result of an edit.
  package enum Outcome: Hashable, Sendable {
    /// Nothing was changed.
    case unchanged
    /// The text was changed to this one, which is acceptable.
    case accepted(String)
    /// The text was changed but refused; it is kept in the file.
    case kept(file: String, reason: String)
    /// The editor could not be run.
    case failed(String)
  }

  /// The command, in shell syntax.
  package let command: String
  /// The folder for files.
  private let folder: String

  /// Finds the editor of this process: `$VISUAL`, `$EDITOR`, or else `vi`.
  package init() {
    func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
    self.init(
      command: variable("VISUAL") ?? variable("EDITOR") ?? "vi",
      folder: variable("XDG_RUNTIME_DIR") ?? variable("TMPDIR") ?? "/tmp")
  }

  /// Uses a command, and a folder for files that only the user can read.
  package init(command: String, folder: String) {
    self.command = command
    self.folder = folder
  }

  /// Opens the editor on a text until the result is acceptable, or the user gives up.
  ///
  /// The screen is suspended meanwhile. A refused text is shown again, with the reason above it; a
  /// user who leaves it unchanged gives up.
  ///
  /// - Parameters:
  ///   - text: the text to edit.
  ///   - refused: the user's earlier text, if it was accepted and then refused elsewhere; the user
  ///     continues with it.
  ///   - suffix: the end of the file's name, by which editors know the language: `.json`.
  ///   - screen: the screen that has the terminal.
  ///   - problem: returns the mistake in a text; nil for an acceptable text.
  /// - Returns: the result.
  package func edit(
    _ text: String, refused: EditRound.Refused? = nil, suffix: String = ".json",
    screen: any Screen, problem: (String) -> String?
  ) -> Outcome {
    var round = EditRound(text, refused: refused)
    guard let file = TemporaryFile(folder: folder, suffix: suffix), file.write(round.firstContent)
    else {
      return .failed("no file can be made in \(folder): \(String(cString: strerror(errno)))")
    }
    defer { file.close() }
    screen.suspend()
    defer { screen.resume() }
    while true {
      let status = run(file.path, terminal: screen.inputDescriptor)
      guard let status, let content = file.read() else {
        return .kept(file: file.keep(), reason: "what the editor left cannot be read")
      }
      if status == 127 {
        file.remove()
        return .failed("the editor `\(command)` was not found: set EDITOR to another one")
      }
      switch round.finish(content, status: status, problem: problem) {
      case .unchanged:
        file.remove()
        return .unchanged
      case .accepted(let text):
        file.remove()
        return .accepted(text)
      case .kept(let reason): return .kept(file: file.keep(), reason: reason)
      case .again(let text):
        guard file.write(text) else {
          return .kept(file: file.keep(), reason: "the file cannot be written")
        }
      }
    }
  }

  /// Returns the files of edits whose workspaces were killed meanwhile, each once: they get other names by
  /// that.
  package func takeLeft() -> [String] {
    LeftFile.paths(in: folder, prefix: TemporaryFile.prefix, isEnd: { $0.hasPrefix("-") })
      .compactMap { path in
        let kept = TemporaryFile.keptPath(of: path)
        return access(kept, F_OK) != 0 && rename(path, kept) == 0 ? kept : nil
      }
  }

  private func run(_ file: String, terminal: Int32?) -> Int32? {
    // The command may have arguments of its own; the name of the file is one word, regardless of
    // its characters.
    try? ChildProcess.run(["sh", "-c", "\(command) \"$1\"", "sh", file], terminal: terminal)
  }
}

/// A file for one edit, which only the user can read.
///
/// Its name has the number of this process, so that a later one finds it if this one is killed.
private struct TemporaryFile {
  /// The beginning of the name, up to the number of the process.
  static let prefix = "runnel-edit-"

  let path: String
  /// Marks the file as in use.
  private let descriptor: Int32

  init?(folder: String, suffix: String) {
    let pattern = "\(folder)/\(TemporaryFile.prefix)\(getpid())-XXXXXX\(suffix)"
    var name = Array(pattern.utf8CString)
    descriptor = mkstemps(&name, Int32(suffix.utf8.count))
    guard descriptor >= 0 else { return nil }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    ByteLock.mark(descriptor)
    path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Replaces the content; false if that fails.
  func write(_ text: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { Glibc.close(descriptor) }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// The content; nil if it cannot be read.
  func read() -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { Glibc.close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }

  func remove() { unlink(path) }

  /// Leaves the file to the user, by a name that is told no second time; returns its path.
  func keep() -> String {
    let kept = TemporaryFile.keptPath(of: path)
    return access(kept, F_OK) != 0 && rename(path, kept) == 0 ? kept : path
  }

  /// Ends the use of the file.
  func close() { Glibc.close(descriptor) }

  /// The path of a file that is left to the user: without the number of the process.
  static func keptPath(of path: String) -> String {
    let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    let rest = path[slash...].dropFirst(prefix.count).drop { $0 != "-" }
    return "\(path[..<slash])runnel\(rest)"
  }
}
