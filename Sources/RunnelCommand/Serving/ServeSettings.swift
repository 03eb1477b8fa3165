import RunnelApp
import RunnelNetwork
import RunnelPostgres
import RunnelServer

/// The settings of a server: those of the command line, and those of a file, which the command line
/// overrides.
struct ServeSettings {
  /// The name of the command line's argument in a file of settings.
  private static let fileName = "file"

  private var values: [String: ServeValue] = [:]

  /// Takes the values of the command line.
  init(file: String?, _ groups: [[String: ServeValue]]) {
    for group in groups { values.merge(group) { first, _ in first } }
    if let file { values[Self.fileName] = ServeValue(texts: [file], place: "the file") }
  }

  /// Takes the values of a file of settings that the command line does not have.
  ///
  /// - Throws: `ConfigurationError` with the line of the mistake.
  mutating func take(settingsFile: String) throws {
    let names = ServeOption.all.map(\.name) + [Self.fileName]
    let slash = settingsFile.lastIndex(of: "/")
    let folder = slash.map { String(settingsFile[...$0]) } ?? ""
    let places = [Self.fileName, "databases", "store"]
    let namesDatabase = places.contains { values[$0] != nil }
    for setting in try SettingValues(file: settingsFile, names: names).settings {
      // A command line that names the database overrides every such setting of the file.
      let isPlace = places.contains(setting.name)
      if values[setting.name] != nil || isPlace && namesDatabase { continue }
      var value = ServeValue(texts: setting.texts, place: "\(setting.place): \(setting.name)")
      let option = ServeOption.all.first { $0.name == setting.name }
      if option?.kind != .list, value.texts.count != 1 {
        throw value.failure("one value is expected, not a list.")
      }
      if value.text.isEmpty {
        throw value.failure(
          "a value is expected behind the colon: write one, or leave out the line.")
      }
      let isPath: Bool =
        switch option?.kind ?? .file {
        case .file, .folder: true
        case .fileOrAddress: !value.text.contains("://")
        case .flag, .text, .list: false
        }
      if isPath, value.text.hasPrefix("~") {
        throw value.failure(
          "~ is not expanded here: write the whole path, or ./\(value.text) for a name that begins so."
        )
      }
      if isPath, !value.text.hasPrefix("/") { value.texts = [folder + value.text] }
      values[setting.name] = value
    }
  }

  /// Returns the configuration of the server.
  ///
  /// - Throws: `Failure` that names the value that cannot be used, and its place.
  func configuration() throws -> ServerConfiguration {
    var configuration = ServerConfiguration(try databases())
    for option in ServeOption.all {
      if let value = values[option.name] { try option.apply?(value, &configuration) }
    }
    if let names = values["store"] {
      configuration.otherStores = Array(try stores(names).dropFirst())
    }
    configuration.tls = try tls()
    configuration.backups = try backups()
    configuration.accounts?.mailServer?.login = try mailLogin()
    if let value = values["smtp-user"] ?? values["smtp-password-file"],
      configuration.accounts?.mailServer == nil
    {
      throw value.failure("this is for a server of mail: give --smtp.")
    }
    if let value = values["create-databases"], values["databases"] == nil {
      throw value.failure("databases are made in a folder: give --databases.")
    }
    if configuration.isPlainText, configuration.trustedProxies.isEmpty {
      throw Failure(
        "--plain-text is for a server behind a proxy: give --trusted-proxy and its addresses.",
        status: .usage)
    }
    return configuration
  }

  /// The options that are for files, and not for a store.
  private static let fileOptions = [
    fileName, "databases", "name", "rules", "create", "create-databases", "accounts", "backup",
  ]

  private func store(_ name: ServeValue) throws -> ServerConfiguration.Databases {
    for option in Self.fileOptions {
      if let value = values[option] {
        throw value.failure("this is for files, and not for a store.")
      }
    }
    let stores = try stores(name)
    guard let first = stores.first else { throw name.failure("give the name of a store.") }
    return .store(first)
  }

  /// The stores of the option, the first one with the accounts.
  private func stores(_ names: ServeValue) throws -> [StoreConfiguration] {
    if let address = values["advertise"], let fault = ClientAddress.fault(of: address.text) {
      throw address.failure(fault)
    }
    var stores: [StoreConfiguration] = []
    for name in names.texts {
      if stores.contains(where: { $0.name == name }) {
        throw names.failure("\(name) is given twice.")
      }
      let place = try StoreOption.place(named: name)
      stores.append(
        StoreConfiguration(
          name: name, connection: place.text, address: values["advertise"]?.text))
    }
    return stores
  }

  private func databases() throws -> ServerConfiguration.Databases {
    if let store = values["store"] { return try self.store(store) }
    if let lonely = values["advertise"] {
      throw lonely.failure("this is for several servers of one store: give --store.")
    }
    if let lonely = values["store-accounts"], try lonely.isOn() {
      throw lonely.failure("this is for the servers of a store: give --store.")
    }
    if let folder = values["databases"] {
      if let file = values[Self.fileName] {
        throw file.failure("give a file, or --databases and a folder, not both.")
      }
      for name in ["name", "rules", "create"] {
        if let value = values[name] { throw value.failure("this is for a single file.") }
      }
      return .folder(folder.text)
    }
    let options = DatabaseOptions(
      database: try values[Self.fileName].map { try DatabaseOptions.fileName($0.text) }, .none)
    let creates = try values["create"]?.isOn() == true
    // Checked before a file is made.
    let name = try values["name"].map(ServeSettings.name)
    return .file(try options.file(for: creates ? .create : .createDefault), name: name)
  }

  /// The name of the database; as in names of files, large letters are small ones.
  private static func name(_ value: ServeValue) throws -> String {
    let name = value.text.lowercased()
    guard DatabaseNames.isValid(name) else {
      throw value.failure(
        "\(value.text) is no name of a database: give 1 to 63 of a to z, 0 to 9 and -.")
    }
    return name
  }

  private func tls() throws -> TLSFiles? {
    switch (values["tls-cert"], values["tls-key"]) {
    case (nil, nil): return nil
    case (let certificate?, let key?):
      return TLSFiles(certificate: certificate.text, key: key.text)
    case (let one?, nil), (nil, let one?):
      throw one.failure("--tls-cert and --tls-key go together.")
    }
  }

  private func mailLogin() throws -> MailServer.Login? {
    switch (values["smtp-user"], values["smtp-password-file"]) {
    case (nil, nil): return nil
    case (let user?, let file?):
      let bytes = try file.reading { () throws -> [UInt8] in
        guard let name = FileName(argument: file.text) else { throw Failure("name a file.") }
        return try InputDocument(name, .text(bytesMax: 65_536)).withBytes { Array($0) }
      }
      let line = String(decoding: bytes.prefix { $0 != 10 && $0 != 13 }, as: UTF8.self)
      if line.isEmpty { throw file.failure("\(file.text) has no password in its first line.") }
      return MailServer.Login(user: user.text, password: line)
    case (let one?, nil), (nil, let one?):
      throw one.failure("--smtp-user and --smtp-password-file go together.")
    }
  }

  private func backups() throws -> BackupPlan? {
    guard let folder = values["backup"] else {
      guard let lonely = values["every"] ?? values["keep"] else { return nil }
      throw lonely.failure("--every and --keep are for backups: give --backup and a folder.")
    }
    return BackupPlan(
      folder: folder.text, everyMilliseconds: try values["every"]?.milliseconds() ?? 86_400_000,
      keep: try values["keep"]?.count())
  }
}
