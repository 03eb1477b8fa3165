import RunnelTerminal
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Sessions with the workspace, one for each file of `Scenarios`.
@Suite struct ScenarioTests {
  @Test(arguments: ScenarioFile.all) func sessionGoesAsWritten(file: ScenarioFile) throws {
    try ScenarioPlayer(file).play()
  }

  @Test func thereIsAScenarioForEachAction() throws {
    var played: Set<ActionID> = []
    for file in ScenarioFile.all {
      let player = try ScenarioPlayer(file)
      try player.play()
      played.formUnion(player.actions)
    }
    let all = Set(Commands.keymap.bindings.map(\.action))
    // What ends the program is tried in a process of its own.
    let missing = all.subtracting(played).subtracting([.appCrash]).map(\.rawValue).sorted()
    #expect(missing.isEmpty, "no scenario strikes the keys of \(missing)")
  }
}
