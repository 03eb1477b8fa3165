import RunnelTerminal

extension KeymapContext {
  /// The pane of the views and bookmarks.
  static let views = KeymapContext("views")
}

extension ActionID {
  static let bookmarkDelete = ActionID("bookmark.delete")
  static let bookmarkGoto = ActionID("bookmark.goto")
  static let bookmarkSet = ActionID("bookmark.set")
  static let historyBack = ActionID("history.back")
  static let historyForward = ActionID("history.forward")
  static let paneGrow = ActionID("pane.grow")
  static let paneNext = ActionID("pane.next")
  static let panePrevious = ActionID("pane.prev")
  static let paneShrink = ActionID("pane.shrink")
  static let siblingNext = ActionID("sibling.next")
  static let siblingPrevious = ActionID("sibling.prev")
  static let viewResync = ActionID("view.resync")
}

extension AppKeymap {
  /// What reads anew what is shown.
  static let reading: [Row] = [
    (["R"], .viewResync, "read it again from the database")
  ]

  /// What goes to places that were seen before: wherever one is not typing.
  static let places: [Row] = [
    (["m"], .bookmarkSet, "set a bookmark: a letter follows"),
    (["'"], .bookmarkGoto, "go to a bookmark: its letter follows; ' goes back"),
    (["gb", "C-o", "M-Left"], .historyBack, "back to where I was"),
    (["gB", "M-Right"], .historyForward, "forward again"),
  ]

  /// What moves between panes and changes their sizes.
  static let panes: [Row] = [
    (["Tab"], .paneNext, "next pane; where there is one only, next view"),
    (["S-Tab"], .panePrevious, "previous pane, or previous view"),
    (["+"], .paneGrow, "the pane with the keys: normal, half, full"),
    (["_"], .paneShrink, "the pane with the keys: back again"),
  ]

  /// The keys of the pane of views.
  static let views: [Row] = [
    (["Enter", "l", "Right"], .rowOpen, "go to the view or the bookmark"),
    (["h", "Left"], .rowOut, "back to the list"),
    (["d", "Del"], .bookmarkDelete, "forget the bookmark"),
    (["za"], .foldToggle, "fold / unfold"),
  ]
}
