public import RunnelClient
public import RunnelDatabase
import RunnelStore
import RunnelSync
public import RunnelTree
import Synchronization

// The connections of a user's databases.

extension AccountSession {
  /// Returns the access of a user to a server's database.
  ///
  /// Each connection is authenticated with a valid token before it listens; a refused token is
  /// exchanged. After the user has signed out, it gives a token only while something is still to be
  /// done for the user (`beforeForgetting`); none after the user has signed out in another process. It keeps
  /// the session alive.
  ///
  /// - Parameter user: the id of the user.
  /// - Returns: the access, for `Database.connect`.
  public nonisolated func access(of user: String) -> OriginAccess {
    var access = OriginAccess(user: user) { [self] isRefresh in
      // The connection may have another one than it asked for: see `keepAuthenticated`.
      let token = try await checkedToken(of: user, refused: isRefresh ? given[user] : nil)
      given[user] = token
      return Credential(token.reveal())
    }
    access.isAskedEachTime = true
    return access
  }

  /// Gives each new token of a user to a connection, before the old one expires.
  ///
  /// - Parameters:
  ///   - link: the link of the user's replica; it is not kept alive.
  ///   - user: the id of the user.
  public nonisolated func keepAuthenticated(_ link: OriginLink, as user: String) {
    Task { [weak link, given, tokens = tokens(of: user)] in
      var isFirst = true
      for await token in tokens {
        guard let link else { return }
        // The link asks for the first one itself.
        if !isFirst {
          given[user] = token
          await link.setCredential(Credential(token.reveal()))
        }
        isFirst = false
      }
    }
  }
}

extension Database {
  /// Opens the replica of a server's database for a user who is signed in, and keeps it synchronized
  /// and authenticated; see `connect(to:as:file:indexes:options:environment:onTrouble:)`.
  ///
  /// Each user has a replica of their own, with their pending writes: nothing is sent under the
  /// credential of another user.
  ///
  /// - Parameters:
  ///   - address: `https://HOST/?ns=NAME`, or `http` without TLS.
  ///   - session: the session.
  ///   - user: the id of the user, who need not be signed in any more.
  ///   - file: the file of the replica; nil for the default file of this origin and user.
  ///   - indexes: the indexes that the program's queries need.
  ///   - options: the options for the connection.
  /// - Returns: the open database.
  /// - Throws: `TreeError` if `address` is not valid; `DatabaseError` if the file cannot be opened.
  public static func connect(
    to address: String, in session: AccountSession, user: String, file: String? = nil,
    indexes: [IndexDefinition] = [], options: OriginOptions = OriginOptions()
  ) async throws -> Database {
    let database = try await connect(
      to: address, as: session.access(of: user), file: file, indexes: indexes, options: options)
    if let link = await database.originLink { session.keepAuthenticated(link, as: user) }
    return database
  }
}

/// The last tokens that were given to connections, by their users.
final class GivenTokens: Sendable {
  private let tokens = Mutex<[String: Secret<String>]>([:])

  subscript(user: String) -> Secret<String>? {
    get { tokens.withLock { $0[user] } }
    set { tokens.withLock { $0[user] = newValue } }
  }
}
