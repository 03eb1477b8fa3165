import ArgumentParser
import RunnelPostgres

/// `runnel store migrate`: brings the tables to the version of this program.
struct MigrateStoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Bring the tables of a store to this program's version, while servers run.",
    discussion: """
      Each step is a transaction of its own, and waits for the transactions of others for fractions of a \
      second at a time, so that servers hardly wait for it. It tells for whom it waits, such as an export, \
      and gives up after two minutes. Servers of the version before go on; replace them one by one \
      afterwards. The role needs the rights to change the tables, as for `runnel store init`.
      """)

  @OptionGroup var option: StoreOption

  func run() throws {
    let store = try option.opened()
    defer { store.close() }
    let versions = try store.migrate { StandardError.say($0) }
    try store.checkVersion()
    let name = store.connection.name
    try StandardOutput.say(
      versions.before == versions.after
        ? "The tables of \(name) are of version \(versions.after), as this program needs them.\n"
        : "The tables of \(name) were of version \(versions.before), and are of \(versions.after) now.\n"
    )
  }
}
