import ArgumentParser
import RunnelApp
import RunnelWorkspace

/// `runnel generate-manual`: writes the manual page from the commands and the keys.
///
/// `make manual` runs it when they have changed.
struct GenerateManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate-manual", abstract: "Print the manual page.", shouldDisplay: false)

  func run() throws {
    var page = ManualPage(try .program(), keymap: ConfigurationFile().settings.keymap)
    try StandardOutput.write(page.text())
  }
}
