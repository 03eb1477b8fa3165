import RunnelBase

/// Pending writes in the order of their ids; a change copies only a small part of them, also while another copy
/// is kept.
///
/// Whoever may have to take a change back keeps a copy. Then the first change of an array copies all of it, which is
/// slow while thousands of writes wait.
///
/// Invariants:
/// - I1. The ids ascend, within the parts and from part to part.
/// - I2. No part is empty, and none has more than `partMax` writes.
struct PendingList: Sendable {
  /// A write in memory of its own, so that a part is copied fast.
  private final class Entry: Sendable {
    let write: PendingWrite
    init(_ write: PendingWrite) { self.write = write }
  }

  /// Where a write stands.
  struct Place {
    fileprivate var part: Int
    fileprivate var index: Int
  }

  private static let partMax = 128

  private var parts: [[Entry]] = []

  /// The writes, oldest first.
  var all: [PendingWrite] { parts.flatMap { $0.map(\.write) } }

  /// The oldest write; nil if there is none.
  var oldest: PendingWrite? { parts.first?.first?.write }

  /// The newest write; nil if there is none.
  var last: PendingWrite? { parts.last?.last?.write }

  /// The oldest write that meets a condition; nil if there is none.
  func first(where isWanted: (PendingWrite) -> Bool) -> PendingWrite? {
    for part in parts {
      for entry in part where isWanted(entry.write) { return entry.write }
    }
    return nil
  }

  /// Where the write with an id stands; nil if there is none.
  ///
  /// O(log n).
  func place(of id: Int64) -> Place? {
    let after = parts.lowerBound { $0[0].write.id <= id }
    if after == 0 { return nil }
    let part = parts[after - 1]
    let index = part.lowerBound { $0.write.id < id }
    guard index < part.count, part[index].write.id == id else { return nil }
    return Place(part: after - 1, index: index)
  }

  /// The number of writes after a place.
  ///
  /// O(n / 128).
  func count(after place: Place) -> Int {
    parts[(place.part + 1)...].reduce(parts[place.part].count - place.index - 1) { $0 + $1.count }
  }

  subscript(place: Place) -> PendingWrite {
    get { parts[place.part][place.index].write }
    set { parts[place.part][place.index] = Entry(newValue) }
  }

  /// Adds a write that is newer than all others.
  mutating func append(_ write: PendingWrite) {
    precondition(last.map { $0.id < write.id } ?? true, "I1: ids ascend.")
    if let last = parts.indices.last, parts[last].count < PendingList.partMax {
      parts[last].append(Entry(write))
    } else {
      parts.append([Entry(write)])
    }
  }

  /// Removes the write at a place.
  mutating func remove(at place: Place) {
    if parts[place.part].count == 1 {
      parts.remove(at: place.part)
    } else {
      parts[place.part].remove(at: place.index)
    }
  }
}
