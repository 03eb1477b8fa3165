/// The changes of a sectioned list between two of its states, in index paths.
///
/// Coordinates. *Old* ones count in the list before the whole batch, *new* ones in the list after
/// it. Deletes, reloads and the origins of moves are old; inserts and the destinations of moves are
/// new. No coordinate is ever that of a state in between.
///
/// Invariants:
/// - I1. A row inside a deleted section is not listed as deleted, one inside an inserted section not
///   as inserted. A row that leaves a deleted section, or enters an inserted one, from or to another
///   section is listed as a move.
/// - I2. Every list is in ascending order of its (old, for a move) coordinate, without repetition.
/// - I3. A row is at most one of deleted and moved; a moved row whose content changed too is also
///   listed as reloaded, at its old place.
/// - I4. If `isReload` is true every other list is empty: the receiver must read the list anew.
public struct BatchUpdate: Hashable, Sendable {
  /// A row or a section that went from an old place to a new one.
  public struct Move<Place: Hashable & Sendable>: Hashable, Sendable {
    /// The place before the batch.
    public var from: Place
    /// The place after the batch.
    public var to: Place

    /// Makes a move from an old place to a new one.
    public init(from: Place, to: Place) {
      self.from = from
      self.to = to
    }
  }

  /// True if the list must be read anew; nothing else is then listed.
  public var isReload = false
  /// Sections that are gone (old).
  public var deletedSections: [Int] = []
  /// Sections whose header or footer changed but that were kept (old).
  public var reloadedSections: [Int] = []
  /// Sections that are new (new).
  public var insertedSections: [Int] = []
  /// Sections that changed their place relative to the other kept ones (old to new).
  public var movedSections: [Move<Int>] = []
  /// Rows that are gone (old).
  public var deletedRows: [ListIndexPath] = []
  /// Rows that stayed the same row but whose content changed (old).
  public var reloadedRows: [ListIndexPath] = []
  /// Rows that are new (new).
  public var insertedRows: [ListIndexPath] = []
  /// Rows that changed their place relative to other kept ones, or their section (old to new).
  public var movedRows: [Move<ListIndexPath>] = []

  /// Makes an empty update.
  public init() {}

  /// An update that asks for the whole list to be read anew.
  public static var reload: BatchUpdate {
    var update = BatchUpdate()
    update.isReload = true
    return update
  }

  /// True if nothing happened.
  public var isEmpty: Bool { self == BatchUpdate() }
}
