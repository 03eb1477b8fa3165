import Testing

@testable import RunnelTerminal

@Suite struct GeometryTests {
  private let rect = Rect(row: 2, column: 3, height: 4, width: 5)

  @Test(arguments: [-1, 0, 1, 4, 9])
  func splittingLosesNoLine(lines: Int) {
    let (top, under) = rect.splitTop(lines)
    #expect(top.height + under.height == 4)
    #expect(top.endRow == under.row)
    let (bottom, over) = rect.splitBottom(lines)
    #expect(bottom.height == top.height)
    #expect(over.endRow == bottom.row && bottom.endRow == rect.endRow)
  }

  @Test(arguments: [-1, 0, 2, 5, 9])
  func splittingLosesNoColumn(columns: Int) {
    let (left, after) = rect.splitLeft(columns)
    #expect(left.width + after.width == 5)
    #expect(left.endColumn == after.column)
    let (right, before) = rect.splitRight(columns)
    #expect(right.width == left.width)
    #expect(before.endColumn == right.column && right.endColumn == rect.endColumn)
  }

  @Test func insetOfASmallRectangleIsEmpty() {
    #expect(rect.inset() == Rect(row: 3, column: 4, height: 2, width: 3))
    #expect(Rect(row: 0, column: 0, height: 1, width: 1).inset().isEmpty)
  }

  @Test func rectanglesApartHaveAnEmptyIntersection() {
    #expect(rect.intersection(Rect(row: 9, column: 9, height: 2, width: 2)).isEmpty)
    #expect(rect.intersection(rect.inset()) == rect.inset())
  }

  @Test func centeredRectangleIsCutToItsSpace() {
    #expect(rect.centered(height: 2, width: 3) == Rect(row: 3, column: 4, height: 2, width: 3))
    #expect(rect.centered(height: 99, width: 99) == rect)
  }

  @Test func lineOutsideIsEmpty() {
    #expect(rect.line(3) == Rect(row: 5, column: 3, height: 1, width: 5))
    #expect(rect.line(4).isEmpty)
  }
}
