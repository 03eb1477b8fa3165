import ArgumentParser
import RunnelBase
import RunnelServer

/// `runnel accounts export`: writes all accounts, with the hashes of their passwords.
struct ExportAccountsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write all accounts as JSON, with the hashes of their passwords.",
    discussion: """
      Keep the output secret: whoever has the hashes can guess passwords. A file after --to is \
      readable by you only.
      """)

  @OptionGroup var accounts: AccountsFileArgument
  @Option(
    help: ArgumentHelp("The new file (default: standard output).", valueName: "file"),
    completion: .file())
  var to: String?

  func run() throws {
    try accounts.with { accounts in
      guard let to else {
        try ExportAccountsCommand.write(accounts) { try StandardOutput.say($0) }
        return
      }
      var text = ""
      try ExportAccountsCommand.write(accounts) { text += $0 }
      try SecretFile.write(Array(text.utf8), to: to)
    }
  }

  private static func write(
    _ accounts: AccountAdministration, _ say: (String) throws -> Void
  ) throws {
    var separator = "{\"users\":[\n"
    try accounts.forEach(hasHashes: true) { account in
      try say(separator + account.jsonText())
      separator = ",\n"
    }
    try say(separator == ",\n" ? "\n]}\n" : separator + "]}\n")
  }
}

/// `runnel accounts import`: reads accounts of this or another server.
struct ImportAccountsCommand: ParsableCommand, FileNaming {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Read accounts from JSON: an export, or that of Firebase.",
    discussion: """
      The file is an object with a list `users`. The hashes of an export name their function \
      themselves. For those of other services give --hash-algo and its parameters, with the names \
      and values that `firebase auth:import` has: SCRYPT (Firebase's own, with --hash-key-file, \
      --salt-separator, --rounds and --mem-cost), STANDARD_SCRYPT, PBKDF2_SHA256, HMAC_SHA256. \
      Other functions are refused. A hash is replaced by one of ours when its user signs in.

      Accounts that cannot be read are listed, and the others are imported.

      Examples:
        runnel accounts import accounts.json accounts.db
        runnel accounts import users.json accounts.db --hash-algo SCRYPT --hash-key-file key.txt \
      --salt-separator Bw== --rounds 8 --mem-cost 14
      """)

  @Argument(
    help: ArgumentHelp("The file of the export; - for standard input.", valueName: "export"),
    completion: .file())
  var export: FileName
  @OptionGroup var accounts: AccountsFileArgument
  @Flag(
    help:
      "Replace accounts that exist already; their users are signed out everywhere, and are sent no mail."
  )
  var replace = false
  @Option(help: ArgumentHelp("The function of the hashes.", valueName: "name"))
  var hashAlgo: String?
  @Option(
    help: ArgumentHelp("The file with the key of the hashes, in Base64.", valueName: "file"),
    completion: .file())
  var hashKeyFile: FileName?
  @Option(help: ArgumentHelp("The separator of SCRYPT, in Base64.", valueName: "text"))
  var saltSeparator: String?
  @Option(help: ArgumentHelp("The rounds of SCRYPT or PBKDF2_SHA256.", valueName: "count"))
  var rounds: Int?
  @Option(
    help: ArgumentHelp("The cost in memory of SCRYPT or STANDARD_SCRYPT.", valueName: "count"))
  var memCost: Int?
  @Option(help: ArgumentHelp("The parallelism of STANDARD_SCRYPT.", valueName: "count"))
  var parallelization: Int?
  @Option(help: ArgumentHelp("The block size of STANDARD_SCRYPT.", valueName: "count"))
  var blockSize: Int?
  @Option(
    help: ArgumentHelp(
      "The order of HMAC_SHA256: SALT_FIRST or PASSWORD_FIRST (the default).", valueName: "order"))
  var hashInputOrder: String?

  var fileNames: [FileName] { [export] + (hashKeyFile.map { [$0] } ?? []) }

  func validate() throws {
    if let hashInputOrder, !["SALT_FIRST", "PASSWORD_FIRST"].contains(hashInputOrder) {
      throw ValidationError("--hash-input-order is SALT_FIRST or PASSWORD_FIRST.")
    }
    if hashAlgo == nil, hashKeyFile != nil || rounds != nil || memCost != nil {
      throw ValidationError("The parameters of hashes need their function: give --hash-algo.")
    }
    guard let hashAlgo, let lack = lack(of: hashAlgo) else { return }
    throw ValidationError("Hashes of \(hashAlgo) need \(lack).")
  }

  /// The first option without which no hash of a function can be read; nil for none.
  private func lack(of function: String) -> String? {
    let key = hashKeyFile == nil ? "--hash-key-file: the file with the key of the project" : nil
    let count = rounds == nil ? "--rounds" : nil
    let cost = memCost == nil ? "--mem-cost" : nil
    return switch function {
    case "SCRYPT": key ?? count ?? cost
    case "HMAC_SHA256": hashKeyFile == nil ? "--hash-key-file: the file with their key" : nil
    case "PBKDF2_SHA256": count
    case "STANDARD_SCRYPT": cost
    default: nil
    }
  }

  func run() throws {
    let document = try InputDocument(export)
    let json: JSONValue
    do {
      json = try document.withBytes { try JSONValue(parsing: $0) }
    } catch let error as JSONError {
      throw Failure("\(document.name) is no JSON: \(error)")
    }
    guard let users = json["users"]?.array else {
      throw Failure("\(document.name) has no accounts: an object with a list `users` is expected.")
    }
    let function = try function()
    var failures: [AccountAdministration.ImportFailure] = []
    try accounts.with(makesFile: true) { accounts in
      var progress = ProgressLine("import")
      failures = try accounts.importUsers(users, function: function, replaces: replace) { count in
        progress.report("\(count) of \(users.count) accounts")
        return true
      }
      progress.clear()
    }
    for failure in failures {
      let name = ImportAccountsCommand.name(of: users[failure.index], number: failure.index + 1)
      StandardError.say("\(name): \(failure.reason)")
    }
    let count = users.count - failures.count
    try StandardOutput.say(count == 1 ? "Imported 1 account.\n" : "Imported \(count) accounts.\n")
    if !failures.isEmpty {
      let isReplaceable = failures.contains { $0.reason == AccountAdministration.idIsTaken }
      throw Failure(
        "\(failures.count) of \(users.count) accounts were not imported."
          + (isReplaceable ? " With --replace those that exist already are replaced." : ""))
    }
  }

  /// The most characters of an address or id in a message.
  private static let nameMax = 80

  /// The name of an entry in messages: its address or its id, without control characters.
  private static func name(of user: JSONValue, number: Int) -> String {
    guard let name = user["email"]?.string ?? user["localId"]?.string else {
      return "Account \(number)"
    }
    let shown = name.prefix(nameMax).map { character in
      character.unicodeScalars.contains { $0.properties.generalCategory == .control }
        ? "?" : character
    }
    return String(shown) + (name.count > nameMax ? "..." : "")
  }

  private func function() throws -> JSONValue {
    guard let hashAlgo else { return .object([]) }
    var members = [JSONMember("hashAlgorithm", .string(hashAlgo))]
    if let hashKeyFile {
      let document = try InputDocument(hashKeyFile, .text(bytesMax: 65_536))
      let bytes = document.withBytes { bytes in
        bytes.filter { $0 > 0x20 }
      }
      members.append(
        JSONMember("signerKey", .string(String(decoding: bytes, as: UTF8.self))))
    }
    func add(_ name: String, _ number: Int?) {
      if let number { members.append(JSONMember(name, .number(JSONNumber(Int64(number))))) }
    }
    if let saltSeparator {
      members.append(JSONMember("saltSeparator", .string(saltSeparator)))
    }
    add("rounds", rounds)
    add("memoryCost", memCost)
    add("parallelization", parallelization)
    add("blockSize", blockSize)
    if hashInputOrder == "SALT_FIRST" {
      members.append(JSONMember("passwordHashOrder", "SALT_AND_PASSWORD"))
    }
    return .object(members)
  }
}
