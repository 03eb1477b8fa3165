import ArgumentParser
import Foundation
import RunnelDatabase
import RunnelDemo

/// `runnel generate-demo`: writes the demo's data to standard output.
struct GenerateDemoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate-demo",
    abstract: "Write the demo's data as JSON.",
    discussion: "The same options and the same demo/demo.texts.json give the same bytes.",
    shouldDisplay: false)

  /// The valid times: from the first moment after 1990 that the generator accepts to the end of the
  /// year 9999.
  private static let untilRange: ClosedRange<Int64> = 631_152_000_001...253_402_300_799_999

  @Option(help: ArgumentHelp("How many messages the main group has.", valueName: "count"))
  var messages = 2_400
  @Option(help: ArgumentHelp("What all chance comes from.", valueName: "number"))
  var seed: UInt64 = 1
  @Option(
    help: ArgumentHelp(
      "When the last message was written, in milliseconds since 1970 (default: now).",
      valueName: "ms"))
  var until: Int64?

  func validate() throws {
    guard 0...DemoData.messageCountMax ~= messages else {
      throw ValidationError("--messages is from 0 to \(DemoData.messageCountMax).")
    }
    if let until, !(GenerateDemoCommand.untilRange ~= until) {
      throw ValidationError("--until is in milliseconds since 1970, from 1990 to the year 9999.")
    }
  }

  func run() throws {
    let demo = DemoData(
      try texts(), seed: seed, messageCount: messages,
      endingAt: until ?? DatabaseEnvironment.system.now())
    try demo.write { try StandardOutput.write($0) }
    try StandardOutput.write("\n")
  }

  private func texts() throws -> DemoTexts {
    let path = try DemoFile.texts.path()
    do {
      return try DemoTexts(parsing: [UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
    } catch let error as DemoTextsError {
      throw Failure("\(path): \(error).")
    }
  }
}
