import RunnelTerminal

extension KeymapContext {
  /// Everywhere except while typing.
  static let global = KeymapContext("global")
  /// Whatever is moved through line by line.
  static let list = KeymapContext("list")
  /// A collection.
  static let collection = KeymapContext("collection")
  /// The raw tree.
  static let tree = KeymapContext("tree")
  /// An open record.
  static let record = KeymapContext("record")
  /// Wherever the keys are about a record of a resource.
  static let resource = KeymapContext("resource")
  /// Wherever the user has something to toggle at that record, as a like.
  static let toggle = KeymapContext("toggle")
  /// An entry of the action log.
  static let activity = KeymapContext("activity")
  /// The help.
  static let help = KeymapContext("help")
  /// A question.
  static let confirm = KeymapContext("confirm")
  /// Where a crash may be asked for.
  static let crash = KeymapContext("crash")
  /// The bar in which a list is filtered.
  static let filter = KeymapContext("filter")
  /// The line in which a text is looked for.
  static let search = KeymapContext("search")
  /// Any text field, besides what the field itself does.
  static let input = KeymapContext("input")
  /// A text field among others.
  static let fields = KeymapContext("fields")
}

extension ActionID {
  static let appQuit = ActionID("app.quit")
  static let appSuspend = ActionID("app.suspend")
  static let appCrash = ActionID("app.crash")
  static let changeNext = ActionID("change.next")
  static let changePrevious = ActionID("change.prev")
  static let copyKey = ActionID("copy.key")
  static let copyLine = ActionID("copy.line")
  static let copyPath = ActionID("copy.path")
  static let copyString = ActionID("copy.string")
  static let copyValue = ActionID("copy.value")
  static let debugOpen = ActionID("debug.open")
  static let dialogNo = ActionID("dialog.no")
  static let dialogYes = ActionID("dialog.yes")
  static let editUndo = ActionID("edit.undo")
  static let fieldNext = ActionID("field.next")
  static let fieldPrevious = ActionID("field.prev")
  static let fieldType = ActionID("field.type")
  static let filterEdit = ActionID("filter.edit")
  static let foldClose = ActionID("fold.close")
  static let foldCloseAll = ActionID("fold.closeAll")
  static let foldOpen = ActionID("fold.open")
  static let foldOpenAll = ActionID("fold.openAll")
  static let foldToggle = ActionID("fold.toggle")
  static let followToggle = ActionID("follow.toggle")
  static let formSave = ActionID("form.save")
  static let helpOpen = ActionID("help.open")
  static let helpWrite = ActionID("help.write")
  static let inputAccept = ActionID("input.accept")
  static let inputCancel = ActionID("input.cancel")
  static let inputComplete = ActionID("input.complete")
  static let jobCancel = ActionID("job.cancel")
  static let livePause = ActionID("live.pause")
  static let markAll = ActionID("mark.all")
  static let markClear = ActionID("mark.clear")
  static let markNext = ActionID("mark.next")
  static let markPrevious = ActionID("mark.prev")
  static let markRange = ActionID("mark.range")
  static let markToggle = ActionID("mark.toggle")
  static let pageDown = ActionID("page.down")
  static let pageHalfDown = ActionID("page.halfDown")
  static let pageHalfUp = ActionID("page.halfUp")
  static let pageUp = ActionID("page.up")
  static let paneDetail = ActionID("pane.detail")
  static let recordAdd = ActionID("record.add")
  static let recordDelete = ActionID("record.delete")
  static let recordEdit = ActionID("record.edit")
  static let recordEditExternal = ActionID("record.editExternal")
  static let recordForm = ActionID("record.form")
  static let recordToggle = ActionID("record.toggle")
  static let rowDown = ActionID("row.down")
  static let rowFirst = ActionID("row.first")
  static let rowIn = ActionID("row.in")
  static let rowLast = ActionID("row.last")
  static let rowNewest = ActionID("row.newest")
  static let rowOpen = ActionID("row.open")
  static let rowOut = ActionID("row.out")
  static let rowUp = ActionID("row.up")
  static let screenBottom = ActionID("screen.bottom")
  static let screenMiddle = ActionID("screen.middle")
  static let screenRedraw = ActionID("screen.redraw")
  static let screenTop = ActionID("screen.top")
  static let scrollDown = ActionID("scroll.down")
  static let scrollLeft = ActionID("scroll.left")
  static let scrollRight = ActionID("scroll.right")
  static let scrollRowBottom = ActionID("scroll.rowBottom")
  static let scrollRowMiddle = ActionID("scroll.rowMiddle")
  static let scrollRowTop = ActionID("scroll.rowTop")
  static let scrollUp = ActionID("scroll.up")
  static let searchNext = ActionID("search.next")
  static let searchPrevious = ActionID("search.prev")
  static let searchStart = ActionID("search.start")
  static let sectionMore = ActionID("section.more")
  static let sectionNext = ActionID("section.next")
  static let sectionPrevious = ActionID("section.prev")
  static let stepBack = ActionID("step.back")
  static let timeFormat = ActionID("time.format")
  static let unreadNext = ActionID("unread.next")
  static let unreadPrevious = ActionID("unread.prev")
  static let viewClose = ActionID("view.close")
  static let viewNext = ActionID("view.next")
  static let viewPrevious = ActionID("view.prev")

  /// The most views with a key of their own.
  static let viewGotoCount = 9

  /// Goes to the view with a number, from 1.
  static func viewGoto(_ number: Int) -> ActionID { ActionID("view.goto\(number)") }

  /// The number of the view that an action goes to.
  var viewNumber: Int? {
    (1...ActionID.viewGotoCount).first { self == ActionID.viewGoto($0) }
  }
}

/// The one table of keys: it runs actions, and draws the help and the hints.
enum AppKeymap {
  static let keymap = Keymap(
    bindings(.confirm, confirm) + bindings(.help, help) + bindings(.activity, activity)
      + bindings(.history, history) + bindings(.compare, compare) + bindings(.queue, queue)
      + bindings(.toggle, toggle)
      + bindings(.resource, resource)
      + bindings(.collection, collection + filing + outside)
      + bindings(.collection, searching + undoing + histories + comparing + places + reading)
      + bindings(.tree, tree + files + outside + searching)
      + bindings(.tree, undoing + histories + comparing + places + reading)
      + bindings(.record, record + files + outside + undoing + histories + comparing + places)
      + bindings(.list, list)
      + bindings(.views, views + places) + bindings(.value, value + outside)
      + bindings(.global, global + panes) + bindings(.crash, crash) + gotoBindings
      + bindings(.filter, filter) + bindings(.search, search)
      + bindings(.fields, fields) + bindings(.input, input)
      + paletteBindings
      + TextFieldBindings.all,
    countingContexts: [
      .collection, .tree, .record, .debug, .toggle, .resource, .activity, .views, .value,
      .history, .compare, .queue,
    ],
    innerContexts: innerContexts)

  /// Which contexts of commands go before others, so that a user's key for what is in many places is
  /// not hidden by what a place has it for.
  private static let innerContexts: [KeymapContext: Set<KeymapContext>] = {
    let records: Set<KeymapContext> = [.resource, .toggle, .activity]
    let places = records.union([
      .collection, .tree, .record, .history, .compare, .queue, .views, .value,
    ])
    return [
      .global: places.union([.list]), .list: places, .collection: records, .tree: records,
      .record: records,
    ]
  }()

  typealias Row = (keys: [String], action: ActionID, description: String)

  static func bindings(_ context: KeymapContext, _ rows: [Row]) -> [KeyBinding] {
    rows.flatMap { KeyBinding.bindings(context, $0.keys, $0.action, $0.description) }
  }

  private static let gotoBindings = (1...ActionID.viewGotoCount).flatMap { number in
    KeyBinding.bindings(
      .global, ["g\(number)", "M-\(number)"], .viewGoto(number), "go to view \(number)")
  }

  private static let collection: [Row] = [
    (["Enter"], .rowOpen, "open; on a paging row fetch; on a header fold"),
    (["l", "Right"], .rowIn, "open, unfold, or go to the rows"),
    (["h", "Left"], .rowOut, "go to the header, or fold"),
    (["a"], .recordAdd, "add a record"),
    (["e", "F2"], .recordEdit, "edit in place"),
    (["d", "Del"], .recordDelete, "delete the record, or the marked ones…"),
    (["gm"], .sectionMore, "fetch the next page"),
    (["f"], .filterEdit, "filter the list"),
    (["Space"], .markToggle, "mark, and step down"),
    (["v"], .markRange, "start a range, or mark it"),
    (["*"], .markAll, "mark all rows of this section"),
    (["\\"], .markClear, "clear the marks"),
    (["]u"], .unreadNext, "next new row"),
    (["[u"], .unreadPrevious, "previous new row"),
    (["]c"], .changeNext, "next row that changed"),
    (["[c"], .changePrevious, "previous row that changed"),
    (["]m"], .markNext, "next marked row"),
    (["[m"], .markPrevious, "previous marked row"),
    (["p"], .paneDetail, "show the record beside the list, or not"),
    (["P"], .livePause, "pause the list, or make it live again"),
    (["t"], .timeFormat, "ages, clock times, or dates"),
    (["gn"], .rowNewest, "go to the newest row"),
    (["F"], .followToggle, "follow the newest row"),
    (["za"], .foldToggle, "fold / unfold"),
    (["zo"], .foldOpen, "unfold"),
    (["zc"], .foldClose, "fold"),
    (["zR"], .foldOpenAll, "unfold all"),
    (["zM"], .foldCloseAll, "fold all"),
  ]

  private static let outside: [Row] = [
    (["E"], .recordEditExternal, "edit as JSON in your editor"),
    (["yy"], .copyValue, "copy the value, pretty JSON"),
    (["yv"], .copyLine, "copy the value on one line"),
    (["ys"], .copyString, "copy the raw string"),
    (["yk"], .copyKey, "copy the key"),
    (["yp"], .copyPath, "copy the path"),
  ]

  /// As `searching`, where `C-s` writes.
  static let searchingBesideWriting: [Row] = [
    (["/"], .searchStart, "search, the cursor jumps as you type"),
    (["n"], .searchNext, "next match"),
    (["N"], .searchPrevious, "previous match"),
  ]

  static let searching: [Row] = [
    (["/", "C-s"], .searchStart, "search, the cursor jumps as you type"),
    (["n"], .searchNext, "next match"),
    (["N"], .searchPrevious, "previous match"),
  ]

  private static let resource: [Row] = [
    (["i"], .recordForm, "edit all fields in a form")
  ]

  private static let activity: [Row] = [
    (["u"], .editUndo, "take the entry back, if it still stands")
  ]

  private static let toggle: [Row] = [
    (["T"], .recordToggle, "add yours here, as a like, or take it back")
  ]

  private static let tree: [Row] = [
    (["Enter"], .rowOpen, "expand / collapse; edit a value; fetch on a paging row"),
    (["l", "Right"], .rowIn, "expand, or go to the children"),
    (["h", "Left"], .rowOut, "collapse, or go to the parent"),
    (["za"], .foldToggle, "expand / collapse"),
    (["zo"], .foldOpen, "expand"),
    (["zc"], .foldClose, "collapse, or collapse the parent"),
    (["zR"], .foldOpenAll, "expand all that is loaded, one level"),
    (["zM"], .foldCloseAll, "collapse all"),
    (["p"], .paneDetail, "show the value beside the tree, or not"),
    (["a"], .recordAdd, "add a child"),
    (["e", "F2"], .recordEdit, "edit the value"),
    (["d", "Del"], .recordDelete, "delete the node, or the marked ones…"),
    (["gm"], .sectionMore, "fetch the next page of this node"),
    (["Space"], .markToggle, "mark, and step down"),
    (["v"], .markRange, "start a range, or mark it"),
    (["*"], .markAll, "mark all nodes beside this one"),
    (["\\"], .markClear, "clear the marks"),
    (["]m"], .markNext, "next marked node"),
    (["[m"], .markPrevious, "previous marked node"),
  ]

  private static let record: [Row] = [
    (["Enter"], .rowOpen, "open a long text or an object, or edit the field"),
    (["l", "Right"], .rowIn, "open the object, or read the value in full"),
    (["e", "F2"], .recordEdit, "edit the field in place"),
    (["a"], .recordAdd, "add a field"),
    (["d", "Del"], .recordDelete, "delete the field…"),
    (["h", "Left"], .stepBack, "go back"),
  ]

  private static let list: [Row] = [
    (["j", "Down", "C-n"], .rowDown, "down (takes a count)"),
    (["k", "Up", "C-p"], .rowUp, "up"),
    (["gg", "Home", "M-<"], .rowFirst, "first row, or row N with a count"),
    (["G", "End", "M->"], .rowLast, "last row, or row N with a count"),
    (["C-f", "PgDn", "C-v"], .pageDown, "page down"),
    (["C-b", "PgUp", "M-v"], .pageUp, "page up"),
    (["C-d"], .pageHalfDown, "half page down"),
    (["C-u"], .pageHalfUp, "half page up"),
    (["J"], .siblingNext, "next one that is as deep"),
    (["K"], .siblingPrevious, "previous one that is as deep"),
    (["]]", "}"], .sectionNext, "next section"),
    (["[[", "{"], .sectionPrevious, "previous section"),
    (["H"], .screenTop, "top row of the screen"),
    (["M"], .screenMiddle, "middle row of the screen"),
    (["L"], .screenBottom, "bottom row of the screen"),
    (["C-e"], .scrollDown, "scroll one line, the cursor stays"),
    (["C-y"], .scrollUp, "scroll one line back"),
    (["zt"], .scrollRowTop, "put the row at the top"),
    (["zz"], .scrollRowMiddle, "put the row in the middle"),
    (["zb"], .scrollRowBottom, "put the row at the bottom"),
    (["zl", "S-Right"], .scrollRight, "scroll right"),
    (["zh", "S-Left"], .scrollLeft, "scroll left"),
  ]

  private static let global: [Row] = [
    (["?", "F1"], .helpOpen, "help for this place"),
    (["gt"], .viewNext, "next view"),
    (["gT"], .viewPrevious, "previous view"),
    (["q"], .viewClose, "close this view; at the last one, leave"),
    (["Q"], .appQuit, "leave"),
    (["Esc", "C-g"], .stepBack, "one step back"),
    (["C-c"], .jobCancel, "stop; twice leaves"),
    (["C-z"], .appSuspend, "suspend to the shell"),
    (["C-l"], .screenRedraw, "redraw from scratch"),
    (["C-x d", "F12"], .debugOpen, "the last actions, and what they changed"),
  ]

  private static let help: [Row] = [
    (["Enter"], .rowOpen, "run the action"),
    (["Esc", "C-g", "C-c"], .stepBack, "close the help"),
    (["Down", "C-n"], .rowDown, "down"),
    (["Up", "C-p"], .rowUp, "up"),
    (["PgDn", "C-v"], .pageDown, "page down"),
    (["PgUp", "M-v"], .pageUp, "page up"),
    (["M-<"], .rowFirst, "first row"),
    (["M->"], .rowLast, "last row"),
    (["Tab"], .sectionNext, "next group"),
    (["S-Tab"], .sectionPrevious, "previous group"),
    (["C-s"], .helpWrite, "write this list to a file…"),
  ]

  private static let confirm: [Row] = [
    (["y"], .dialogYes, "yes"),
    (["n", "Esc", "Enter", "C-g", "C-c", "q"], .dialogNo, "no"),
    (["?", "F1"], .helpOpen, "what will happen, in full"),
    (["C-l"], .screenRedraw, "redraw from scratch"),
  ]

  private static let crash: [Row] = [
    (["C-x !"], .appCrash, "end the program with a fault")
  ]

  private static let filter: [Row] = [
    (["Enter"], .inputAccept, "keep the filter"),
    (["Esc", "C-g", "C-c"], .inputCancel, "put the filter back as it was"),
    (["Tab"], .inputComplete, "complete the word"),
    (["C-p", "Up"], .inputPrevious, "the filter before"),
    (["C-n", "Down"], .inputNext, "the filter after"),
  ]

  private static let search: [Row] = [
    (["Enter"], .inputAccept, "stay at the match"),
    (["Esc", "C-g", "C-c"], .inputCancel, "go back to where I was"),
    (["C-p", "Up"], .inputPrevious, "the search before"),
    (["C-n", "Down"], .inputNext, "the search after"),
  ]

  private static let fields: [Row] = [
    (["Tab"], .fieldNext, "next field"),
    (["S-Tab"], .fieldPrevious, "previous field"),
    (["F2", "C-x C-t"], .fieldType, "change the type of the field"),
  ]

  private static let input: [Row] = [
    (["Enter"], .inputAccept, "accept"),
    (["Esc", "C-g", "C-c"], .inputCancel, "cancel"),
    (["C-s"], .formSave, "save"),
    (["C-z"], .appSuspend, "suspend to the shell"),
    (["C-l"], .screenRedraw, "redraw from scratch"),
    (["F1", "C-x ?"], .helpOpen, "help"),
  ]
}
