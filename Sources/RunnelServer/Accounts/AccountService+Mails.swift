import Logging
import RunnelIdentity

/// What a server knows of the mails that are owed.
struct OwedMailNotes {
  /// The names of those that are being sent.
  var sending: Set<String> = []
  /// The names of those that were sent, and are to be forgotten.
  var sent: Set<String> = []
  /// The names of those that wait for the next start.
  var resting: Set<String> = []
}

// The mails that the accounts cause, and those that are owed until they were sent: see `OwedMail`.

extension AccountService {
  /// True if the code of a mail can still be used, as far as is known: its account was not deleted.
  func isWanted(_ mail: AccountMail) -> Bool {
    guard !isStoreClosed, let code = mail.code else { return true }
    let hash = SecretHash.of(code)
    // A storage that cannot be read is no reason to send nothing.
    return (try? store.read { try $0.code(hash) != nil }) ?? true
  }

  /// Sends a mail.
  func send(_ mail: AccountMail) {
    if mailer.send(mail), let id = mail.owed { owedMails.sending.insert(id) }
  }

  /// Notes that an owed mail was delivered, is given up, or is left for now.
  func noteEnd(of id: String, isLeft: Bool) {
    owedMails.sending.remove(id)
    if isLeft { return }
    owedMails.sent.insert(id)
    forgetSent()
  }

  /// Forgets the owed mails that were sent; what the storage does not take now is forgotten later.
  func forgetSent() {
    if isStoreClosed || owedMails.sent.isEmpty { return }
    do {
      try store.forgetMails(owedMails.sent)
      owedMails.sent = []
    } catch {
      noteFailure(error, "a mail that was sent is still owed: ")
    }
  }

  /// Sends the mails that a server owes that was killed, and those that could not be delivered before.
  ///
  /// - Parameter isStart: whether the server begins: it tries old ones once more, and those of a file are its own,
  ///   as nobody else is sending them.
  func sendOwed(isStart: Bool = false) {
    if isClosed || policy.isEmulator { return }
    forgetSent()
    let areOwn = isStart && place.file != nil
    let now = calendar()
    do {
      for owed in try store.owedMails() {
        if owedMails.sending.contains(owed.id) || owedMails.sent.contains(owed.id) { continue }
        guard areOwn || owed.dueTime <= now else { continue }
        if !isStart, owed.rests(now: now) {
          noteRest(of: owed)
        } else if let mail = try store.renew(owed, context(now)) {
          send(mail)
        } else if owed.isOver(now: now) {
          logger.error(
            "A mail is given up, as it could not be delivered for 30 days: \(owed.text).")
        }
      }
    } catch {
      noteFailure(error, "mails that are owed are not sent: ")
    }
  }

  private func noteRest(of owed: OwedMail) {
    guard owedMails.resting.insert(owed.id).inserted else { return }
    logger.error(
      "A mail could not be delivered for four days: \(owed.text). It is tried again when the server is started."
    )
  }
}
