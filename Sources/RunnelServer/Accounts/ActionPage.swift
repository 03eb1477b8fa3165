import HTTPTypes
import RunnelBase
import RunnelIdentity
import RunnelNetwork
import RunnelSync

/// The page on which a mailed link leads: it asks for a new password, or for a click, and then uses
/// the code.
///
/// A link alone uses no code, because programs that check mails open links too.
///
/// Loop only.
final class ActionPage: ExchangeHandling {
  private static let bytesMax = 16_384

  private let exchange: OpenExchange
  private let head: IdentityRequestHead
  private let service: AccountService
  private var body: [UInt8] = []
  private var isAnswered = false

  init(_ exchange: OpenExchange, _ service: AccountService) {
    (self.exchange, self.service) = (exchange, service)
    let request = exchange.request
    head = IdentityRequestHead(request.method.rawValue, request.path ?? "/")
  }

  /// Whether the page is only read; then a code is looked at and not used.
  private var isReading: Bool {
    let method = exchange.request.method
    return method == .get || method == .head
  }

  func opened() {
    if isReading { return show(fields: CallFields(.object(head.parameters))) }
    if exchange.request.method != .post {
      answer(405, ActionText.page("This page is read by GET.", []))
    }
  }

  func received(_ piece: [UInt8]) {
    if isAnswered { return }
    body += piece
    if body.count > ActionPage.bytesMax {
      answer(413, ActionText.page("The request is too large.", []))
    }
  }

  func receivedAll() {
    // The answer to a link may be under way.
    if isAnswered || isReading { return }
    guard let members = IdentityRequestHead.members(ofForm: body) else {
      return answer(400, ActionText.page("The form cannot be read.", []))
    }
    body = []
    use(CallFields(.object(members)))
  }

  /// Shows the form of a link.
  private func show(fields: CallFields) {
    guard let form = ActionForm(fields) else {
      return answer(400, ActionText.page("This link is not complete.", []))
    }
    show(form, 200, problem: nil)
  }

  private func show(_ form: ActionForm, _ status: Int, problem: String?) {
    let bound = LoopBound(self, to: exchange.channel.loop)
    service.find(code: form.code) { code in
      bound.loop.run {
        let page = form.page(policy: bound.value.service.policy, problem: problem, of: code)
        let isUsable = form.isUsable(code)
        bound.value.answer(isUsable ? status : 400, isUsable ? page : ActionText.unusablePage)
      }
    }
  }

  /// Uses the code of a form.
  private func use(_ fields: CallFields) {
    guard let form = ActionForm(fields), let call = form.call(fields) else {
      return answer(400, ActionText.page("This link is not complete.", []))
    }
    let bound = LoopBound(self, to: exchange.channel.loop)
    service.submit(call, from: exchange.peer.address) { reply in
      bound.loop.run { bound.value.used(form, reply) }
    }
  }

  private func used(_ form: ActionForm, _ reply: AccountService.Reply) {
    if reply.status == 200 {
      let isNew = reply.body["isNewUser"]?.bool == true
      return answer(200, form.success(policy: service.policy, isOfNewAccount: isNew))
    }
    let message = reply.body["error"]?["message"]?.string ?? ""
    let problem = ActionText.problem(message)
    if message.hasPrefix("WEAK_PASSWORD") || message.hasPrefix("TOO_MANY") {
      return show(form, 400, problem: problem)
    }
    answer(400, ActionText.page(problem, []))
  }

  private func answer(_ status: Int, _ page: String) {
    if isAnswered { return }
    isAnswered = true
    let bytes = Array(page.utf8)
    var answer = HTTPResponse(status: HTTPResponse.Status(code: status))
    answer.headerFields[.contentType] = "text/html; charset=utf-8"
    answer.headerFields[.cacheControl] = "no-store"
    answer.headerFields[.xContentTypeOptions] = "nosniff"
    if status == 405 { answer.headerFields[.allow] = "GET, HEAD, POST" }
    // The address has the code, which no other site may learn.
    for (name, value) in [
      ("Referrer-Policy", "no-referrer"),
      (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; "
          + "base-uri 'none'"
      ),
    ] {
      if let name = HTTPField.Name(name) { answer.headerFields[name] = value }
    }
    exchange.answer(answer, bytes)
  }

  func canSendMore() {}
  func timeIsUp() {}
  func closed() { isAnswered = true }
}

/// The code of a mailed link, as it is stored.
enum FoundCode {
  case usable(MailedCode)
  /// It was used, has expired, or never was one.
  case unusable
  /// The storage cannot be read, which is told when the code is used.
  case unknown

  init(_ text: String, in store: AccountStore, now: Int64, isEmulator: Bool) {
    let found = try? store.read { reader -> FoundCode in
      guard let code = try reader.code(SecretHash.of(text)),
        !code.isExpired(now: now, isEmulator: isEmulator)
      else { return .unusable }
      return .usable(code)
    }
    self = found ?? .unknown
  }
}

/// What a mailed link asks for.
struct ActionForm: Hashable {
  private let kind: MailedCode.Kind
  let code: String
  private let next: String?
  /// True if a new password was typed.
  private let hasPassword: Bool

  /// Reads the parameters of a link or a form; nil if one is missing.
  init?(_ fields: CallFields) {
    // A field of a wrong kind counts as missing.
    guard let mode = (try? fields.filled("mode")) ?? nil,
      let kind = MailedCode.Kind.allCases.first(where: { $0.mode == mode }),
      let code = (try? fields.filled("oobCode")) ?? nil, code.utf8.count <= 200
    else { return nil }
    (self.kind, self.code) = (kind, code)
    next = (try? fields.filled("continueUrl")) ?? nil
    hasPassword = ((try? fields.filled("newPassword")) ?? nil) != nil
  }

  /// The request that uses the code; nil if only an application can.
  func call(_ fields: CallFields) -> IdentityCall? {
    switch kind {
    case .passwordReset:
      let password = ((try? fields.text("newPassword")) ?? nil) ?? ""
      // Without a password, the code would only be checked.
      let body: JSONValue = [
        "oobCode": .string(code), "newPassword": .string(password.isEmpty ? " " : password),
      ]
      return IdentityCall(.resetPassword, CallFields(body))
    case .recoverEmail where hasPassword:
      let password = ((try? fields.text("newPassword")) ?? nil) ?? ""
      return IdentityCall(
        .update, CallFields(["oobCode": .string(code), "password": .string(password)]))
    case .verifyEmail, .verifyAndChangeEmail, .recoverEmail:
      return IdentityCall(.update, CallFields(["oobCode": .string(code)]))
    case .emailSignIn: return nil
    }
  }

  private var title: String {
    switch kind {
    case .passwordReset: "Choose a new password"
    case .verifyEmail: "Verify your address"
    case .verifyAndChangeEmail: "Use your new address"
    case .recoverEmail: "Take the change of your address back"
    case .emailSignIn: "Open this link in the application in which you sign in"
    }
  }

  private var success: String {
    switch kind {
    case .passwordReset: "Your password was changed. You can sign in now."
    case .verifyEmail: "Your address is verified."
    case .verifyAndChangeEmail: "Your new address is in use. Sign in with it."
    case .recoverEmail:
      hasPassword
        ? "Your old address is back, with your new password. You can sign in now."
        : "Your old address is back, and the password of before does not count any more: ask for a message for a new "
          + "one where you sign in."
    case .emailSignIn: ""
    }
  }

  /// Whether the form is of use; `found` is its code.
  func isUsable(_ found: FoundCode) -> Bool {
    switch found {
    case .usable(let code): code.kind == kind
    // The application signs in by the link, and finds out.
    case .unusable: kind == .emailSignIn
    case .unknown: true
    }
  }

  /// Returns the page with the form; `found` is its code.
  ///
  /// It shows the address to which the mail with the code went.
  func page(policy: IdentityPolicy, problem: String?, of found: FoundCode) -> String {
    if kind == .emailSignIn { return ActionText.page(title, []) }
    var parts: [String] = []
    if let problem { parts.append("<p role=alert>\(ActionText.escaped(problem))</p>") }
    if case .usable(let found) = found, found.kind == kind {
      let address = kind == .verifyAndChangeEmail ? found.newEmail : found.email
      parts += address.map { ["<p>Address: <b>\(ActionText.escaped($0))</b></p>"] } ?? []
    }
    var inputs = hidden("mode", kind.mode) + hidden("oobCode", code)
    if let next { inputs += hidden("continueUrl", next) }
    if kind == .recoverEmail {
      parts.append(
        "<p>Whoever changed the address may know your password, so it does not count any more. Choose a new one "
          + "here, or leave it empty and choose one later.</p>")
    }
    if kind == .passwordReset || kind == .recoverEmail {
      let required = kind == .passwordReset ? "required " : ""
      inputs +=
        "<label>New password, at least \(policy.passwordLengthMin) characters<br>"
        + "<input name=newPassword type=password autocomplete=new-password \(required)"
        + "minlength=\(policy.passwordLengthMin)></label><br>"
    }
    parts.append("<form method=post>\(inputs)<button>\(title)</button></form>")
    return ActionText.page(title, parts)
  }

  private func hidden(_ name: String, _ value: String) -> String {
    "<input type=hidden name=\"\(name)\" value=\"\(ActionText.escaped(value))\">"
  }

  private static let newAccount =
    "This address belongs to a new account now, with this password."
  private static let earlierAccount =
    "The account that had it before had not confirmed it. That one keeps its data, and has neither an address nor a "
    + "password: the link in the message to its former address takes that back, and a message then sets a new password."

  /// Returns the page after the code was used, with a link that leads on if that is allowed.
  func success(policy: IdentityPolicy, isOfNewAccount: Bool) -> String {
    let success = isOfNewAccount ? ActionForm.newAccount : success
    let more = isOfNewAccount ? ["<p>\(ActionForm.earlierAccount)</p>"] : []
    guard let next, next.hasPrefix("https://") || next.hasPrefix("http://"),
      let host = IdentityDecider.host(of: next),
      host == "localhost" || policy.continueHosts.contains(host)
    else { return ActionText.page(success, more) }
    return ActionText.page(
      success, more + ["<p><a href=\"\(ActionText.escaped(next))\">Go on</a></p>"])
  }
}

/// The texts of the page for mailed links.
enum ActionText {
  /// Returns a page of a title and parts of HTML.
  static func page(_ title: String, _ parts: [String]) -> String {
    """
    <!doctype html><html lang=en><meta charset=utf-8>\
    <meta name=viewport content="width=device-width"><title>\(escaped(title))</title>\
    <style>body{font:1em/1.5 sans-serif;max-width:30em;margin:3em auto;padding:0 1em}\
    input,button{font:inherit;padding:.4em;margin:.5em 0}</style>\
    <h1>\(escaped(title))</h1>\(parts.joined())</html>

    """
  }

  static func escaped(_ text: String) -> String {
    var result = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }

  private static let unusable = "This link was used before, or is not valid: ask for a new one."

  /// The page for a link whose code cannot be used.
  static var unusablePage: String {
    page("This link was used before, has expired, or is not valid: ask for a new one.", [])
  }

  /// Returns an error of the API in words.
  static func problem(_ message: String) -> String {
    switch message.prefix(while: { $0 != " " }) {
    case "INVALID_OOB_CODE": return unusable
    case "EXPIRED_OOB_CODE": return "This link has expired: ask for a new one."
    case "EMAIL_EXISTS": return "Another account has this address."
    case "USER_DISABLED": return "This account is disabled."
    default:
      let start = message.firstRange(of: " : ")?.upperBound
      return start.map { message[$0...] + "." } ?? "That did not work: ask for a new link."
    }
  }
}
