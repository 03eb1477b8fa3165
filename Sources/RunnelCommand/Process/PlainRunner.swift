import CPlatform
import Glibc
import RunnelApp
import RunnelBase
import RunnelDatabase

/// Lists a view on standard output and, on request, follows it until interrupted.
///
/// It waits for three events at once: messages of the database, signals, and the end of the
/// output's reader. Only the main thread uses it.
struct PlainRunner {
  private static let messagesMax = 1024
  /// The bytes that the output accepts without waiting, once it accepts any (POSIX: at least 512).
  private static let pipeBytes = 4096

  let options: ApplicationOptions
  let request: PlainRequest

  /// Lists the view.
  ///
  /// - Throws: `Interruption.Stopped` if a signal ended it, `StandardOutput.Closed` if the output's
  ///   reader is gone, `ConfigurationError` or `DatabaseError` if the view cannot be read.
  func run() throws {
    // This must come before the database starts its thread.
    let interruption = try Interruption()
    let workspace = try interruption.whileSignalsEnd { try PlainWorkspace(options, request) }
    if request.layout == .jsonLines, request.rows == .all, !request.follows {
      return try listAll(workspace, interruption)
    }
    let wake = runnel_eventfd_open()
    if wake < 0 { throw Failure.system("A wake-up cannot be made") }
    let inbox = Inbox<DatabaseMessage>(limit: PlainRunner.messagesMax) {
      _ = runnel_eventfd_signal(wake)
    }
    let database = try Database(
      file: options.database, isReadOnly: true, inbox: inbox, environment: .system)
    defer { database.close() }
    try list(try workspace.view(), database, inbox, wake, interruption)
  }

  /// Lists page by page, with one page in memory.
  private func listAll(_ workspace: PlainWorkspace, _ interruption: Interruption) throws {
    let session = try DatabaseSession(
      file: options.database, isReadOnly: true, environment: .system)
    do {
      let doubt = try workspace.writeAll(from: session) { try write($0, interruption) }
      if let doubt { StandardError.say(doubt) }
    } catch {
      // The first error is the one that the user must know.
      try? session.close()
      throw error
    }
    try session.close()
  }

  private func list(
    _ view: PlainView, _ database: Database, _ inbox: Inbox<DatabaseMessage>, _ wake: Int32,
    _ interruption: Interruption
  ) throws {
    var descriptors = [wake, interruption.descriptor]
    if StandardOutput.isPipe { descriptors.append(STDOUT_FILENO) }
    var answers = [UInt8](repeating: 0, count: descriptors.count)
    view.start()
    while true {
      for request in view.takeRequests() { database.submit(request) }
      for line in view.takeLines() { try write(Array(line.utf8), interruption) }
      if let failure = view.failure { throw Failure(failure) }
      if let doubt = view.takeDoubt() { StandardError.say(doubt) }
      if view.isDone { return }
      guard runnel_poll(descriptors, &answers, Int32(descriptors.count), -1) >= 0 else {
        throw Failure.system("Waiting failed")
      }
      _ = runnel_eventfd_drain(wake)
      let messages = inbox.drain()
      for case .stale(let error) in messages { StandardError.say("\(error) It is tried again.") }
      for case .fileGone(let error) in messages { throw error }
      view.receive(messages)
      try interruption.check()
      if answers.count > 2, answers[2] != 0 { throw StandardOutput.Closed() }
    }
  }

  /// Writes bytes; signals are handled during the wait for a slow reader.
  private func write(_ bytes: [UInt8], _ interruption: Interruption) throws {
    var rest = StandardOutput.prepared(bytes)[...]
    while !rest.isEmpty {
      try interruption.wait(forOutput: STDOUT_FILENO)
      rest = rest.dropFirst(
        try StandardOutput.writeSome(rest.prefix(PlainRunner.pipeBytes)))
    }
  }
}
