import Foundation
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Each screen in each size, in ASCII, without colours and with wide texts, as files that are read by
/// people: `Screens/NAME.scenario` says what is done, `Screens/NAME.screen` what is then to be seen.
///
/// `make screens` writes the files anew; what it changed is to be read before it is kept.
@Suite struct GoldenScreenTests {
  @Test(arguments: ScenarioFile.files(in: "Screens"))
  func screenIsAsItWas(scenario: ScenarioFile) throws {
    var drawn = ""
    for part in GoldenPart.allCases {
      let player = try ScenarioPlayer(scenario, as: part.variant)
      try player.play()
      drawn += part.layers(of: player.app)
    }
    let file = GoldenFile.place(of: scenario)
    if GoldenFile.isUpdating {
      return try drawn.write(to: file, atomically: true, encoding: .utf8)
    }
    let expected = try String(contentsOf: file, encoding: .utf8)
    if let difference = GoldenFile.difference(expected, drawn) {
      Issue.record(
        "\(scenario.name) is drawn otherwise; `make screens` if that is meant. \(difference)")
    }
  }

  @Test func eachScenarioHasItsScreensAndEachScreenItsScenario() throws {
    let folder = ScenarioFile.tests.appendingPathComponent("Screens").path
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    func stems(_ ending: String) -> Set<String> {
      Set(names.filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) })
    }
    #expect(stems(".scenario") == stems(".screen"))
    #expect(!names.isEmpty)
  }
}
