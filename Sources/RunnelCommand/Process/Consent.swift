import Glibc
import RunnelDatabase
import RunnelTree

/// Asks for consent before something is destroyed: from the user at the terminal, or by an option
/// without a terminal.
struct Consent {
  /// True if the option was given.
  var isGiven: Bool
  /// The option, as it is written.
  var option = "--force"

  /// Returns if there is consent.
  ///
  /// - Parameters:
  ///   - question: the destruction, as a question: `Remove /users?`.
  ///   - reason: the reason for a refusal without a terminal: `/users has 3 children.`
  /// - Throws: `Failure`: of usage if there is no terminal to ask at, another one if the answer is
  ///   no.
  func require(_ question: String, because reason: @autoclosure () throws -> String) throws {
    if isGiven { return }
    guard StandardInput.isTerminal else {
      throw Failure(
        "\(try reason()) Nothing was changed: \(option) does it, as nobody can be asked here.",
        status: .usage)
    }
    if try !StandardInput.confirms(question) { throw Failure("Nothing was changed.") }
  }

  /// Returns if nothing at the places is too large to be brought back, or may be replaced.
  ///
  /// O(n) in what is at the places, up to a limit for each.
  ///
  /// - Throws: `Failure` as for `require`, `DatabaseError` if a place cannot be read.
  func requireToLose(_ paths: [Path], in session: DatabaseSession) throws {
    if isGiven { return }
    for path in paths {
      guard let place = try session.occupiedPlace(for: path) else { continue }
      let standing = try Standing(at: place, in: session)
      if !standing.isLostForGood { continue }
      try require(
        "Replace \(standing.words)? \(standing.undoWords)",
        because: "This would replace \(standing.words). \(standing.undoWords)")
    }
  }

  /// Returns if the node at a place, or a value above it, may be replaced, or nothing is there.
  ///
  /// - Throws: `Failure` as for `require`, `DatabaseError` if the place cannot be read.
  func requireToReplace(_ path: Path, in session: DatabaseSession) throws {
    guard !isGiven, let place = try session.occupiedPlace(for: path) else { return }
    let standing = try Standing(at: place, in: session)
    try require(
      "Replace \(standing.words)? \(standing.undoWords)",
      because: "This would replace \(standing.words). \(standing.undoWords)")
  }
}

/// The node at a place that would be destroyed, in words.
struct Standing {
  /// The number of bytes up to which the size is counted.
  private static let countMax = 64 << 20

  /// The number of bytes up to which a history keeps what was replaced, unless it keeps nothing.
  private static let smallBytesMax = 64 << 10

  let path: Path
  private let summary: NodeSummary
  private let excerpt: NodeExcerpt

  /// Reads the place.
  ///
  /// O(n) in its subtree, up to a limit.
  ///
  /// - Throws: `DatabaseError` if it cannot be read.
  init(at path: Path, in session: DatabaseSession) throws {
    self.path = path
    summary = try session.summary(at: path)
    excerpt = try session.excerpt(of: path, textMax: 0, countMax: Standing.countMax)
  }

  /// The node in words: `/users and its 3 children (1.2 MB)`.
  var words: String {
    guard case .children(let count) = summary.kind else { return "the value at \(path) (\(size))" }
    let children = count == 1 ? "its child" : "its \(count) children"
    let below = excerpt.grandchildCount.map { $0 > 0 ? "; \($0) more inside those" : "" } ?? ""
    return "\(path) and \(children) (\(size)\(below))"
  }

  /// True if the node is so large that no history keeps it.
  var isLostForGood: Bool { !excerpt.isUndoable && excerpt.byteCount > Standing.smallBytesMax }

  /// Whether the removal can be undone, in words.
  var undoWords: String {
    excerpt.isUndoable
      ? "`runnel undo` would bring it back." : "It is too large for `runnel undo` to bring back."
  }

  private var size: String {
    let megabytes = ProgressLine.megabytes(excerpt.byteCount)
    if !excerpt.isCounted { return "more than \(megabytes) MB" }
    if excerpt.byteCount == 1 { return "1 byte" }
    return excerpt.byteCount < 100_000 ? "\(excerpt.byteCount) bytes" : "\(megabytes) MB"
  }
}

extension StandardInput {
  /// Asks at the terminal; returns true if the answer is yes.
  ///
  /// What was typed before the question was shown answers nothing.
  ///
  /// - Throws: `Failure` if the answer cannot be read, `Interruption.Stopped` if a signal arrived.
  static func confirms(_ question: String, _ interruption: Interruption? = nil) throws -> Bool {
    // It fails only for what is no terminal.
    tcflush(STDIN_FILENO, TCIFLUSH)
    StandardError.write("\(question) [y/N] ")
    var lines = StandardInputLines()
    try interruption?.wait(forInput: STDIN_FILENO)
    let answer = try lines.next().map { String(decoding: $0, as: UTF8.self).lowercased() }
    if answer == nil { StandardError.write("\n") }
    let word = answer?.trimmingPrefix { $0 == " " }.prefix { $0.isLetter }
    return word == "y" || word == "yes"
  }
}
