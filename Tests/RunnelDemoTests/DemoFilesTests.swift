import Foundation
import Testing

@testable import RunnelDemo

/// The demo's files in `Resources/demo`.
enum DemoFixture {
  /// The folder of the demo's files of this checkout.
  static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Resources/demo")

  /// The texts of the project.
  static let texts: DemoTexts = {
    do {
      let file = folder.appendingPathComponent("demo.texts.json")
      return try DemoTexts(parsing: [UInt8](Data(contentsOf: file)))
    } catch {
      fatalError("Resources/demo/demo.texts.json: \(error)")
    }
  }()
}

@Suite struct DemoFilesTests {
  @Test func committedDemoHasTheBytesThatTheGeneratorMakes() throws {
    let committed = try Data(
      contentsOf: DemoFixture.folder.appendingPathComponent("demo.json"))
    let demo = DemoData(
      DemoFixture.texts, seed: 1, messageCount: 2_400, endingAt: 1_788_111_900_000)
    var bytes: [UInt8] = []
    demo.write { bytes += $0 }
    #expect(committed == Data(bytes + [UInt8(ascii: "\n")]), "run `make demo-data`")
  }
}
