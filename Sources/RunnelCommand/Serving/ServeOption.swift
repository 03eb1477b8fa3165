import ArgumentParser
import RunnelNetwork
import RunnelServer

/// An option of `runnel serve`, which has the same name in the command line and in a file of
/// settings.
///
/// The tables below are the only place that lists the options.
struct ServeOption: Sendable {
  /// The kind of value of an option.
  enum Kind: Hashable, Sendable {
    /// No value: the option is given or not; true or false in a file.
    case flag
    /// A text.
    case text
    /// A file; relative to the file of settings if it is given there.
    case file
    /// A folder; relative to the file of settings if it is given there.
    case folder
    /// A file, or an address on the web.
    case fileOrAddress
    /// A list: a text each time that the option is given; a list in a file.
    case list
  }

  typealias Apply = @Sendable (ServeValue, inout ServerConfiguration) throws -> Void

  let name: String
  let kind: Kind
  /// The name of the value in the help.
  let valueName: String
  let help: String
  /// Applies the value; nil for an option that `ServeSettings` combines with others.
  let apply: Apply?

  init(
    _ name: String, _ kind: Kind, _ valueName: String, _ help: String, apply: Apply? = nil
  ) {
    (self.name, self.kind, self.valueName) = (name, kind, valueName)
    (self.help, self.apply) = (help, apply)
  }

  private init(flag name: String, _ help: String, apply: Apply? = nil) {
    self.init(name, .flag, "", help, apply: apply)
  }

  /// All options.
  static let all = serving + access + accounts + backups + limits + log

  // MARK: The tables

  static let serving: [ServeOption] = [
    ServeOption("databases", .folder, "folder", "Serve each NAME.db of a folder instead."),
    ServeOption(
      "store", .list, "name",
      "Serve each namespace of a store in PostgreSQL instead, or of several: see `runnel store`."),
    ServeOption(
      "advertise", .text, "address",
      "The address of this server for clients, HOST:PORT: servers of a store send clients there."),
    ServeOption(
      "name", .text, "name", "The name of the database (default: that of the file)."),
    ServeOption(
      flag: "create", "Make the database if it does not exist; the default one is made in any case."
    ),
    ServeOption(
      "listen", .list, "address",
      "The address to listen on, HOST:PORT or PORT of localhost (default: localhost:9000); may be given more than once."
    ) { value, configuration in
      for text in value.texts { try value.reading { try NetworkAddress.check(text) } }
      configuration.listen = value.texts
    },
    ServeOption(
      "admin", .text, "address",
      "The address for administrators besides the socket, HOST:PORT of this machine."
    ) { value, configuration in
      try value.reading { try NetworkAddress.check(value.text) }
      configuration.adminAddress = value.text
    },
    ServeOption(
      flag: "plain-text",
      "Serve other machines without TLS, behind a proxy that has it; needs --trusted-proxy."
    ) { $1.isPlainText = try $0.isOn() },
    ServeOption(
      "trusted-proxy", .list, "addresses",
      "The proxies whose X-Forwarded headers are trusted, like 10.0.0.0/8; may be given more than once."
    ) { value, configuration in
      configuration.trustedProxies = try value.texts.map { text in
        try value.reading { try AddressRange(text) }
      }
    },
    ServeOption(
      "services", .list, "collection",
      "Serve a collection as a service of Feathers: PATH[=PLACE][,multi]; may be given more than once."
    ) { value, configuration in
      configuration.services.collections = try value.texts.map { text in
        try value.reading { try ServedCollection(text) }
      }
      try value.checkNoneTwice(configuration.services.collections)
    },
    ServeOption(
      "service-page", .text, "count",
      "The records of a page of a service, if a query names no number (default: 10)."
    ) { $1.services.pageStandard = try $0.count() },
    ServeOption(
      "service-page-max", .text, "count",
      "The most records of a page of a service (default: 50)."
    ) { $1.services.pageMax = try $0.count() },
  ]

  static let access: [ServeOption] = [
    ServeOption("rules", .file, "file", "The file of the security rules.") {
      $1.rulesFile = $0.text
    },
    ServeOption(
      "trial-rules", .file, "file",
      "Log what the rules of a file would deny, and do it all the same."
    ) { $1.trialRulesFile = $0.text },
    ServeOption("tls-cert", .file, "file", "The file of the certificate for TLS, in PEM."),
    ServeOption("tls-key", .file, "file", "The file of the certificate's key, in PEM."),
    ServeOption(
      flag: "emulator",
      "Accept credentials without proof, for tests; only this machine can connect."
    ) { $1.isEmulator = try $0.isOn() },
    ServeOption(
      "create-databases", .text, "count",
      "The most databases of the folder up to which writes may make further ones."
    ) { $1.creationsMax = try $0.count() },
    ServeOption("host-name", .list, "name", "A further host name of this machine.") {
      $1.hostNames = $0.texts
    },
    ServeOption(
      "allow-origin", .list, "origin", "A web origin whose pages may use the server."
    ) { $1.allowedOrigins = $0.texts },
    ServeOption(
      "keys", .fileOrAddress, "place",
      "The public keys that verify tokens: a file or an https address (default: Google's)."
    ) { $1.keys = $0.text },
    ServeOption("project", .text, "name", "The project whose tokens are accepted.") {
      $1.project = $0.text
    },
  ]

  static let accounts: [ServeOption] = [
    ServeOption(
      "accounts", .file, "file",
      "Serve accounts, by which clients sign up and sign in; the file is made if it does not exist."
    ) { $1.accounts = AccountsConfiguration(file: $0.text) },
    ServeOption(
      flag: "store-accounts",
      "Serve accounts that are kept in the store, for all servers of it; needs --issuer."
    ) { if try $0.isOn() { $1.accounts = .inStore } },
    ServeOption(
      "issuer", .text, "address",
      "The address of the server for its clients, which is the issuer of tokens; https://HOST."
    ) { try $0.forAccounts(&$1) { $0.issuer = try $1.webAddress() } },
    ServeOption(
      "password-min-length", .text, "count",
      "The least number of characters of a password (default: 8; 6 with --emulator)."
    ) { try $0.forAccounts(&$1) { $0.passwordLengthMin = try $1.count() } },
    ServeOption(
      "mail-link", .text, "address",
      "The page of an application to which mailed links lead (default: a page of the server)."
    ) { try $0.forAccounts(&$1) { $0.actionURL = try $1.webAddress() } },
    ServeOption(
      "smtp", .text, "address",
      "The server of mail, HOST:PORT (default port: 587); it has to offer encryption."
    ) { try $0.forAccounts(&$1) { $0.mailServer = try $1.mailServer() } },
    ServeOption("smtp-user", .text, "name", "The user at the server of mail."),
    ServeOption(
      "smtp-password-file", .file, "file",
      "The file whose first line is the password at the server of mail."),
    ServeOption(
      "mail-from", .text, "address", "The address from which mails come, or 'Name <address>'."
    ) { value, configuration in
      try value.reading { try AccountsConfiguration.check(sender: value.text) }
      try value.forAccounts(&configuration) { $0.mailSender = $1.text }
    },
    ServeOption(
      "mail-folder", .folder, "folder",
      "The folder in which mails are written (default: beside the accounts)."
    ) { try $0.forAccounts(&$1) { $0.mailFolder = $1.text } },
  ]

  static let backups: [ServeOption] = [
    ServeOption(
      "backup", .folder, "folder", "Make backups in this folder, as `runnel backup` does."),
    ServeOption(
      "every", .text, "time", "The interval of backups: 30m, 6h, 1d (default: 1d)."),
    ServeOption(
      "keep", .text, "count", "The number of backups of a database to keep (default: all)."),
  ]

  static let limits = ServerLimit.all.map { limit in
    let value =
      switch limit.unit {
      case .count: "count"
      case .bytes: "bytes"
      case .milliseconds: "time"
      }
    let help = limit.help.dropLast()
    return ServeOption(
      limit.name, .text, value, "\(help) (default: \(limit.text(of: limit.standard)))."
    ) { value, configuration in
      // The default may be written too.
      if limit.standard == nil, value.text == limit.text(of: nil) { return }
      limit.set(try value.reading { try limit.value(value.text) }, in: &configuration)
    }
  }

  static let log: [ServeOption] = [
    ServeOption(
      "log-addresses", .text, "how",
      "The form of client addresses in the log: full, short (without the last part) or none."
    ) { value, configuration in
      guard let addresses = LoggedAddresses(rawValue: value.text) else {
        throw value.failure("give full, short or none.")
      }
      configuration.loggedAddresses = addresses
    },
    ServeOption(
      flag: "no-access-log", "Do not log requests and connections."
    ) {
      $1.logsRequests = try !$0.isOn()
    },
  ]
}

/// The value given for an option, and the place where it was given.
struct ServeValue: Sendable {
  /// The texts of the value, at least one.
  var texts: [String]
  /// The place, for messages: `--max-write`, or `serve.yaml:3: max-write`.
  var place: String

  /// The text of the value, if the option takes a single one.
  var text: String { texts.last ?? "" }

  /// Returns the failure for a value that cannot be used.
  func failure(_ message: String) -> Failure {
    Failure("\(place): \(message)", status: .usage)
  }

  /// Runs `body`, and reports its errors with the place.
  func reading<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as Failure {
      throw failure(error.message)
    } catch {
      throw failure("\(error)")
    }
  }

  /// Checks that no service is there twice.
  func checkNoneTwice(_ collections: [ServedCollection]) throws {
    var known: Set<String> = []
    for collection in collections where !known.insert(collection.service).inserted {
      throw failure("\(collection.service) is given twice.")
    }
  }

  /// Changes the configuration of the accounts.
  ///
  /// - Throws: `Failure` if there are none.
  func forAccounts(
    _ configuration: inout ServerConfiguration,
    _ body: (inout AccountsConfiguration, ServeValue) throws -> Void
  ) throws {
    guard var accounts = configuration.accounts else {
      throw failure("this is for accounts: give --accounts and a file, or --store-accounts.")
    }
    try body(&accounts, self)
    configuration.accounts = accounts
  }

  /// The address of a server on the web, without a slash at its end.
  func webAddress() throws -> String {
    let address = text.hasSuffix("/") ? String(text.dropLast()) : text
    if address.contains(where: { "?#".contains($0) }) {
      throw failure(
        "an address here has neither a query nor a fragment: leave out what follows ? or #.")
    }
    guard let start = ["https://", "http://"].first(where: address.hasPrefix),
      address.utf8.count > start.utf8.count, !address.contains(" ")
    else { throw failure("give an address like https://chat.example.") }
    return address
  }

  /// The server of mail that the text names.
  func mailServer() throws -> MailServer {
    let colon = text.lastIndex(of: ":").flatMap { text.hasSuffix("]") ? nil : $0 }
    let host = String(text[..<(colon ?? text.endIndex)])
    let port = colon.map { Int(text[text.index(after: $0)...]) } ?? MailServer.defaultPort
    guard let port, (1...65_535).contains(port), !host.isEmpty else {
      throw failure("give HOST or HOST:PORT.")
    }
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    return MailServer(host: isBracketed ? String(host.dropFirst().dropLast()) : host, port: port)
  }

  func isOn() throws -> Bool {
    switch text {
    case "true", "on", "yes": return true
    case "false", "off", "no": return false
    default: throw failure("give true or false.")
    }
  }

  func count() throws -> Int {
    guard let number = Int(text), number > 0 else { throw failure("give a number from 1.") }
    return number
  }

  /// Returns a time in milliseconds; the text is a number from 1 with s, m, h or d.
  func milliseconds() throws -> Int64 {
    let factors: [Character: Int64] = ["s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
    guard let unit = text.last.flatMap({ factors[$0] }), let number = Int64(text.dropLast()),
      number > 0, !number.multipliedReportingOverflow(by: unit).overflow
    else { throw failure("give a time like 30m, 6h or 1d.") }
    return number * unit
  }
}
