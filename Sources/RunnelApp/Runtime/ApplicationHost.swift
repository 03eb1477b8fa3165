import Foundation
import Logging
import RunnelAccounts
import RunnelClient
import RunnelDatabase
import RunnelDevices
import RunnelTerminal
import RunnelWorkspace

/// What stays while the workspace is closed and opened again as another account: the terminal, the
/// signals, the recording, and the accounts.
final class ApplicationHost {
  let wakeup: Wakeup
  let signals: SignalSource
  /// Records the session; nil if it is not recorded.
  let recorder: SessionRecorder?
  /// The accounts at the server; nil if the database is opened without accounts.
  let accounts: AccountWork?
  /// Watches what other windows and commands store of the accounts; nil without accounts.
  let accountMonitor: AccountMonitor?
  /// What keeps the drafts of accounts that were shown before for this program.
  let claims = SessionClaims()
  /// What is to be said first: the reason why the last account could not be shown, or remarks on how the
  /// database was made; nil for nothing.
  var trouble: String?
  /// What the user did before; nil for nothing.
  var news: String?
  /// Why the data are gone from the screen while the user typed; nil otherwise.
  var interruption: String?
  private var screen: (any Screen)?

  /// Prepares everything but the screen.
  ///
  /// - Throws: `TerminalError` if the system has no room, `ConfigurationError` if the session cannot be
  ///   recorded.
  init(_ options: ApplicationOptions? = nil) throws {
    let wakeup = try Wakeup()
    self.wakeup = wakeup
    signals = try SignalSource()
    if let remarks = options?.remarks, !remarks.isEmpty { trouble = remarks.joined(separator: " ") }
    let left = options == nil ? [] : ExternalEditor().takeLeft()
    if !left.isEmpty { news = ApplicationHost.words(forLeft: left) }
    recorder = try options?.record.map { try SessionRecorder(file: $0) { wakeup.signal() } }
    var accountOptions = AccountOptions()
    let log = Logger(label: "runnel.accounts")
    accountOptions.notice = { log.warning("\($0.message)") }
    guard let wish = options?.origin, let home = wish.accounts else {
      (accounts, accountMonitor) = (nil, nil)
      return
    }
    let environment = ProcessInfo.processInfo.environment
    let departures = wish.devices.flatMap { place in
      Departures(
        home, at: wish.address, place, options: accountOptions, environment: environment)
    }
    let revocation = wish.devices.flatMap { place in
      ListedDevice(at: wish.address, place, home.transport, environment: environment)
        .map(DeviceRevocation.init)
    }
    let address = wish.address
    let replicas = WaitingReplicas(
      of: address, namesAll: options?.forgetsAccounts != true, environment: environment)
    let work = AccountWork(
      home, departures, revocation, options: accountOptions, replicas: replicas,
      wake: { wakeup.signal() })
    let monitor = AccountMonitor(work, folder: home.path) { user in
      try? ReplicaFolder.file(for: address, user: user, environment: environment)
    }
    (accounts, accountMonitor) = (work, monitor)
  }

  /// The words on texts that were open in the user's editor when a workspace was killed.
  static func words(forLeft files: [String]) -> String {
    let texts = files.count == 1 ? "a text was" : "\(files.count) texts were"
    return
      "\(texts) open in your editor when a workspace was killed: \(files.joined(separator: ", "))"
  }

  /// Notes what the next account says first of the change to it.
  func willSay(why change: AccountChange) {
    news = change.news
    if change.wasTyping { interruption = change.reason } else { trouble = change.reason }
  }

  /// Returns and removes what is to be said first.
  func takeFirst() -> [AppAction] {
    defer { (trouble, news, interruption) = (nil, nil, nil) }
    return [
      trouble.map { .trouble($0) }, news.map { .said($0) },
      interruption.map { .interrupted($0) },
    ].compactMap(\.self)
  }

  /// The descriptors to poll for reading, besides those of the wakeup and the signals.
  var descriptors: [Int32] { accountMonitor?.fileDescriptors ?? [] }

  /// Returns the screen; opens it at the first time.
  ///
  /// - Throws: `TerminalError` if it cannot be opened.
  func openScreen(_ options: TerminalOptions) throws -> any Screen {
    if let screen {
      screen.apply(options)
      return screen
    }
    let screen = try CursesScreen.open(options: options)
    // A file that is cut off is told like any other loss, before the handlers of the terminal see a fault.
    IndexGuard.install()
    self.screen = screen
    return screen
  }

  /// Gives the terminal back, and waits for a moment until the session is recorded.
  func close() {
    screen?.close()
    claims.release()
    guard let problem = recorder?.end() else { return }
    Logger(label: "runnel.workspace").error("recording", metadata: ["error": "\(problem)"])
  }
}
