import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelWorkspace
import Synchronization

/// Saves a copy of the open database on a thread of its own.
///
/// It copies the file by a connection of its own. If the file is gone, only the open database can still
/// read it: that is asked for the pages piece by piece, between its other requests.
///
/// `give` and `stop` may be called from another thread.
final class CopyThread: Sendable {
  /// A step of the copy.
  enum Step: Sendable {
    /// It asks the database to copy the next pages for the file, or to say that its own file is there.
    case pages(to: String)
    /// It needs no more pages.
    case end(String)
    /// It reports its progress or its result.
    case report(CopySaving.Report)
  }

  /// The refusal of a request for pages.
  struct Refused: Error {
    var message: String
    init(_ message: String) { self.message = message }
  }

  private struct Stopped: Error {}

  /// The number of bytes between two reports.
  private static let reportBytes = 1 << 20

  /// The id of its requests to the database.
  let id: AppRequestID
  /// The name of the new file, as typed.
  private let file: String
  private let path: String
  private let database: String
  private let isStopped = Atomic(false)
  // At most one request is open.
  private let answers: Inbox<Result<CopyStage, Refused>>
  private let bell: Wakeup

  /// Prepares a copy of the open database with this file, with an id for its requests.
  ///
  /// - Throws: `TerminalError.systemCall` if the process has no descriptor left.
  init(of database: String, to file: String, id: AppRequestID) throws(TerminalError) {
    (self.database, self.file, self.id) = (database, file, id)
    path = ExportRunner.expanded(file)
    let bell = try Wakeup()
    self.bell = bell
    answers = Inbox(limit: 2) { bell.signal() }
  }

  /// Gives it the answer to a request.
  func give(_ answer: Result<CopyStage, Refused>) {
    // There is room for one answer.
    _ = answers.post(answer)
  }

  /// Stops the work.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    bell.signal()
  }

  private var isWanted: Bool { !isStopped.load(ordering: .relaxed) }

  /// Saves the copy on this thread, and reports its steps; the last report is the result.
  func run(_ tell: @escaping (Step) -> Void) {
    tell(.report(result(tell)))
  }

  private func result(_ tell: @escaping (Step) -> Void) -> CopySaving.Report {
    do {
      return .done(file: file, bytes: try save(tell))
    } catch is Stopped {
      return .stopped
    } catch let error as DatabaseError {
      return error.code == .cancelled ? .stopped : .failed(error.message)
    } catch {
      return .failed((error as? Refused)?.message ?? "\(error)")
    }
  }

  private func save(_ tell: @escaping (Step) -> Void) throws -> Int {
    var failure: (any Error)?
    while true {
      switch try ask(tell) {
      case .pages(let bytes, let count): return try finish(bytes, of: count, tell)
      case .isThere(let opened):
        // The file is there before and after: what failed has another reason.
        if let failure { throw failure }
        let copy: DatabaseCopy
        do {
          copy = try DatabaseCopy(of: database, opened: opened)
        } catch {
          // The database is asked again, which may have lost the file in this moment.
          failure = error
          continue
        }
        var reported = 0
        return try copy.save(to: path) { [self] bytes, count in
          if bytes - reported >= CopyThread.reportBytes {
            reported = bytes
            tell(.report(.progress(bytes: bytes, of: count)))
          }
          return isWanted
        }
      }
    }
  }

  /// Has the pages copied that are missing, and makes the file of them.
  private func finish(
    _ bytes: Int, of count: Int, _ tell: (Step) -> Void
  ) throws -> Int {
    // The database looks then whether its file has come back.
    defer { tell(.end(path)) }
    var (bytes, count) = (bytes, count)
    while bytes < count {
      tell(.report(.progress(bytes: bytes, of: count)))
      guard case .pages(let next, let all) = try ask(tell) else {
        throw Refused("\(path) was not written: the file of the database is back. Save it again.")
      }
      (bytes, count) = (next, all)
    }
    return try DatabaseCopy.finish(pagesTo: path) { [self] in isWanted }
  }

  /// Asks the database for the next pages, and waits for the answer.
  private func ask(_ tell: (Step) -> Void) throws -> CopyStage {
    tell(.pages(to: path))
    while isWanted {
      _ = Poller.wait([bell.fileDescriptor], timeoutMilliseconds: nil)
      bell.drain()
      if isWanted, let answer = answers.drain().first { return try answer.get() }
    }
    tell(.end(path))
    throw Stopped()
  }
}
