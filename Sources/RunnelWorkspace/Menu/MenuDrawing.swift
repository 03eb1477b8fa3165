package import RunnelTerminal

/// Draws a menu over the middle of the screen.
package struct MenuDrawing {
  private static let widthMax = 72

  private let screen: MenuScreen
  private let body: Rect

  init(_ screen: MenuScreen, _ body: Rect) {
    self.screen = screen
    self.body = body
  }

  /// The box of a menu, as high as all of its items, so that it stays in place while it is
  /// filtered.
  static func box(of screen: MenuScreen, in body: Rect) -> Rect {
    body.centered(
      height: min(screen.menu.fittingHeight, body.height), width: min(widthMax, body.width))
  }

  package func draw(into canvas: inout Canvas) {
    screen.menu.draw(
      into: &canvas, box: MenuDrawing.box(of: screen, in: body), title: screen.title,
      editor: screen.editor)
  }
}
