import Testing

/// Lets only a few of the tests run at once that wait for others: each holds databases with threads and
/// descriptors meanwhile, of which the system gives a user no more than so many.
struct FewAtOnce: SuiteTrait, TestTrait, TestScoping {
  private static let gate = Gate(places: 8)

  let isRecursive = true

  /// Around a test with all its cases, so that what it waits for here is not counted among its time.
  func scopeProvider(for test: Test, testCase: Test.Case?) -> FewAtOnce? {
    test.isSuite || testCase != nil ? nil : self
  }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    await FewAtOnce.gate.enter()
    do {
      try await function()
    } catch {
      await FewAtOnce.gate.leave()
      throw error
    }
    await FewAtOnce.gate.leave()
  }
}

extension Trait where Self == FewAtOnce {
  static var fewAtOnce: FewAtOnce { FewAtOnce() }
}

/// A room with so many places; whoever comes later waits, in the order of coming.
private actor Gate {
  private var freePlaces: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(places: Int) { freePlaces = places }

  func enter() async {
    if freePlaces > 0 {
      freePlaces -= 1
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  func leave() {
    if waiting.isEmpty { freePlaces += 1 } else { waiting.removeFirst().resume() }
  }
}
