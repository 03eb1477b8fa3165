package import RunnelAccounts
import RunnelDevices
package import RunnelSync
package import RunnelTree

/// Removes this device from the lists of users who signed out, also of those who did so while the server
/// could not be reached; their credentials are forgotten then, or after a month.
///
/// The replica of such a user is closed, so this is done by requests.
package actor Departures {
  private nonisolated let home: AccountHome
  private nonisolated let removal: DeviceRemoval
  private nonisolated let options: AccountOptions
  private var sessions: [AccountSession] = []
  /// Counts the beginnings, so that an earlier one stops.
  private var beginning = 0

  /// Makes the removals of a database; nil if the user has no home.
  ///
  /// - Parameters:
  ///   - home: the accounts at the database.
  ///   - address: the address of the database.
  ///   - place: the place of the lists of users' devices.
  ///   - options: the options of the sessions.
  ///   - environment: the environment variables of the process, which name the state folder.
  package init?(
    _ home: AccountHome, at address: OriginAddress, _ place: Path,
    options: AccountOptions = AccountOptions(), environment: [String: String]
  ) {
    guard let listed = ListedDevice(at: address, place, home.transport, environment: environment)
    else { return nil }
    self.init(home, DeviceRemoval(listed), options: options)
  }

  /// Makes the removals of a database, by this way to remove the device.
  init(_ home: AccountHome, _ removal: DeviceRemoval, options: AccountOptions) {
    (self.home, self.removal, self.options) = (home, removal, options)
  }

  /// Lets a session remove the device before it forgets the credential of a user who signs out.
  package nonisolated func take(_ session: AccountSession) async {
    let (home, removal) = (home, removal)
    await session.beforeForgetting { [weak session] user in
      guard let session else { return .later }
      // Another process may have signed the user in again: then the device stays. A folder that cannot
      // be read says nothing about that.
      let departing = try? home.departing()
      if let departing, !departing.contains(where: { $0.user.id == user }) { return .done }
      return await removal.remove(of: user, in: session)
    }
  }

  /// Removes this device from the list of a user who is signed in, and whose account is about to be deleted.
  ///
  /// What cannot be removed stays: nobody can sign in to remove it later.
  package nonisolated func removeDevice(of user: String, in session: AccountSession) async {
    _ = await removal.remove(of: user, in: session)
  }

  /// Begins what is still to be done for users who signed out; what was begun before ends.
  func begin() async {
    beginning += 1
    let own = beginning
    await close()
    // What cannot be read is told when somebody signs in.
    let accounts = (try? home.departing()) ?? []
    var users: [String: (service: any AccountProvider, users: Set<String>)] = [:]
    for account in accounts {
      let known: (any AccountProvider)? = try? home.service(of: account.user.id)
      let service = known ?? home.ownService
      users[service.name, default: (service, [])].users.insert(account.user.id)
    }
    for (_, group) in users.sorted(by: { $0.key < $1.key }) {
      let storage = DepartingAccounts(home.folder(group.service), users: group.users)
      let session = await AccountSession(group.service, storage: storage, options: options)
      guard own == beginning else { return await session.close() }
      sessions.append(session)
      await take(session)
    }
  }

  /// Ends what was begun in this process; the credentials stay.
  func end() async {
    beginning += 1
    await close()
  }

  private func close() async {
    let old = sessions
    sessions = []
    for session in old { await session.close() }
  }
}
