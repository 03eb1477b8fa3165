import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The page of the tree.

extension AppScreen {
  /// Draws the lines of the tree.
  func drawTree(into canvas: inout Canvas) {
    let text = TreeText(
      tree: state.tabs.tree, local: state.settings.local, glyphs: glyphs,
      keys: KeyText.treeKeys(state),
      pageSize: state.settings.pageSize,
      waiting: QueueScreen.waitingValues(state))
    ListWidget.draw(
      state.tabs.tree.content, state.tabs.tree.list,
      headings: state.tabs.tree.headings(state.settings.local),
      rowText: { id, width in
        text.line(id: id, width: width)
          .marking(state.trail.search, isCurrent: state.tabs.tree.list.cursor == .row(id))
      },
      emptyHint: state.tabs.tree.expanded[.root]?.phase == .loading
        ? "" : KeyText.treeKeys(state).hint(.recordAdd, "adds a first value"),
      isFocused: isListFocused, drawn: cache?.tree, into: &canvas, rect: layout.body)
  }
}
