import Glibc
import Logging
import RunnelBase
import RunnelDatabase
import RunnelIdentity
import RunnelNetwork
import Synchronization

/// The sender of mails to users: to a server of mail, to a folder, or for an emulator into the log.
///
/// Mails are sent on other threads, so that no answer waits for them, and no answer tells by its
/// time whether there is a mail. Their number is bounded; a mail that cannot be delivered is tried
/// again a few times, and then its failure is logged. One that is owed stays owed, unless the server of mail
/// refused it for good: it is given here again later.
final class AccountMailer: Sendable {
  /// Tells whether the code of a mail can still be used; it is called on any thread, and may answer later.
  typealias Check = @Sendable (AccountMail, @escaping @Sendable (Bool) -> Void) -> Void

  /// Hears, on any thread, that a mail was delivered or refused for good, or that it is left for now.
  typealias NoteEnd = @Sendable (AccountMail, _ isLeft: Bool) -> Void

  /// The place where mails go.
  enum Destination: Sendable {
    /// A server of mail.
    case server(MailServer)
    /// A file for each mail in a folder.
    case folder(String)
    /// Only the link, into the log.
    case log
  }

  private struct Job: Sendable {
    var mail: AccountMail
    /// The time and the id of the message, which all attempts have.
    let time: Int64
    let messageID: String
    var attemptCount = 0
  }

  private struct State {
    var jobs: [Job] = []
    var activeCount = 0
    /// The mails that wait for another attempt.
    var delayedCount = 0
    var isClosed = false
    var check: Check?
    var noteEnd: NoteEnd?

    var count: Int { jobs.count + activeCount + delayedCount }
  }

  /// The most mails that wait.
  private static let waitingMax = 1000
  /// The most mails that are delivered at once.
  private static let activeMax = 4
  /// The most files in the folder.
  private static let filesMax = 10_000
  /// The pauses between the attempts to deliver a mail.
  private static let pausesMilliseconds = [10_000, 60_000, 600_000]
  /// The longest wait for mails at the end.
  private static let endMilliseconds = 5000

  private let destination: Destination
  private let sender: MailSender
  private let clientName: String
  private let logger: Logger
  private let calendar: @Sendable () -> Int64
  private let executor: TreeExecutor
  private let state = Mutex(State())

  /// Makes a sender.
  ///
  /// - Parameters:
  ///   - destination: the place where mails go.
  ///   - sender: the sender in `From`.
  ///   - clientName: the name of this machine for the server of mail, of ASCII.
  ///   - logger: for failures.
  ///   - calendar: tells the time of day, in milliseconds since 1970.
  /// - Throws: `DatabaseError` if the system has no thread left.
  init(
    _ destination: Destination, sender: MailSender, clientName: String, logger: Logger,
    calendar: @escaping @Sendable () -> Int64
  ) throws {
    (self.destination, self.sender, self.clientName) = (destination, sender, clientName)
    (self.logger, self.calendar) = (logger, calendar)
    executor = try TreeExecutor(label: "runnel.mail")
  }

  /// The folder for mails; nil if there is none.
  var folder: String? {
    if case .folder(let folder) = destination { folder } else { nil }
  }

  /// Sets what is asked before a mail is delivered; without it, all are.
  func ask(_ check: @escaping Check) { state.withLock { $0.check = check } }

  /// Sets what is called when a mail was delivered, is given up, or could not be delivered for now.
  func noteEnds(_ note: @escaping NoteEnd) {
    state.withLock { $0.noteEnd = note }
  }

  /// Sends a mail; returns at once: false if it is dropped.
  @discardableResult
  func send(_ mail: AccountMail) -> Bool {
    let job = Job(
      mail: mail, time: calendar(), messageID: MailText.newMessageID(from: sender))
    let isTaken = state.withLock { state in
      if state.count >= AccountMailer.waitingMax || state.isClosed { return false }
      state.jobs.append(job)
      return true
    }
    if isTaken { goOn() } else { logger.error("Too many mails wait: one is dropped.") }
    return isTaken
  }

  /// Waits a moment for the mails that are still to be sent.
  func close() {
    state.withLock { $0.isClosed = true }
    let end = ServerWorld.calendar + Int64(AccountMailer.endMilliseconds)
    while state.withLock({ $0.jobs.count + $0.activeCount > 0 }), ServerWorld.calendar < end {
      usleep(5000)
    }
    let count = state.withLock { $0.count }
    if count > 0 { logger.error("Mails that were not sent: \(count).") }
  }

  /// Begins to deliver mails that wait.
  private func goOn() {
    let job: Job? = state.withLock { state in
      guard state.activeCount < AccountMailer.activeMax, !state.jobs.isEmpty else { return nil }
      state.activeCount += 1
      return state.jobs.removeFirst()
    }
    guard let job else { return }
    guard let check = state.withLock({ $0.check }) else {
      return executor.submit { [self] in deliver(job) }
    }
    // The account may have been deleted while the mail waited.
    check(job.mail) { [self] isWanted in
      executor.submit { [self] in isWanted ? deliver(job) : ended(job, nil) }
    }
  }

  private func deliver(_ job: Job) {
    let mail = job.mail
    switch destination {
    case .log:
      let what = mail.link ?? "a notice"
      logger.notice("\(mail.kind.rawValue) for \(mail.recipient): \(what)")
      ended(job, nil)
    case .folder(let folder):
      guard let recipient = MailAddress(mail.recipient) else { return ended(job, .noAddress) }
      do throws(ServerError) {
        try write(content(of: job, to: recipient), to: folder)
        ended(job, nil)
      } catch {
        // The folder can be mended: its disk is full, or it holds too many mails.
        ended(job, MailFailure(reason: error.message, isFinal: false))
      }
    case .server(let server):
      guard let recipient = MailAddress(mail.recipient) else { return ended(job, .noAddress) }
      let message = MailMessage(
        clientName: clientName, sender: sender.address, recipient: recipient,
        content: Array(content(of: job, to: recipient).utf8))
      server.deliver(message) { [self] failure in
        let named = failure.map { failure in
          MailFailure(reason: "\(server.host): \(failure.reason)", isFinal: failure.isFinal)
        }
        executor.submit { [self] in ended(job, named) }
      }
    }
  }

  private func content(of job: Job, to recipient: MailAddress) -> String {
    MailText.message(
      job.mail, to: recipient, from: sender, time: job.time, messageID: job.messageID)
  }

  private func ended(_ job: Job, _ failure: MailFailure?) {
    let pauses = AccountMailer.pausesMilliseconds
    let isTriedAgain =
      failure.map { !$0.isFinal && job.attemptCount < pauses.count } ?? false
    let isLeft = failure.map { !$0.isFinal } ?? false
    // Whoever waits for the end of all mails finds this noted.
    if !isTriedAgain { state.withLock { $0.noteEnd }?(job.mail, isLeft) }
    state.withLock { state in
      state.activeCount -= 1
      if isTriedAgain { state.delayedCount += 1 }
    }
    if let failure {
      let isWaiting = isTriedAgain || isLeft && job.mail.owed != nil
      let end = isWaiting ? " yet" : " and is given up"
      let stop = failure.reason.hasSuffix(".") ? "" : "."
      let what = "\(job.mail.kind.rawValue) for \(job.mail.recipient)"
      logger.error("A mail was not delivered\(end): \(what): \(failure.reason)\(stop)")
    }
    if isTriedAgain {
      executor.submit(afterMilliseconds: pauses[job.attemptCount]) { [weak self] in
        self?.tryAgain(job)
      }
    }
    goOn()
  }

  private func tryAgain(_ job: Job) {
    var job = job
    job.attemptCount += 1
    state.withLock { state in
      state.delayedCount -= 1
      state.jobs.append(job)
    }
    goOn()
  }

  /// Returns the sender of mails, which is of the host if none is given.
  ///
  /// - Throws: `ServerError` of usage if no mails can come from it.
  static func sender(_ given: String?, host: String) throws(ServerError) -> MailSender {
    let text = given ?? "accounts@" + host
    guard let sender = MailSender(text) else {
      let advice = given == nil ? ": give --mail-from" : "; give name@host or 'Name <name@host>'"
      throw ServerError(
        "\(text) is no address from which mails can come\(advice).", isUsage: true)
    }
    if sender.address.needsUnicode {
      throw ServerError(
        "\(text) is no address from which mails can come: what stands before the @ has to be of ASCII "
          + "characters, as not every server of mail takes others.", isUsage: true)
    }
    return sender
  }

  /// Makes the folder for mails, if there is none.
  ///
  /// - Throws: `ServerError` of usage if it cannot be made.
  static func make(folder: String) throws(ServerError) {
    if mkdir(folder, 0o700) == 0 || errno == EEXIST { return }
    throw ServerError(
      "\(folder) cannot be made: \(String(cString: strerror(errno))).", isUsage: true)
  }

  /// The end of the name of a file that is being written.
  private static let newEnd = ".eml.new"
  /// After this time, in seconds, nobody writes such a file any more.
  private static let writingSeconds = 60

  /// Removes the files that a killed server had not written to their ends; their mails are sent again.
  func removeRemains() {
    // Without the folder there are none; what cannot be removed now is removed another time.
    guard case .folder(let folder) = destination,
      let names = try? ServerFile.names(in: folder)
    else { return }
    for name in names where name.hasSuffix(AccountMailer.newEnd) {
      let path = "\(folder)/\(name)"
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      // The seconds come first.
      let written = withUnsafeBytes(of: status.st_mtim) { $0.load(as: Int.self) }
      guard time(nil) - written > AccountMailer.writingSeconds else { continue }
      unlink(path)
    }
  }

  private func write(_ message: String, to folder: String) throws(ServerError) {
    try AccountMailer.make(folder: folder)
    let count = try ServerFile.names(in: folder).count
    if count >= AccountMailer.filesMax {
      throw ServerError("\(folder) has \(count) mails: remove those that were sent")
    }
    var random = SystemRandomNumberGenerator()
    let name = "\(calendar())-\(String(random.next(), radix: 36)).eml"
    try ServerFile.replace("\(folder)/\(name)", with: Array(message.utf8), mode: 0o600)
  }
}

extension MailFailure {
  /// The address of the account has no form for mail: a part of its domain is too long, say.
  fileprivate static let noAddress = MailFailure(
    reason: "this address cannot be written in a mail", isFinal: true)
}
