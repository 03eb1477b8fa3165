import RunnelTerminal

extension KeymapContext {
  /// Three versions of one place.
  static let compare = KeymapContext("compare")
  /// The queue of writes.
  static let queue = KeymapContext("queue")
}

extension ActionID {
  static let conflictAllMine = ActionID("conflict.allMine")
  static let conflictAllTheirs = ActionID("conflict.allTheirs")
  static let conflictBase = ActionID("conflict.base")
  static let conflictEdit = ActionID("conflict.edit")
  static let conflictMine = ActionID("conflict.mine")
  static let conflictTheirs = ActionID("conflict.theirs")
  static let conflictWrite = ActionID("conflict.write")
  static let recordCompare = ActionID("record.compare")
  static let syncDrop = ActionID("sync.drop")
  static let syncEdit = ActionID("sync.edit")
  static let syncOpen = ActionID("sync.open")
  static let syncRetry = ActionID("sync.retry")
}

extension AppKeymap {
  /// What opens the comparison and the queue.
  static let comparing: [Row] = [
    (["c"], .recordCompare, "compare what was refused with what others wrote"),
    (["S"], .syncOpen, "the writes that wait or were refused"),
  ]

  /// What is done with three versions.
  static let compare: [Row] = [
    (["m"], .conflictMine, "keep mine"),
    (["t"], .conflictTheirs, "take theirs"),
    (["b"], .conflictBase, "take what was there before"),
    (["e"], .conflictEdit, "type another value"),
    (["M"], .conflictAllMine, "mine for every conflict"),
    (["T"], .conflictAllTheirs, "theirs for every conflict"),
    (["]c"], .changeNext, "next conflict"),
    (["[c"], .changePrevious, "previous conflict"),
    (["C-s"], .conflictWrite, "write the result"),
    (["h", "Left"], .stepBack, "decide later"),
  ]

  /// What is done with writes that wait or were refused.
  static let queue: [Row] = [
    (["Enter", "l", "Right"], .rowOpen, "show all of the write, or no longer"),
    (["c"], .recordCompare, "compare with what others wrote"),
    (["e"], .syncEdit, "edit it again, with what was typed"),
    (["r"], .syncRetry, "try the write again, as it was"),
    (["d", "Del"], .syncDrop, "drop the write…"),
    (["h", "Left"], .stepBack, "go back"),
  ]
}
