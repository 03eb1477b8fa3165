/// A bounded queue in which those who wait take turns, whoever came first and however much each wants.
///
/// Invariants:
/// - I1. A member waits for at most one element of each other member between two of its own.
/// - I2. At most `countMax` elements wait. When it is full, the one who has the most has to give way.
struct FairQueue<Element> {
  let countMax: Int
  private(set) var count = 0
  private var queues: [String: [Element]] = [:]
  /// The members who wait, in the order of their turns.
  private var turns: [String] = []

  /// Makes an empty queue for so many elements.
  init(countMax: Int) { self.countMax = countMax }

  /// The result of adding an element.
  enum Added {
    case taken
    /// There is no room for the new element.
    case refused
    /// The new element was taken, and this one of another member has to go.
    case replaced(Element)
  }

  /// Adds an element of a member.
  ///
  /// Complexity: O(n) in the members if the queue is full, else O(1).
  mutating func add(_ element: Element, of member: String) -> Added {
    var result = Added.taken
    if count >= countMax {
      let longest = queues.max { ($0.value.count, $0.key) < ($1.value.count, $1.key) }
      guard let longest, longest.value.count > (queues[member]?.count ?? 0) + 1,
        let last = queues[longest.key]?.popLast()
      else { return .refused }
      count -= 1
      result = .replaced(last)
    }
    if queues[member] == nil { turns.append(member) }
    queues[member, default: []].append(element)
    count += 1
    return result
  }

  /// Takes the next element; nil if none waits.
  mutating func next() -> Element? {
    guard let member = turns.first, var queue = queues[member] else { return nil }
    turns.removeFirst()
    let element = queue.removeFirst()
    count -= 1
    if queue.isEmpty {
      queues[member] = nil
    } else {
      queues[member] = queue
      turns.append(member)
    }
    return element
  }
}

extension FairQueue: Sendable where Element: Sendable {}
