import Testing

@testable import RunnelTerminal

@Suite struct ClickCounterTests {
  private func press(
    _ row: Int, _ column: Int, _ button: MouseEvent.Button = .left
  ) -> MouseEvent {
    MouseEvent(position: Position(row: row, column: column), kind: .press, button: button)
  }

  @Test func pressesOnOneCellInTimeCountOn() {
    var counter = ClickCounter()
    #expect(counter.press(press(1, 1), now: 1000) == 1)
    #expect(counter.press(press(1, 1), now: 1500) == 2)
    #expect(counter.press(press(1, 1), now: 2000) == 3)
    #expect(counter.press(press(1, 1), now: 2501) == 1)
  }

  @Test func anotherCellButtonOrAClockSetBackBeginsAnew() {
    var counter = ClickCounter()
    _ = counter.press(press(1, 1), now: 1000)
    #expect(counter.press(press(1, 2), now: 1001) == 1)
    #expect(counter.press(press(1, 2, .right), now: 1002) == 1)
    #expect(counter.press(press(1, 2, .right), now: 900) == 1)
  }
}
