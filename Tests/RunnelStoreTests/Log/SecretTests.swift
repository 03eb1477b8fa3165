import RunnelBase
import Testing

@testable import RunnelStore

/// An action that holds a password, deep inside, and tells it to whoever asks.
private struct LogIn: LoggableAction {
  struct Credentials: Sendable {
    var user = "ana"
    var tokens: [String: Secret<String>?]
  }

  static let kind = "LogIn"
  var credentials: [Credentials]

  init(password: String) {
    credentials = [Credentials(tokens: ["password": Secret(password)])]
  }

  init(json: JSONValue) throws { self.init(password: "") }

  func json() -> JSONValue {
    .string(credentials[0].tokens["password"]??.reveal() ?? "")
  }
}

@Suite struct SecretTests {
  private static let password = "correct horse"
  private let action = LogIn(password: SecretTests.password)

  @Test func noTextShowsASecret() {
    var dumped = ""
    dump(action, to: &dumped)
    let secret = Secret(SecretTests.password)
    let texts = [
      "\(secret)", String(reflecting: secret), "\(action)", String(reflecting: action), dumped,
      "\(Mirror(reflecting: secret).children.map { "\($0)" })", "\(Optional(secret) as Any)",
    ]
    for text in texts { #expect(!text.contains("horse"), "\(text)") }
    #expect("\(secret)" == "<secret>")
  }

  @Test func actionThatHoldsASecretIsNotLoggedWhateverItSays() throws {
    #expect(action.json() == .string(SecretTests.password))
    var log = ActionLog()
    log.append(action, milliseconds: 0)
    #expect(!log.text.contains("horse"))
    #expect(log.entries.first?.content == .withheld(type: "LogIn"))
  }

  @Test func actionWithoutASecretIsLogged() {
    var other = action
    other.credentials[0].tokens = ["password": nil]
    let entry = LoggedAction(number: 1, milliseconds: 0, action: other)
    #expect(entry.content == .action(kind: "LogIn", .string("")))
  }

  @Test func secretIsRevealedAndCompared() {
    #expect(Secret(5).reveal() == 5)
    #expect(Secret("a") == Secret("a"))
    #expect(Secret("a") != Secret("b"))
  }
}
