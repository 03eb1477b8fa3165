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
  /// Make an index in the database.
  case makeIndex(IndexThread)
  /// Save a copy of the database.
  case copy(CopyThread)
  /// Write a text to a file, replacing its content.
  case writeRefused(String, file: String)
  /// Write a view to the views file.
  case saveView(ViewSaving)
  /// Write the session.
  case keep(SessionWrite)
  /// Ask a server of the database.
  case askServer(AppRequestID, ServerRequest, at: [ServerPlace])
}

/// A report of the progress or the result of work on files.
enum FileReport: Sendable {
  /// A report of the read with a number.
  case reading(Int, FileReading.Report)
  /// A step of the export with the id of its requests.
  case export(AppRequestID, ExportThread.Step)
  /// A step of the copy with the id of its requests.
  case copying(AppRequestID, CopyThread.Step)
  /// A report of the index that is made.
  case indexing(IndexMaking.Report)
  /// The result of writing a text; nil for success.
  case written(problem: String?)
  /// The refused records of an import were written to a file, or could not be for this reason.
  case listed(file: String, problem: String?)
  /// The result of writing the session; nil for success.
  case kept(problem: String?)
  /// A server answered a request, or none did.
  case answered(AppRequestID, Answer)

  /// Whether the report is soon outdated, so that it may be dropped if the receiver is behind.
  fileprivate var isProgress: Bool {
    switch self {
    case .reading(_, .progress), .export(_, .report(.progress)), .indexing(.progress),
      .copying(_, .report(.progress)):
      true
    case .reading, .export, .indexing, .copying, .written, .listed, .kept, .answered: false
    }
  }
}

/// Runs work on files on threads, one for each task; reports wait until they are taken.
final class FileThreads: Sendable {
  private static let retryMicroseconds: UInt32 = 10_000
  /// The stack size of the main thread, because texts are parsed recursively.
  private static let stackBytes = 8 << 20

  private let inbox: Inbox<FileReport>
  private let wake: @Sendable () -> Void
  private let runningCount = Atomic(0)

  /// Creates the runner; `wake` is called from any thread when there is a report, and when a task
  /// has ended.
  init(wake: @escaping @Sendable () -> Void) {
    inbox = Inbox(limit: 1024, wake: wake)
    self.wake = wake
  }

  /// Whether no task is running; its last report may still wait.
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

  /// Returns the reports since the last call.
  func take() -> [FileReport] { inbox.drain() }
}

extension FileTask {
  /// Runs the task on this thread, and reports its progress; the last report is its result.
  func run(_ tell: @escaping (FileReport) -> Void) {
    switch self {
    case .read(let reading): reading.run { tell(.reading(reading.number, $0)) }
    case .export(let export): export.run { tell(.export(export.id, $0)) }
    case .makeIndex(let thread): thread.run { tell(.indexing($0)) }
    case .copy(let copy): copy.run { tell(.copying(copy.id, $0)) }
    case .writeRefused(let text, let file):
      tell(.listed(file: file, problem: FileContent.write(text, to: file)))
    case .saveView(let saving): tell(.written(problem: saving.write()))
    case .keep(let session): tell(.kept(problem: session.write()))
    case .askServer(let id, let request, let places):
      tell(.answered(id, ServerPlace.answer(to: request, at: places)))
    }
  }
}

/// Runs an export on a thread of its own: it asks for the data to read, and waits for the answers.
///
/// `give` may be called from another thread.
final class ExportThread: Sendable {
  /// A step of the export.
  enum Step: Sendable {
    /// It asks for the data that is written next.
    case question(ExportRunner.Question)
    /// It reports its progress or its result.
    case report(ExportReport)
  }

  /// An input of the export.
  enum Input: Sendable {
    case records([TreeRow])
    case node(RunnelTree.Node)
    /// The requested data cannot be read.
    case failed(String)
    /// The user stops the export.
    case stop
  }

  /// The id of its requests to the database.
  let id: AppRequestID
  private let job: ExportJob
  private let database: String?
  // At most one question is open, and the export may be stopped meanwhile.
  private let inputs: Inbox<Input>
  private let bell: Wakeup

  /// Prepares an export from the database in a file with an id for its requests.
  ///
  /// - Throws: `TerminalError.systemCall` if the process has no descriptor left.
  init(_ job: ExportJob, database: String?, id: AppRequestID) throws(TerminalError) {
    self.job = job
    self.database = database
    self.id = id
    let bell = try Wakeup()
    self.bell = bell
    inputs = Inbox(limit: 4) { bell.signal() }
  }

  /// Gives it an input.
  func give(_ input: Input) {
    // There is room for an answer and a stop; a second stop changes nothing.
    _ = inputs.post(input)
  }

  /// Writes the export on this thread, and reports its steps.
  func run(_ tell: @escaping (Step) -> Void) {
    let runner = ExportRunner(job, database: database) { tell(.report($0)) }
    var question = runner.start()
    while let next = question {
      tell(.question(next))
      question = runner.take(wait())
    }
  }

  /// Waits for an input; a stop comes before an answer.
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
  /// Takes an input; returns the data to read next, or nil for none.
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
