import Foundation
import Glibc
import RunnelBase
import RunnelTerminal
import RunnelTree
import RunnelWorkspace
import Synchronization

/// Work with files and sockets that may take long: it is done on a thread of its own, off the
/// terminal's.
enum FileTask: Sendable {
  /// Read a file for an import.
  case read(FileReading)
  /// Write records to a file.
  case export(ExportThread)
  /// Write a text to a file, in place of what is in it.
  case write(String, file: String)
  /// Write the session.
  case keep(SessionState, SessionFile)
  /// Ask a server of the database.
  case askServer(AppRequestID, ServerRequest, at: [ServerPlace])
}

/// How work with files goes, or what came of it.
enum FileReport: Sendable {
  /// The reading of a file, by its number.
  case reading(Int, FileReading.Report)
  /// An export, by the id under which it asks.
  case export(AppRequestID, ExportThread.Step)
  /// A text was written; why it was not, if that is so.
  case written(problem: String?)
  /// The session was written; why it was not, if that is so.
  case kept(problem: String?)
  /// A server answered a request, or none did.
  case answered(AppRequestID, Answer)

  /// True if it is old by the time it would be read when the one who asked is behind.
  fileprivate var isProgress: Bool {
    switch self {
    case .reading(_, .progress), .export(_, .report(.progress)): true
    case .reading, .export, .written, .kept, .answered: false
    }
  }
}

/// Does work with files on threads, one for each task; what comes of it waits for the one who asked.
final class FileThreads: Sendable {
  private static let retryMicroseconds: UInt32 = 10_000
  /// As much as the main thread has: texts are read by functions that call themselves.
  private static let stackBytes = 8 << 20

  private let inbox: Inbox<FileReport>
  private let wake: @Sendable () -> Void
  private let runningCount = Atomic(0)

  /// `wake` is called from any thread when there is something to take, and when a task has ended.
  init(wake: @escaping @Sendable () -> Void) {
    inbox = Inbox(limit: 1024, wake: wake)
    self.wake = wake
  }

  /// True if no task is running; what the last one reported may wait to be taken.
  var isIdle: Bool { runningCount.load(ordering: .acquiring) == 0 }

  /// Starts a task.
  func start(_ task: FileTask) {
    runningCount.add(1, ordering: .relaxed)
    let thread = Thread { [self] in
      task.run { [inbox] report in
        while !inbox.post(report), !report.isProgress { usleep(FileThreads.retryMicroseconds) }
      }
      runningCount.subtract(1, ordering: .releasing)
      wake()
    }
    thread.name = "runnel-file"
    thread.stackSize = FileThreads.stackBytes
    thread.start()
  }

  /// What was reported since the last call.
  func take() -> [FileReport] { inbox.drain() }
}

extension FileTask {
  /// Does it on this thread, and tells how it goes; the last report is what came of it.
  func run(_ tell: @escaping (FileReport) -> Void) {
    switch self {
    case .read(let reading): reading.run { tell(.reading(reading.number, $0)) }
    case .export(let export): export.run { tell(.export(export.id, $0)) }
    case .write(let text, let file): tell(.written(problem: FileContent.write(text, to: file)))
    case .keep(let session, let file): tell(.kept(problem: file.write(session)))
    case .askServer(let id, let request, let places):
      tell(.answered(id, ServerPlace.answer(to: request, at: places)))
    }
  }
}

/// One export on a thread of its own: it asks for what is to be read, and waits for the answers.
///
/// `give` may be called from another thread.
final class ExportThread: Sendable {
  /// What it says.
  enum Step: Sendable {
    /// It is to be read what is written next.
    case question(ExportRunner.Question)
    /// How the export goes, or how it ended.
    case report(ExportReport)
  }

  /// What it is told.
  enum Input: Sendable {
    case records([TreeRow])
    case node(RunnelTree.Node)
    /// What it asked for cannot be read.
    case failed(String)
    /// The user gives it up.
    case stop
  }

  /// The id under which it asks the database.
  let id: AppRequestID
  private let job: ExportJob
  // One question is open at a time, and the export may be stopped meanwhile.
  private let inputs: Inbox<Input>
  private let bell: Wakeup

  /// Prepares an export that asks under an id.
  ///
  /// - Throws: `TerminalError.systemCall` when the process has no descriptor left.
  init(_ job: ExportJob, id: AppRequestID) throws(TerminalError) {
    self.job = job
    self.id = id
    let bell = try Wakeup()
    self.bell = bell
    inputs = Inbox(limit: 4) { bell.signal() }
  }

  /// Tells it something.
  func give(_ input: Input) {
    // It has room for an answer and a stop; a second stop says nothing new.
    _ = inputs.post(input)
  }

  /// Writes the export on this thread, and tells how it goes.
  func run(_ tell: @escaping (Step) -> Void) {
    let runner = ExportRunner(job) { tell(.report($0)) }
    var question = runner.start()
    while let next = question {
      tell(.question(next))
      question = runner.take(wait())
    }
  }

  /// Waits for what it is told; a stop goes before an answer.
  private func wait() -> Input {
    while true {
      _ = Poller.wait([bell.fileDescriptor], timeoutMilliseconds: nil)
      bell.drain()
      let told = inputs.drain()
      if told.contains(where: { if case .stop = $0 { true } else { false } }) { return .stop }
      if let input = told.first { return input }
    }
  }
}

extension ExportRunner {
  /// Takes over what it is told; returns what is to be read next, nil if nothing is.
  fileprivate func take(_ input: ExportThread.Input) -> Question? {
    switch input {
    case .records(let rows): return take(rows)
    case .node(let node): return take(node)
    case .failed(let reason): fail(reason)
    case .stop: stop()
    }
    return nil
  }
}
