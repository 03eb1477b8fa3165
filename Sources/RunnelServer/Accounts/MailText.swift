import RunnelBase
import RunnelIdentity
import RunnelNetwork

/// The text of a mail to a user.
///
/// Source: RFC 5322, RFC 6532.
enum MailText {
  /// Returns a random id for a message, with the domain of its sender.
  ///
  /// Source: RFC 5322, section 3.6.4.
  static func newMessageID(from sender: MailSender) -> String {
    var random = SystemRandomNumberGenerator()
    let words = (0..<2).map { _ in String(random.next() as UInt64, radix: 36) }
    let domain = sender.address.text.split(separator: "@").last ?? ""
    return "<\(words.joined(separator: "."))@\(domain)>"
  }

  /// Returns the whole message.
  static func message(
    _ mail: AccountMail, to recipient: MailAddress, from sender: MailSender, time: Int64,
    messageID: String
  ) -> String {
    let lines = [
      "From: \(sender.header)", "To: <\(recipient.text)>",
      "Subject: \(subject(mail))", "Date: \(date(time))", "Message-ID: \(messageID)",
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64",
      "Auto-Submitted: auto-generated", "",
    ]
    return (lines + encoded(body(mail))).joined(separator: "\r\n") + "\r\n"
  }

  private static func subject(_ mail: AccountMail) -> String {
    if mail.notice == .takenBack { return "Your address was taken back" }
    return switch mail.kind {
    case .passwordReset: "Reset your password"
    case .verifyEmail: "Verify your address"
    case .emailSignIn: "Sign in"
    case .verifyAndChangeEmail: "Verify your new address"
    case .recoverEmail: "Your address was changed"
    }
  }

  /// Returns the text in the mail.
  static func body(_ mail: AccountMail) -> String {
    guard let link = mail.link, let text = mail.code else {
      return body(mail.notice ?? .replaced)
    }
    let greeting = mail.displayName.flatMap(shown).map { "Hello \($0)," } ?? "Hello,"
    let (what, otherwise): (String, String) =
      switch mail.kind {
      case .passwordReset:
        ("open this link to choose a new password:", "nothing changes.")
      case .verifyEmail: ("open this link to verify your address:", "nothing changes.")
      case .emailSignIn: ("open this link to sign in:", "nothing happens.")
      case .verifyAndChangeEmail:
        ("open this link to use this address for your account:", "nothing changes.")
      case .recoverEmail:
        (
          (mail.newEmail.map { "the address of your account was changed to \($0)." }
            ?? "this address was removed from your account.")
            + " If you did not want that, open this link to take it back:",
          "you need not do anything."
        )
      }
    let end =
      mail.kind == .recoverEmail
      ? "If you did it yourself, \(otherwise)" : "If you did not ask for this, \(otherwise)"
    let code = "Where a program asks for the code, it is:\n\n\(text)\n\n"
    return "\(greeting)\n\n\(what)\n\n\(link)\n\n\(code)\(end)\n"
  }

  private static func body(_ notice: AccountMail.Notice) -> String {
    let what =
      switch notice {
      case .replaced: "an account that had this address has another one now, or none."
      case .takenBack:
        "the change of an account's address to this one was taken back, by a message to the address "
          + "before. This address cannot sign in to that account any more."
      }
    return
      "Hello,\n\n\(what)\n\nIf it was your account and you do not know why, tell whoever runs the "
      + "application.\n"
  }

  private static let nameLengthMax = 40

  /// Returns a name as it is shown; nil for one that could pass for a part of the message.
  private static func shown(_ name: String) -> String? {
    let name = name.split(separator: " ").joined(separator: " ")
    let isPlain = name.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
        .unassigned:
        false
      default: !"/\\@:<>".unicodeScalars.contains(scalar)
      }
    }
    // A point within a word makes an address of it.
    let hasAddress = name.split(separator: " ").contains { word in
      word.dropLast().contains { $0 == "." }
    }
    return isPlain && !hasAddress && !name.isEmpty && name.count <= nameLengthMax ? name : nil
  }

  /// Returns a text in Base64, in lines of 76 characters.
  private static func encoded(_ text: String) -> [String] {
    let all = Array(Base64.text(of: Array(text.utf8)).utf8)
    return stride(from: 0, to: all.count, by: 76).map { start in
      String(decoding: all[start..<min(start + 76, all.count)], as: UTF8.self)
    }
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func date(_ now: Int64) -> String {
    let time = CivilTime(milliseconds: now)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(time.day) \(months[time.month - 1]) \(time.year) "
      + "\(two(time.hour)):\(two(time.minute)):\(two(time.second)) +0000"
  }
}
