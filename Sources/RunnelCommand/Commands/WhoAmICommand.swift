import ArgumentParser
import RunnelAccounts
import RunnelBase
import RunnelClient
import RunnelSync

/// `runnel whoami`: prints who is signed in to a server's database.
struct WhoAmICommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whoami",
    abstract: "Print who is signed in to a server's database, as JSON.",
    discussion: """
      Without --check, the network is not used. If the database is opened with a token, the user in the token is \
      printed, unverified. The exit status is 1 if nobody is signed in, and 3 if the server \
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
    if let credentials = try place.choice.arguments.credentials() {
      return try tell(place.choice, credentials)
    }
    let (session, kept) = try check ? place.checkedSession() : place.session()
    let user = check ? try place.answer { try await session.reload() } : kept
    try StandardOutput.write(WhoAmICommand.json(user, place.choice).jsonText() + "\n")
  }

  /// Prints who the token, secret or key names with which commands open the database.
  ///
  /// - Throws: `Failure` of usage if the session is to be checked: there is none.
  private func tell(_ choice: OriginChoice, _ credentials: OriginArguments.Credentials) throws {
    if check {
      throw Failure(
        "\(choice.name) is opened with a token, which has no session: leave out --check.",
        status: .usage)
    }
    let members = [
      JSONMember("user", .string(choice.arguments.access(by: credentials).user)),
      JSONMember("method", .string("token")),
    ]
    try StandardOutput.write(JSONValue.object(members).jsonText() + "\n")
  }

  /// The JSON object about a user; a Feathers server mostly does not tell whether an address is confirmed.
  static func json(_ user: AccountUser, _ choice: OriginChoice) -> JSONValue {
    var members = [JSONMember("user", .string(user.id))]
    if let email = user.email {
      members.append(JSONMember("email", .string(email)))
      if user.isEmailVerified || !choice.address.hasServices {
        members.append(JSONMember("emailVerified", .bool(user.isEmailVerified)))
      }
    }
    if let name = user.displayName { members.append(JSONMember("name", .string(name))) }
    if let method = user.method { members.append(JSONMember("method", .string(method))) }
    return .object(members)
  }
}
