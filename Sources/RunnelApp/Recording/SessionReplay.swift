import Foundation
import RunnelBase
import RunnelDatabase
import RunnelStore
public import RunnelTerminal
import RunnelWorkspace

/// A replay of a recorded session: the state after its last action, reduced again.
public struct SessionReplay: Sendable {
  /// The state after the last action.
  let state: AppState
  /// The number of actions.
  public let actionCount: Int
  /// The number of actions that the recording withheld because they held secrets; without them, the
  /// state differs from that of the session.
  public let withheldCount: Int
  /// Whether the last line of the file was cut off and is left out.
  public let isCut: Bool

  /// Replays a file written by `--record`.
  ///
  /// - Throws: `ConfigurationError` with the line of the mistake.
  public init(file: String) throws {
    let text: String
    do {
      text = try UserFile.text(of: file, bytesMax: .max)
    } catch let error as ConfigurationError {
      throw error
    } catch {
      throw ConfigurationError(
        file: file, line: nil, "The recorded session cannot be read: \(error.fileReason)")
    }
    try self.init(parsing: text, file: file)
  }

  /// Replays the text of such a file.
  init(parsing text: String, file: String) throws {
    do {
      let log = try ActionLog(parsing: text)
      guard let first = log.entries.first,
        case .action(WorkspaceOpened.kind, let json) = first.content
      else {
        throw ActionLogError(
          .malformed, "A recorded session begins with how the workspace was opened.", line: 2)
      }
      let opened = try SessionReplay.opened(json)
      let replay = try SessionReplay.replay(log, from: opened.state())
      state = replay.state
      actionCount = log.entries.count
      withheldCount = replay.withheld.count
      isCut = log.isCut
    } catch let error as ActionLogError {
      throw ConfigurationError(
        file: file, line: error.line, "The recorded session is damaged: \(error.message)")
    }
  }

  private static func opened(_ json: JSONValue) throws(ActionLogError) -> WorkspaceOpened {
    do {
      return try WorkspaceOpened(json: json)
    } catch {
      throw ActionLogError(
        .malformed, "How the workspace was opened cannot be read: \(error)", line: 2)
    }
  }

  private static func replay(
    _ log: ActionLog, from state: AppState
  ) throws(ActionLogError) -> Replay<AppState> {
    var registry = ActionRegistry()
    registry.register(AppAction.self)
    registry.register(WorkspaceOpened.self)
    do {
      return try log.replay(from: state, registry) { state, action in
        // As another account, the workspace is opened anew. The first one of the session is open.
        if let opened = action as? WorkspaceOpened, let fresh = try? opened.state() {
          state = fresh
        }
        AppState.reduce(&state, action)
      }
    } catch {
      throw ActionLogError(error.code, error.message, line: log.line(naming: error))
    }
  }

  /// A summary of the replay, in one line.
  public var summary: String {
    var parts = [actionCount == 1 ? "1 action" : "\(actionCount) actions"]
    if withheldCount > 0 { parts.append("\(withheldCount) of them withheld") }
    if isCut { parts.append("the last line is cut and left out") }
    return parts.joined(separator: ", ")
  }

  /// Draws the last screen of the session.
  public func canvas() -> Canvas { AppScreen(state, glyphs: .unicode).draw() }
}

extension ActionLog {
  /// Returns the line of the action that an error names; the first line names the format.
  ///
  /// Empty lines are not counted, as recordings have none.
  fileprivate func line(naming error: ActionLogError) -> Int? {
    let words = error.message.split(separator: " ")
    guard words.count > 1, words[0] == "Action", let number = Int(words[1].dropLast()) else {
      return nil
    }
    return number + 1
  }
}

/// Replaces the database in a replay: it has only the recorded data, and accepts no writes.
final class ReplayBackend: TreeBackend {
  private let post: (DatabaseMessage) -> Void

  /// Creates a backend; `post` takes its answers.
  init(post: @escaping (DatabaseMessage) -> Void) { self.post = post }

  func submit(_ request: DatabaseRequest) {
    switch request {
    case .listen(let listener, _), .extend(let listener, _):
      post(
        .failed(
          listener,
          DatabaseError(.closed, "this is a replay: only what was recorded can be seen")))
    case .write(let number, _), .push(let number, _, _), .pushAll(let number, _, _),
      .perform(let number, _, _),
      .undo(let number, _, _), .writeIf(let number, _, _),
      .performIf(let number, _, _, _), .undoWrite(let number, _, _), .dropPending(let number, _),
      .history(let number, _, _, _), .get(let number, _), .search(let number, _),
      .level(let number, _),
      .excerpt(let number, _, _, _), .copyPages(let number, _), .dropRefused(let number, _):
      post(
        .refused(
          number, DatabaseError(.readOnly, "this is a replay: nothing is written")))
    case .taking(_, let request): submit(request)
    case .orders, .endCopy, .unlisten, .connectOrigin, .disconnectOrigin, .receive: break
    }
  }
}
