import ArgumentParser
import Foundation
import Glibc
import RunnelAccounts
import RunnelApp
import RunnelBase
import RunnelClient
import RunnelSync
import RunnelTree
import RunnelWorkspace

/// A server's database that the command line names, by its address or by the name of a profile.
struct OriginChoice {
  let address: OriginAddress
  /// The profile, or nil if the address was given.
  let profile: OriginProfile?
  private let given: OriginArguments

  /// Reads the name of a database: an address, `NAME`, `NAME:` or `NAME:/PLACE`; nil for the name of a file.
  ///
  /// - Throws: `Failure` of usage if the name is that of a file and of a profile, or if there is no such
  ///   profile; `ConfigurationError` for a profile with a mistake.
  init?(_ text: String, _ arguments: OriginArguments) throws {
    given = arguments
    if OriginAddress.isMeant(by: text) {
      do throws(TreeError) {
        (address, profile) = (try OriginAddress(text), nil)
      } catch {
        throw Failure(error.message, status: .usage)
      }
      return
    }
    let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(halves[0])
    let place = halves.count > 1 ? String(halves[1]) : nil
    guard OriginProfile.isName(name), place.map({ $0.isEmpty || $0.hasPrefix("/") }) ?? true else {
      return nil
    }
    let configuration = OriginChoice.configuration
    guard let profile = try configuration.origins.profile(named: name) else {
      if place == nil || OriginChoice.isFile(text) { return nil }
      throw Failure(
        "There is no profile \(name)\(OriginChoice.question(for: name)): the configuration file has the "
          + "profiles under `origins`; `runnel config path` prints where it is.", status: .usage)
    }
    if place == nil, OriginChoice.isFile(name) {
      throw Failure(
        "\(name) is the name of a file and of a profile: write ./\(name) for the file, and \(name): "
          + "for the profile.", status: .usage)
    }
    address = try profile.address.appending(place.map { try Path($0) } ?? .root)
    self.profile = profile
  }

  /// The names of all profiles.
  static var names: [String] { configuration.origins.names }

  /// The most profiles that a message names.
  private static let namedMax = 20

  /// Returns the words that there is no profile of a name, with those that there are; nil if there are none, or
  /// if it cannot be the name of one.
  static func profiles(without name: String) -> String? {
    let names = names.prefix(namedMax)
    guard OriginProfile.isName(name), !names.isEmpty else { return nil }
    return "there is no profile \(name), but \(names.joined(separator: ", "))"
  }

  /// Returns the question whether a profile was meant; empty if no profile has a similar name.
  static func question(for word: String) -> String {
    Spelling.nearest(to: word, among: names).map { " (did you mean the profile \($0)?)" } ?? ""
  }

  private static var configuration: ConfigurationFile {
    ConfigurationFile.path(environment: ProcessInfo.processInfo.environment)
      .map { ConfigurationFile(file: $0) } ?? ConfigurationFile()
  }

  private static func isFile(_ name: String) -> Bool { Glibc.access(name, F_OK) == 0 }

  /// The name of the database in messages.
  var name: String { profile?.name ?? address.name }

  /// The name of the database in commands that a message names: a shell would change an address with `?`.
  var word: String { ShellText.quoted(name) }

  /// The command that sends what waits; at a Feathers server that is an open workspace only.
  var sendingCommand: String {
    address.hasServices ? "runnel open \(word)" : "runnel sync push \(word)"
  }

  /// The options for access: those of the command line, or else those of the profile.
  var arguments: OriginArguments {
    var arguments = given
    arguments.tokenFile = arguments.tokenFile ?? profile?.tokenFile
    arguments.trustedFile = arguments.trustedFile ?? profile?.trustedFile
    return arguments
  }

  /// Returns the access: by the credentials of the options, or else as the user who is signed in.
  ///
  /// - Throws: `Failure` if the credentials, or the session's file, cannot be read.
  func access() throws -> OriginAccess {
    let arguments = arguments
    if try arguments.credentials() == nil, let access = try AccountPlace.known(self)?.access() {
      return access
    }
    return try arguments.access()
  }

  /// Returns what a workspace needs to show the database: by the credentials of the options, or else
  /// with the accounts, as the user who is signed in.
  ///
  /// - Throws: `Failure` if the credentials, or the account's file, cannot be read.
  func wish() throws -> OriginWish {
    if address.hasServices { return try servicesWish() }
    let arguments = arguments
    if let credentials = try arguments.credentials() {
      var wish = OriginWish(address, as: arguments.access(by: credentials), arguments.options)
      wish.notice = sharedFileNotice
      return wish
    }
    var wish = OriginWish(address, as: .nobody, arguments.options)
    if let place = AccountPlace.known(self) {
      // The data of a user whose session was ended stays readable, but not on a device that was taken away.
      let (signedIn, ended) = (try place.signedIn(), place.ended)
      wish.user = signedIn?.user.id ?? (ended?.isRevoked == true ? nil : ended?.user.id)
      if signedIn == nil, let ended, ended.isRevoked { wish.notice = place.nobody.message }
      wish.accounts = place.home
    }
    return wish
  }

  /// The notice about pending writes in a replica that users of tokens once shared; nil if there
  /// are none.
  var sharedFileNotice: String? {
    let environment = ProcessInfo.processInfo.environment
    return ReplicaFolder.sharedFile(for: address, environment: environment)?.notice
  }

  /// The place of the lists of users' devices, also if the address of a profile was given; nil if this
  /// device is in none.
  var devices: Path? {
    if let profile { return profile.devices }
    let origins = OriginChoice.configuration.origins
    for name in origins.names {
      // A profile with a mistake is told where it is named.
      guard let known = try? origins.profile(named: name), known.address.name == address.name else {
        continue
      }
      if let devices = known.devices { return devices }
    }
    return nil
  }

  /// Whether the user is asked before data are replaced.
  var confirms: Bool { profile?.mark.confirms ?? false }

  /// Checks that the database may be written.
  ///
  /// - Throws: `Failure` if the profile is read-only.
  func requireWriting() throws {
    guard let profile, profile.mark.isReadOnly else { return }
    throw Failure(
      "\(profile.name) is read-only, as set in its profile in the configuration. Nothing was changed."
    )
  }
}

/// Completes the names of databases in a shell: profiles and files.
enum DatabaseCompletion {
  private static let countMax = 200

  /// Completes profiles only.
  static let profiles = CompletionKind.custom { _, _, _ in OriginChoice.names }

  /// Completes profiles and files.
  static let all = CompletionKind.custom { _, _, start in
    OriginChoice.names.filter { $0.hasPrefix(start) } + files(start)
  }

  private static func files(_ start: String) -> [String] {
    let folder = start.lastIndex(of: "/").map { String(start[...$0]) } ?? ""
    guard let directory = opendir(folder.isEmpty ? "." : folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while names.count < countMax, let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard let name, name != ".", name != "..", (folder + name).hasPrefix(start) else { continue }
      names.append(folder + name + (entry.pointee.d_type == UInt8(DT_DIR) ? "/" : ""))
    }
    return names.sorted()
  }
}
