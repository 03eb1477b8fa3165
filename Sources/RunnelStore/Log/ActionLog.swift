/// The actions that a store reduced, in order; each is written as a line.
public struct ActionLog: Hashable, Sendable {
  /// The version of the format that is written.
  public static let version = 1

  /// The first line of every log, without its line feed.
  public static let firstLine =
    "{\"\(ActionLogName.log)\":\"\(ActionLogName.logValue)\",\"\(ActionLogName.version)\":\(version)}"

  /// The entries; their numbers follow each other from 1.
  public private(set) var entries: [LoggedAction] = []
  /// True if the last line is incomplete, since the writer was stopped in the middle of it; it is
  /// left out.
  public private(set) var isCut = false

  /// Makes an empty log.
  public init() {}

  /// Adds an action at the end.
  ///
  /// - Parameters:
  ///   - action: the action.
  ///   - milliseconds: the time at which it was reduced, since 1970.
  /// - Returns: its entry, whose line is to be written.
  @discardableResult
  public mutating func append(_ action: any Action, milliseconds: Int64) -> LoggedAction {
    let entry = LoggedAction(
      number: entries.count + 1, milliseconds: milliseconds, action: action)
    entries.append(entry)
    return entry
  }

  /// The whole log as text: the first line, then a line for each entry, each with a line feed.
  public var text: String {
    ([ActionLog.firstLine] + entries.map(\.line)).map { $0 + "\n" }.joined()
  }
}

// MARK: Reading

extension ActionLog {
  /// Reads a log.
  ///
  /// Empty lines are skipped. If the last line has no line feed and is not an entry, it counts as
  /// cut off.
  ///
  /// - Throws: `ActionLogError` with the number of the wrong line.
  public init(parsing text: String) throws(ActionLogError) {
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    var hasFirstLine = false
    for (index, scalars) in lines.enumerated() {
      let line = String(scalars)
      if line.isEmpty { continue }
      do throws(ActionLogError) {
        if hasFirstLine { try read(line) } else { try ActionLog.checkFirstLine(line) }
        hasFirstLine = true
      } catch {
        if hasFirstLine, error.code == .malformed, index == lines.count - 1 {
          isCut = true
          return
        }
        throw ActionLogError(error.code, error.message, line: index + 1)
      }
    }
    if !hasFirstLine { throw ActionLogError(.malformed, "The log is empty: it has no first line.") }
  }

  private mutating func read(_ line: String) throws(ActionLogError) {
    let entry = try LoggedAction(line: line)
    if entry.number != entries.count + 1 {
      throw ActionLogError(
        .gap,
        "Action \(entries.count + 1) is expected here, not \(entry.number): lines are missing.")
    }
    entries.append(entry)
  }

  private static func checkFirstLine(_ line: String) throws(ActionLogError) {
    let fields = try ActionFields(line: line)
    guard try fields.string(ActionLogName.log) == ActionLogName.logValue else {
      throw ActionLogError(.malformed, "This is no log of actions.")
    }
    let version = try fields.int(ActionLogName.version)
    if version > ActionLog.version {
      throw ActionLogError(
        .newerVersion,
        "The log has version \(version); this program knows \(ActionLog.version): take a newer one."
      )
    }
  }
}

// MARK: Recording and replaying

/// Makes a middleware that records every action that reaches the reducer.
///
/// Make it the last middleware of the store: then the actions are recorded as other middleware
/// passes them on, and replaying needs no middleware.
///
/// - Parameters:
///   - now: the time in milliseconds since 1970.
///   - write: called with each entry before its action is reduced; writes the entry's line.
/// - Returns: a middleware for one store.
public func recordingMiddleware<State>(
  now: @escaping () -> Int64, write: @escaping (LoggedAction) -> Void
) -> Middleware<State> {
  { _, _ in
    { next in
      var count = 0
      return { action in
        count += 1
        write(LoggedAction(number: count, milliseconds: now(), action: action))
        next(action)
      }
    }
  }
}

/// The result of replaying a log.
public struct Replay<State> {
  /// The state after the last action.
  public var state: State
  /// The numbers of the actions whose content was withheld; they are skipped.
  public var withheld: [Int]
}

extension ActionLog {
  /// The actions of the log; nil for each whose content was withheld.
  ///
  /// - Throws: `ActionLogError` (`unknownKind` or `malformed`) for the first that cannot be read.
  public func actions(
    _ registry: ActionRegistry
  ) throws(ActionLogError) -> [(any LoggableAction)?] {
    var actions: [(any LoggableAction)?] = []
    for entry in entries {
      switch entry.content {
      case .action(let kind, let json):
        do throws(ActionLogError) {
          actions.append(try registry.action(kind: kind, json: json))
        } catch {
          throw ActionLogError(error.code, "Action \(entry.number): \(error.message)")
        }
      case .withheld: actions.append(nil)
      }
    }
    return actions
  }

  /// Reduces the actions again, starting with the state in which the log began.
  ///
  /// - Parameters:
  ///   - state: that state.
  ///   - registry: the types of the actions.
  ///   - reducer: the reducer that the store had.
  /// - Returns: the state after the actions; it equals the store's if nothing was withheld.
  /// - Throws: `ActionLogError` for the first action that cannot be read.
  public func replay<State>(
    from state: State, _ registry: ActionRegistry, _ reducer: Reducer<State>
  ) throws(ActionLogError) -> Replay<State> {
    var replay = Replay(state: state, withheld: [])
    for (index, action) in try actions(registry).enumerated() {
      if let action {
        reducer(&replay.state, action)
      } else {
        replay.withheld.append(entries[index].number)
      }
    }
    return replay
  }
}
