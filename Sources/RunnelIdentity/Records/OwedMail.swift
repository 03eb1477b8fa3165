package import RunnelBase

/// A mail that tells the owner of an address that an account has lost it, until it was sent: nobody can ask for it
/// again, and its server may be killed before.
///
/// It is kept without its code. Whoever sends it after a kill makes another code.
package struct OwedMail: Hashable, Sendable {
  /// The most of them; further ones are lost with a server that is killed, or if they cannot be delivered for long.
  package static let countMax = 1000
  /// How long the server that made one, or took it over, has to send it.
  package static let leaseMilliseconds: Int64 = 1_200_000

  /// How long it is tried again and again to deliver one; after this, each start of a server tries once.
  package static let tryMilliseconds: Int64 = 4 * 86_400_000
  /// How long one is owed, be it tried or not: as long as its code is valid.
  package static let keepMilliseconds = MailedCode.Kind.recoverEmail.lifetime

  package var id: String
  var recipient: String
  var newEmail: String?
  var displayName: String?
  /// What a mail without a code tells.
  var notice: AccountMail.Notice?
  /// The hash of the code of the mail; nil in a notice.
  var code: String?
  /// The hash of the code that was made after a kill.
  var laterCode: String?
  /// The time from which another server sends it, in milliseconds since 1970.
  package var dueTime: Int64
  /// The time of the change that it tells of, in milliseconds since 1970.
  var madeTime: Int64

  init(_ mail: AccountMail, id: String, now: Int64) {
    (self.id, recipient, newEmail) = (id, mail.recipient, mail.newEmail)
    (displayName, notice) = (mail.displayName, mail.notice)
    code = mail.code.map { SecretHash.of($0) }
    dueTime = now + OwedMail.leaseMilliseconds
    madeTime = now
  }

  /// The kind of mail and its recipient, for the log.
  package var text: String { "\(MailedCode.Kind.recoverEmail.rawValue) for \(recipient)" }

  /// Whether it waits for the next start of a server.
  package func rests(now: Int64) -> Bool {
    now - madeTime > OwedMail.tryMilliseconds && !isOver(now: now)
  }

  /// Whether it is owed no more, as it could not be delivered.
  package func isOver(now: Int64) -> Bool { now - madeTime >= OwedMail.keepMilliseconds }

  private enum Field {
    static let recipient = "to"
    static let newEmail = "newEmail"
    static let displayName = "name"
    static let notice = "notice"
    static let code = "code"
    static let laterCode = "laterCode"
    static let dueTime = "due"
    static let madeTime = "made"
  }

  package init?(stored json: JSONValue, id: String) {
    guard let recipient = json[Field.recipient]?.string, let dueTime = json[Field.dueTime].time
    else { return nil }
    (self.id, self.recipient, self.dueTime) = (id, recipient, dueTime)
    newEmail = json[Field.newEmail]?.string
    displayName = json[Field.displayName]?.string
    notice = json[Field.notice]?.string.flatMap(AccountMail.Notice.init)
    code = json[Field.code]?.string
    laterCode = json[Field.laterCode]?.string
    // An older program wrote none.
    madeTime = json[Field.madeTime].time ?? dueTime
  }

  package var stored: JSONValue {
    var members = MemberList()
    members.add(Field.recipient, recipient)
    members.add(Field.newEmail, newEmail)
    members.add(Field.displayName, displayName)
    members.add(Field.notice, notice?.rawValue)
    members.add(Field.code, code)
    members.add(Field.laterCode, laterCode)
    members.add(Field.dueTime, dueTime)
    members.add(Field.madeTime, madeTime)
    return .object(members.all)
  }
}
