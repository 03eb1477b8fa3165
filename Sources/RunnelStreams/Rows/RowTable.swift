/// A table of rows by a key that the rows hold themselves.
///
/// It is a hash table with open addressing and linear probing (Knuth, vol. 3, 6.4, algorithms L and
/// R). For each row it stores a part of the hash, and the row. A dictionary would also store the
/// key, which takes twice as much memory as everything else that a stream keeps for a row.
///
/// Finding, inserting and removing take O(1) on average.
///
/// Invariant I1: between the home slot of a row and its slot, no slot is empty.
struct RowTable<Naming: RowNaming> {
  /// A part of the hash of the row in each slot; 0 if the slot is empty.
  private var hashes: [UInt32] = []
  private var slots: [RowObject?] = []
  /// The number of rows.
  private(set) var count = 0

  /// Makes a table with space for a number of rows.
  init(minimumCapacity: Int = 0) { grow(toHold: minimumCapacity) }

  /// The row with a key; nil if there is none.
  subscript(key: Naming.Key) -> RowObject? {
    slots[slot(of: key, hash: RowTable.hash(of: key))]
  }

  /// Inserts a row; it replaces a row with its key.
  mutating func insert(_ row: RowObject) {
    grow(toHold: count + 1)
    let key = Naming.key(of: row)
    let hash = RowTable.hash(of: key)
    let slot = slot(of: key, hash: hash)
    if hashes[slot] == 0 { count += 1 }
    hashes[slot] = hash
    slots[slot] = row
  }

  /// Replaces rows by others.
  ///
  /// A key may pass from one row to another; in the end each key has one row.
  mutating func replace(_ replacements: [RowList.Replacement]) {
    for replacement in replacements {
      guard let new = replacement.new else {
        if let old = replacement.old { remove(old) }
        continue
      }
      if let old = replacement.old, Naming.key(of: old) != Naming.key(of: new) { remove(old) }
      insert(new)
    }
  }

  /// Removes a row; does nothing if it is not in the table, or another row has its key.
  mutating func remove(_ row: RowObject) {
    let key = Naming.key(of: row)
    var empty = slot(of: key, hash: RowTable.hash(of: key))
    if slots[empty] !== row { return }
    count -= 1
    // I1: the following rows move nearer to their home slots.
    var next = (empty + 1) & mask
    while hashes[next] != 0 {
      if (next - home(of: hashes[next])) & mask >= (next - empty) & mask {
        hashes[empty] = hashes[next]
        slots.swapAt(empty, next)
        empty = next
      }
      next = (next + 1) & mask
    }
    hashes[empty] = 0
    slots[empty] = nil
  }

  /// The rows, in no particular order.
  var rows: some Sequence<RowObject> { slots.lazy.compactMap { $0 } }
}

// MARK: Slots

extension RowTable {
  private var mask: Int { hashes.count - 1 }

  private func home(of hash: UInt32) -> Int { Int(hash) & mask }

  /// A part of a hash; never 0.
  private static func hash(of key: Naming.Key) -> UInt32 {
    max(1, UInt32(truncatingIfNeeded: key.hashValue))
  }

  /// The slot of the row with a key, or the empty one where it would be.
  private func slot(of key: Naming.Key, hash: UInt32) -> Int {
    var slot = home(of: hash)
    while hashes[slot] != 0 {
      if hashes[slot] == hash, let row = slots[slot], Naming.key(of: row) == key { return slot }
      slot = (slot + 1) & mask
    }
    return slot
  }

  private static var slotsMin: Int { 8 }

  /// Makes space for a number of rows: at most four of five slots are used.
  private mutating func grow(toHold rowCount: Int) {
    if rowCount * 5 <= hashes.count * 4, !hashes.isEmpty { return }
    var size = max(hashes.count, RowTable.slotsMin)
    while rowCount * 5 > size * 4 { size *= 2 }
    let (oldHashes, oldSlots) = (hashes, slots)
    hashes = Array(repeating: 0, count: size)
    slots = Array(repeating: nil, count: size)
    for (hash, row) in zip(oldHashes, oldSlots) where hash != 0 {
      var slot = home(of: hash)
      while hashes[slot] != 0 { slot = (slot + 1) & mask }
      hashes[slot] = hash
      slots[slot] = row
    }
  }
}

/// The key by which a table finds rows.
protocol RowNaming {
  associatedtype Key: Hashable
  /// The key of a row; it never changes.
  static func key(of row: RowObject) -> Key
}

/// The ids of the rows' items.
enum ByID: RowNaming {
  static func key(of row: RowObject) -> String { row.id }
}
