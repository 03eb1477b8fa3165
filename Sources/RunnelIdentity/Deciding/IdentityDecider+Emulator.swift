import RunnelBase

// The endpoints of emulators. Source: authentication, section 7.

extension IdentityDecider {
  /// The most codes that are shown.
  private static let shownCodesMax = 1000

  func ready() -> IdentityAnswer {
    IdentityAnswer([
      JSONMember(
        "authEmulator",
        [
          "ready": true, "docs": "https://firebase.google.com/docs/emulator-suite",
          "apiSpec": "/emulator/openapi.json",
        ])
    ])
  }

  mutating func wipe() -> IdentityAnswer {
    draft.isWiping = true
    return IdentityAnswer()
  }

  func emulatorConfiguration() throws(IdentityStop) -> IdentityAnswer {
    IdentityAnswer([
      JSONMember("signIn", ["allowDuplicateEmails": false]),
      JSONMember(
        "emailPrivacyConfig", ["enableImprovedEmailPrivacy": .bool(try hidesEmails())]),
    ])
  }

  mutating func updateEmulatorConfiguration() throws(IdentityStop) -> IdentityAnswer {
    _ = try updateConfiguration()
    return try emulatorConfiguration()
  }

  func mailedCodes() throws(IdentityStop) -> IdentityAnswer {
    let codes = try reader.codes(count: IdentityDecider.shownCodesMax)
    let shown: [JSONValue] = codes.compactMap { code in
      guard let shown = code.shown else { return nil }
      var members = MemberList()
      members.add("email", code.email)
      members.add("requestType", code.kind.rawValue)
      members.add("oobCode", shown.code)
      members.add("oobLink", shown.link)
      members.add("newEmail", code.newEmail)
      return .object(members.all)
    }
    return IdentityAnswer([JSONMember("oobCodes", .array(shown))])
  }

  // MARK: Clicks on links

  /// Does what a click on a mailed link does.
  mutating func clickedLink() throws(IdentityStop) -> IdentityAnswer {
    do throws(IdentityStop) {
      return try click()
    } catch {
      guard case .error(var refusal) = error else { throw error }
      refusal.isOfLink = true
      throw .error(refusal)
    }
  }

  private mutating func click() throws(IdentityStop) -> IdentityAnswer {
    guard let mode = try fields.filled("mode") else {
      throw .refused("missing mode query parameter")
    }
    guard let text = try fields.filled("oobCode") else {
      throw .refused("missing oobCode query parameter")
    }
    let code = try code(text)
    guard code.kind.mode == mode else { throw .refused("INVALID_OOB_CODE") }
    var success: String
    switch code.kind {
    case .passwordReset:
      guard try fields.filled("newPassword") != nil else {
        throw .refused("missing newPassword query parameter")
      }
      _ = try resetPassword()
      success = "The password has been successfully updated."
    case .verifyEmail:
      _ = try applyCode(text)
      success = "The email has been successfully verified."
    case .verifyAndChangeEmail:
      _ = try applyCode(text)
      success = "The email has been successfully changed."
    case .recoverEmail:
      _ = try applyCode(text)
      success = "The email has been successfully reset."
    case .emailSignIn:
      // The application itself uses the code.
      success = "Open the link in the application."
    }
    let email = code.newEmail ?? code.email
    var answer = IdentityAnswer([
      JSONMember(
        "authEmulator", ["success": .string(success), "email": .string(email)])
    ])
    if let next = try fields.filled("continueUrl"), IdentityDecider.isAbsolute(next) {
      answer.redirect = next
      if code.kind == .emailSignIn {
        let separator = next.contains("?") ? "&" : "?"
        answer.redirect =
          next + separator + "mode=signIn&lang=en&oobCode=\(text)&apiKey=fake-api-key"
      }
    }
    return answer
  }
}
