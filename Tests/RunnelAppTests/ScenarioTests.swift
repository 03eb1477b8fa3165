import RunnelTerminal
import Synchronization
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Sessions with the workspace, one for each file of `Scenarios`.
@Suite struct ScenarioTests {
  /// The actions of each scenario that was played, so that none is played twice.
  private static let played = Mutex<[String: Set<ActionID>]>([:])

  /// Plays a scenario; returns its actions.
  @discardableResult
  private func play(_ file: ScenarioFile) throws -> Set<ActionID> {
    let player = try ScenarioPlayer(file)
    try player.play()
    let actions = player.actions
    Self.played.withLock { $0[file.name] = actions }
    return actions
  }

  @Test(arguments: ScenarioFile.all) func sessionGoesAsWritten(file: ScenarioFile) throws {
    try play(file)
  }

  @Test func thereIsAScenarioForEachAction() throws {
    var played: Set<ActionID> = []
    for file in ScenarioFile.all {
      let known = Self.played.withLock { $0[file.name] }
      played.formUnion(try known ?? play(file))
    }
    let all = Set(Commands.keymap.bindings.map(\.action))
    // What ends the program is tried in a process of its own.
    let missing = all.subtracting(played).subtracting([.appCrash]).map(\.rawValue).sorted()
    #expect(missing.isEmpty, "no scenario strikes the keys of \(missing)")
  }
}
