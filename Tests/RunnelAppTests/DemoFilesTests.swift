import Foundation
import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp

@Suite struct DemoFilesTests {
  @Test func committedDemoIsWhatTheGeneratorMakes() throws {
    let file = Fixture.resources.appendingPathComponent("demo/demo.json")
    let committed = try JSONValue(parsing: String(contentsOf: file, encoding: .utf8))
    let demo = DemoData(seed: 1, messageCount: 2_400, endingAt: 1_788_111_900_000)
    #expect(committed == demo.json(), "generate Resources/demo/demo.json anew")
  }
}
