import ArgumentParser
import RunnelAccounts
import RunnelBase

/// `runnel whoami`: prints who is signed in to a server's database.
struct WhoAmICommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whoami",
    abstract: "Print who is signed in to a server's database, as JSON.",
    discussion: """
      Without --check, the network is not used. The exit status is 1 if nobody is signed in, and 3 if the server \
      cannot be reached for the check.

      Examples:
        runnel whoami prod
        runnel whoami prod --check | jq -r .email
      """)

  @Argument(
    help: "The server's database: its address, or the name of a profile.",
    completion: DatabaseCompletion.profiles)
  var database: String
  @Flag(help: "Ask the server whether the session is still valid.") var check = false
  @OptionGroup var trust: TrustArguments

  func run() throws {
    let place = try AccountPlace(database, trust.origin)
    let (session, kept) = try place.session()
    let user = check ? try place.answer { try await session.reload() } : kept
    try StandardOutput.write(WhoAmICommand.json(user).jsonText() + "\n")
  }

  /// The JSON object about a user.
  static func json(_ user: AccountUser) -> JSONValue {
    var members = [JSONMember("user", .string(user.id))]
    if let email = user.email {
      members += [
        JSONMember("email", .string(email)),
        JSONMember("emailVerified", .bool(user.isEmailVerified)),
      ]
    }
    if let name = user.displayName { members.append(JSONMember("name", .string(name))) }
    if let method = user.method { members.append(JSONMember("method", .string(method))) }
    return .object(members)
  }
}
