/// The dialogue with a server of mail that delivers one message: what to send for each reply.
///
/// It has no sockets and no clock, so that it is tested line by line.
///
/// ```
///   greeting -> hello -> [startTLS -> handshake -> hello] -> [login] -> sender -> recipient
///     -> data -> content -> goodbye
/// ```
///
/// Source: RFC 5321, RFC 3207, RFC 4616, RFC 4954, RFC 6531.
package struct MailDialogue: Hashable, Sendable {
  /// What has to be done next.
  package enum Step: Hashable, Sendable {
    case send([UInt8])
    case startTLS
    /// The message was taken.
    case done
    case failed(MailFailure)
  }

  /// When the connection is encrypted.
  package enum Security: Hashable, Sendable {
    /// From the beginning.
    case atOnce
    /// After `STARTTLS`, which the server has to offer.
    case required
    /// If the server offers it; for a server on this machine.
    case ifOffered
  }

  private enum State: Hashable, Sendable {
    case greeting
    case hello
    case startTLS
    case handshake
    case login
    case sender
    case recipient
    case data
    case content
    case ended
  }

  /// The most lines of a reply.
  private static let linesMax = 100

  private let message: MailMessage
  private let login: MailServer.Login?
  private let security: Security
  private var state = State.greeting
  private var isEncrypted: Bool
  /// The lines of the reply so far.
  private var lines: [String] = []
  /// What the server offers on this connection.
  private var offers: Set<String> = []

  package init(_ message: MailMessage, login: MailServer.Login?, security: Security) {
    (self.message, self.login, self.security) = (message, login, security)
    isEncrypted = security == .atOnce
  }

  /// Takes a line of the server, without its end.
  package mutating func receive(_ line: String) -> [Step] {
    if state == .ended { return [] }
    // A line from before the encryption could be anybody's.
    if state == .handshake { return fail("it sent text before the encryption", isFinal: true) }
    lines.append(line)
    if lines.count > MailDialogue.linesMax { return fail("its reply is too long", isFinal: false) }
    guard line.utf8.count >= 3, let code = Int(line.prefix(3)) else {
      return fail("it is no server of mail", isFinal: false)
    }
    if line.dropFirst(3).first == "-" { return [] }
    defer { lines = [] }
    return reply(code)
  }

  /// Goes on when the connection is encrypted.
  package mutating func handshakeEnded() -> [Step] {
    guard state == .handshake else { return [] }
    isEncrypted = true
    return send("EHLO \(message.clientName)", .hello)
  }

  private mutating func reply(_ code: Int) -> [Step] {
    switch (state, code) {
    case (.greeting, 220): return send("EHLO \(message.clientName)", .hello)
    case (.hello, 250): return greeted()
    case (.startTLS, 220):
      state = .handshake
      return [.startTLS]
    case (.login, 235): return begin()
    case (.sender, 250): return send("RCPT TO:<\(message.recipient.text)>", .recipient)
    case (.recipient, 250), (.recipient, 251): return send("DATA", .data)
    case (.data, 354):
      state = .content
      return [.send(MailDialogue.stuffed(message.content))]
    case (.content, 250):
      state = .ended
      return [.send(Array("QUIT\r\n".utf8)), .done]
    default: return fail("it said \(lines.last?.prefix(200) ?? "")", isFinal: code >= 500)
    }
  }

  private mutating func greeted() -> [Step] {
    offers = Set(lines.map { $0.dropFirst(4).uppercased() })
    if !isEncrypted, security != .atOnce {
      if offers.contains("STARTTLS") { return send("STARTTLS", .startTLS) }
      if security == .required { return fail("it offers no encryption", isFinal: true) }
    }
    guard let login else { return begin() }
    // A password is sent over an encrypted connection only.
    guard isEncrypted else { return fail("it offers no encryption for the login", isFinal: true) }
    let words = offers.filter { $0.hasPrefix("AUTH ") }.flatMap { $0.split(separator: " ") }
    guard words.contains("PLAIN") else { return fail("it offers no login by PLAIN", isFinal: true) }
    return send("AUTH PLAIN \(login.plain)", .login)
  }

  private mutating func begin() -> [Step] {
    let start = "MAIL FROM:<\(message.sender.text)>"
    guard message.needsUnicode else { return send(start, .sender) }
    guard offers.contains("SMTPUTF8") else {
      return fail(
        "it does not offer SMTPUTF8, so no mail reaches an address whose name is beyond ASCII: use a server "
          + "of mail that offers it, or let the user take another address", isFinal: true)
    }
    let body = offers.contains("8BITMIME") ? " BODY=8BITMIME" : ""
    return send(start + body + " SMTPUTF8", .sender)
  }

  private mutating func send(_ line: String, _ next: State) -> [Step] {
    state = next
    return [.send(Array((line + "\r\n").utf8))]
  }

  private mutating func fail(_ reason: String, isFinal: Bool) -> [Step] {
    state = .ended
    return [.failed(MailFailure(reason: reason, isFinal: isFinal))]
  }

  /// The content with its end; a line that begins with a dot gets another one.
  private static func stuffed(_ content: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(content.count + 16)
    var isAtStart = true
    for byte in content {
      if isAtStart, byte == UInt8(ascii: ".") { result.append(byte) }
      result.append(byte)
      isAtStart = byte == 10
    }
    if !isAtStart { result += Array("\r\n".utf8) }
    return result + Array(".\r\n".utf8)
  }
}

/// The reason why a message was not delivered.
package struct MailFailure: Error, Hashable, Sendable {
  package var reason: String
  /// True if it would fail again.
  package var isFinal: Bool

  package init(reason: String, isFinal: Bool) { (self.reason, self.isFinal) = (reason, isFinal) }
}

/// A message for one recipient.
package struct MailMessage: Hashable, Sendable {
  /// The name of this machine for the server of mail, of ASCII.
  package var clientName: String
  package var sender: MailAddress
  package var recipient: MailAddress
  /// Headers and text, with lines that end in CR LF.
  package var content: [UInt8]

  /// Makes a message.
  package init(
    clientName: String, sender: MailAddress, recipient: MailAddress, content: [UInt8]
  ) {
    (self.clientName, self.sender, self.recipient) = (clientName, sender, recipient)
    self.content = content
  }

  /// True if the server has to take characters beyond ASCII in addresses and headers.
  var needsUnicode: Bool { sender.needsUnicode || recipient.needsUnicode }
}
