// Mails that are owed until they were sent: see `OwedMail`.

extension IdentityDecider {
  /// Keeps the mails that tell of a lost address, in the same write as the loss.
  mutating func owe() {
    // An emulator sends no mails.
    if policy.isEmulator { return }
    for index in mails.indices where mails[index].kind == .recoverEmail {
      let owed = OwedMail(mails[index], id: randomText(20), now: now)
      mails[index].owed = owed.id
      draft.owed[owed.id] = owed
    }
  }

  /// Makes an owed mail once more, because the server that made it may have been killed before it was sent, or
  /// could not deliver it.
  ///
  /// It has another code; the one before stays valid, for it may have been sent.
  ///
  /// - Returns: the mail; nil if its code cannot be used any more or it could not be delivered while it was,
  ///   so that it is owed no more.
  /// - Throws: `IdentityStop` if the storage fails.
  package mutating func renew(_ owed: OwedMail) throws(IdentityStop) -> AccountMail? {
    if owed.isOver(now: now) {
      draft.owed[owed.id] = .some(nil)
      return nil
    }
    var owed = owed
    owed.dueTime = now + OwedMail.leaseMilliseconds
    var mail = AccountMail(
      kind: .recoverEmail, recipient: owed.recipient, newEmail: owed.newEmail,
      displayName: owed.displayName, notice: owed.notice, owed: owed.id)
    if let hash = owed.code {
      // At most two codes of one change are open.
      if let later = owed.laterCode { draft.codes[later] = .some(nil) }
      guard var code = try reader.code(hash),
        !code.isExpired(now: now, isEmulator: policy.isEmulator)
      else {
        draft.owed[owed.id] = .some(nil)
        return nil
      }
      let text = randomText(54)
      code.hash = SecretHash.of(text)
      draft.codes[code.hash] = code
      owed.laterCode = code.hash
      (mail.link, mail.code) = (link(code.kind, text), text)
    }
    draft.owed[owed.id] = owed
    return mail
  }

  /// The link of a code, which its mail shows.
  func link(_ kind: MailedCode.Kind, _ text: String) -> String {
    policy.actionURL + "?mode=\(kind.mode)&lang=en&oobCode=\(text)&apiKey=fake-api-key"
  }
}
