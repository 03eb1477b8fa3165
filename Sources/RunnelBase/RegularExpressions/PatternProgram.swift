/// A regular expression as states: each takes a unit, forks, or accepts.
///
/// Its size is bounded by `RegularExpression.statesMax`, repetitions written out.
///
/// Source: K. Thompson, "Regular Expression Search Algorithm" (1968).
struct PatternProgram: Sendable {
  /// A state.
  enum State: Sendable {
    /// Takes a unit of a set and goes to the next state.
    case take(set: Int, next: Int)
    /// Goes to both states.
    case fork(Int, Int)
    /// The expression has matched.
    case accept
  }

  /// The states; the state that was added last is the start.
  private(set) var states: [State] = [.accept]
  /// The sets of all states, each once.
  private(set) var sets: [UnitSet] = []
  private(set) var start = 0
  let isAnchoredAtStart: Bool
  let isAnchoredAtEnd: Bool
  private var numbers: [UnitSet: Int] = [:]

  /// Makes the states of an expression; nil if there would be too many.
  init?(_ parsed: PatternParser.Result) {
    isAnchoredAtStart = parsed.isAnchoredAtStart
    isAnchoredAtEnd = parsed.isAnchoredAtEnd
    guard let start = add(parsed.syntax, before: 0) else { return nil }
    self.start = start
  }

  private mutating func add(_ state: State) -> Int? {
    if states.count >= RegularExpression.statesMax { return nil }
    states.append(state)
    return states.count - 1
  }

  /// Adds the states that match something and then go on to `next`; returns the first.
  private mutating func add(_ syntax: PatternSyntax, before next: Int) -> Int? {
    switch syntax {
    case .set(let set): return add(.take(set: number(of: set), next: next))
    case .sequence(let items):
      var next: Int? = next
      for item in items.reversed() {
        guard let place = next else { return nil }
        next = add(item, before: place)
      }
      return next
    case .choice(let branches):
      var first: Int?
      for branch in branches.reversed() {
        guard let place = add(branch, before: next) else { return nil }
        guard let other = first else {
          first = place
          continue
        }
        guard let fork = add(.fork(place, other)) else { return nil }
        first = fork
      }
      return first
    case .repeated(let inner, let least, let most):
      return add(inner, least: least, most: most, before: next)
    }
  }

  private mutating func add(
    _ inner: PatternSyntax, least: Int, most: Int?, before next: Int
  ) -> Int? {
    var place = next
    if let most {
      for _ in least..<max(most, least) {
        guard let first = add(inner, before: place), let fork = add(.fork(first, next)) else {
          return nil
        }
        place = fork
      }
    } else {
      guard let loop = add(.fork(next, next)), let first = add(inner, before: loop) else {
        return nil
      }
      states[loop] = .fork(first, next)
      place = loop
    }
    for _ in 0..<least {
      guard let first = add(inner, before: place) else { return nil }
      // An expression without states is the same however often it is repeated.
      if first == place { break }
      place = first
    }
    return place
  }

  private mutating func number(of set: UnitSet) -> Int {
    if let number = numbers[set] { return number }
    sets.append(set)
    numbers[set] = sets.count - 1
    return sets.count - 1
  }

  // MARK: Sets of states

  /// The states that are reached from `places` without taking a unit, in order; forks are left out.
  func closure(of places: some Sequence<Int>) -> [Int] {
    var seen = [Bool](repeating: false, count: states.count)
    var open = Array(places)
    var result: [Int] = []
    while let place = open.popLast() {
      if seen[place] { continue }
      seen[place] = true
      if case .fork(let a, let b) = states[place] {
        open.append(a)
        open.append(b)
      } else {
        result.append(place)
      }
    }
    return result.sorted()
  }
}
