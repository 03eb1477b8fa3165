import Foundation
import RunnelBase
import TestSupport
import Testing

@testable import RunnelStore

private struct Numbered: Action { var number: Int }

/// What a subscriber does when it is told a state; chance decides, the same for store and model.
private enum Deed {
  case dispatch(Int)
  case subscribe(Int)
  case unsubscribe(Int)

  static let subscribersMax = 12

  static func deeds(of subscriber: Int, at count: Int, seed: UInt64) -> [Deed] {
    var random = SeededRandom(
      seed: seed &* 1_000_003 &+ UInt64(subscriber) &* 8191 &+ UInt64(count))
    return (0..<Int.random(in: 0...2, using: &random)).map { _ in
      switch Int.random(in: 0..<6, using: &random) {
      case 0: .subscribe(Int.random(in: 0..<3, using: &random))
      case 1: .unsubscribe(Int.random(in: 0..<subscribersMax, using: &random))
      default: .dispatch(Int.random(in: 0..<100, using: &random))
      }
    }
  }
}

/// What one subscriber sees of a state, by its kind; nil for what it is not told.
private func seen(_ state: [Int], before: [Int]?, kind: Int) -> String? {
  switch kind {
  case 0: return "\(state.count)"
  case 1:
    let part = state.count / 3
    return before.map { $0.count / 3 } == part ? nil : "third \(part)"
  default:
    if let before, (before.last ?? 0) > (state.last ?? 0) { return nil }
    return "greater \(state.last ?? 0)"
  }
}

/// The store as its documentation describes it, without a thought for speed.
private struct StoreModel {
  struct Subscriber {
    var kind: Int
    var before: [Int]?
    var isActive = true
    /// False until the call that subscribes returns, with all that it caused: nobody has its token.
    var hasToken = false
  }

  let seed: UInt64
  var state: [Int] = []
  var queue: [Int] = []
  var subscribers: [Subscriber] = []
  var dispatchesLeft: Int
  var log: [String] = []

  mutating func run() {
    while !queue.isEmpty { handle(queue.removeFirst()) }
  }

  private mutating func handle(_ number: Int) {
    if number % 7 == 0 { handle(number + 1) }
    if number % 5 != 0 {
      state.append(number)
      for index in 0..<subscribers.count where subscribers[index].isActive { tell(index) }
    }
    if number % 11 == 0 { handle(number + 2) }
  }

  mutating func subscribe(_ kind: Int, causing rest: (inout StoreModel) -> Void = { _ in }) {
    let index = subscribers.count
    subscribers.append(Subscriber(kind: kind))
    tell(index)
    rest(&self)
    subscribers[index].hasToken = true
  }

  private mutating func tell(_ index: Int) {
    let text = seen(state, before: subscribers[index].before, kind: subscribers[index].kind)
    subscribers[index].before = state
    guard let text else { return }
    log.append("\(index): \(text)")
    for deed in Deed.deeds(of: index, at: state.count, seed: seed) {
      switch deed {
      case .dispatch(let number) where dispatchesLeft > 0:
        dispatchesLeft -= 1
        queue.append(number)
      case .subscribe(let kind) where subscribers.count < Deed.subscribersMax: subscribe(kind)
      case .unsubscribe(let other) where other < subscribers.count:
        if subscribers[other].hasToken { subscribers[other].isActive = false }
      case .dispatch, .subscribe, .unsubscribe: break
      }
    }
  }
}

/// A store that does the same.
private final class StoreUnderTest {
  let seed: UInt64
  var tokens: [StoreToken?] = []
  var dispatchesLeft: Int
  var log: [String] = []
  var depth = 0
  private(set) lazy var store = Store<[Int]>(state: [], middleware: [layer]) { state, action in
    if let action = action as? Numbered { state.append(action.number) }
  }

  init(seed: UInt64, dispatchesLeft: Int) {
    self.seed = seed
    self.dispatchesLeft = dispatchesLeft
  }

  private let layer: Middleware<[Int]> = { dispatch, _ in
    { next in
      { action in
        guard let number = (action as? Numbered)?.number else { return }
        if number % 7 == 0 { dispatch(Numbered(number: number + 1)) }
        if number % 5 != 0 { next(action) }
        if number % 11 == 0 { dispatch(Numbered(number: number + 2)) }
      }
    }
  }

  func subscribe(_ kind: Int) {
    let index = tokens.count
    tokens.append(nil)
    let token =
      switch kind {
      case 0: store.subscribe { [unowned self] _ in told(index, kind) }
      case 1: store.subscribe(to: { $0.count / 3 }) { [unowned self] _ in told(index, kind) }
      default:
        store.subscribe(selecting: { $0.skip { ($0.last ?? 0) > ($1.last ?? 0) } }) {
          [unowned self] _ in told(index, kind)
        }
      }
    tokens[index] = token
  }

  private func told(_ index: Int, _ kind: Int) {
    let text = seen(store.state, before: nil, kind: kind) ?? ""
    log.append("\(index): \(text)")
    for deed in Deed.deeds(of: index, at: store.state.count, seed: seed) {
      switch deed {
      case .dispatch(let number) where dispatchesLeft > 0:
        dispatchesLeft -= 1
        store.dispatch(Numbered(number: number))
      case .subscribe(let kind) where tokens.count < Deed.subscribersMax: subscribe(kind)
      case .unsubscribe(let other) where other < tokens.count:
        if let token = tokens[other] { store.unsubscribe(token) }
      case .dispatch, .subscribe, .unsubscribe: break
      }
    }
  }
}

@Suite struct StoreModelTests {
  @Test func subscribersAreToldWhatAnObviousStoreWouldTell() {
    for seed in Seeds.first(200) {
      var random = SeededRandom(seed: seed)
      let limit = 60
      var model = StoreModel(seed: seed, dispatchesLeft: limit)
      let tested = StoreUnderTest(seed: seed, dispatchesLeft: limit)
      for _ in 0..<20 {
        if Bool.random(using: &random), model.subscribers.count < Deed.subscribersMax {
          let kind = Int.random(in: 0..<3, using: &random)
          model.subscribe(kind) { $0.run() }
          tested.subscribe(kind)
        } else {
          let number = Int.random(in: 0..<100, using: &random)
          model.queue.append(number)
          model.run()
          tested.store.dispatch(Numbered(number: number))
        }
      }
      #expect(tested.store.state == model.state, "seed \(seed)")
      #expect(tested.log == model.log, "seed \(seed)")
      if tested.log != model.log { return }
    }
  }
}
