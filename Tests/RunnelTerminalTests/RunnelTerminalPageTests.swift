import RunnelTerminal
import Testing

/// The example of the catalog runs.
@Suite struct RunnelTerminalPageTests {
  @Test func titleAndHintsStandOnTheScreen() {
    let screen = MemoryScreen(size: TerminalSize(columns: 20, rows: 2))
    #expect(drawTitle("Roster", on: screen) == ["  Roster", "q quits       1 of 3"])
  }
}
