import Foundation

/// What a run that takes longer than `make test` asks of the tests, by variables of the environment.
///
/// `make long` sets them, a part of the work at a time, so that it can go on where it stopped:
/// - `RUNNEL_SEEDS`: the seeds of random tests, as `FROM..<TO`, or `COUNT` for those from 0;
/// - `RUNNEL_FAULTS`: which operations of a workload fail, as `FROM..<TO`, or `all`;
/// - `RUNNEL_LARGE_CHILDREN`: how many children the largest node has.
package enum LongRun {
  /// The seeds that are asked for; nil if none are.
  package static let seeds = range("RUNNEL_SEEDS")

  /// The operations that are asked for; nil if none are.
  package static let faults: Range<UInt64>? =
    variable("RUNNEL_FAULTS") == "all" ? 0..<UInt64.max : range("RUNNEL_FAULTS")

  /// The number of children that is asked for; nil if none is.
  package static let children = variable("RUNNEL_LARGE_CHILDREN").flatMap { Int($0) }

  private static func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name]
  }

  private static func range(_ name: String) -> Range<UInt64>? {
    variable(name).map { text in
      guard let range = range(parsing: text) else {
        preconditionFailure("\(name) is FROM..<TO or a number, and not '\(text)'.")
      }
      return range
    }
  }

  /// Reads `FROM..<TO` or `COUNT`; nil if the text is neither.
  package static func range(parsing text: String) -> Range<UInt64>? {
    if let count = UInt64(text) { return 0..<count }
    guard let dots = text.range(of: "..<"), let first = UInt64(text[..<dots.lowerBound]),
      let end = UInt64(text[dots.upperBound...]), first <= end
    else { return nil }
    return first..<end
  }
}

/// The seeds of random tests.
package enum Seeds {
  /// The seeds below `count`, or those that a long run asks for, and those that are kept for ever
  /// because they failed once.
  ///
  /// A test that takes long uses one of so many (`oneOf`) of the seeds asked for; one that is quick
  /// uses so many for each (`each`). A test with several cases may get no seed in a long run.
  package static func first(
    _ count: UInt64, oneOf: UInt64 = 1, each: UInt64 = 1, kept: [UInt64] = []
  ) -> [UInt64] {
    seeds(count, oneOf: oneOf, each: each, kept: kept, asked: LongRun.seeds)
  }

  /// The same, of the range that is asked for.
  package static func seeds(
    _ count: UInt64, oneOf: UInt64 = 1, each: UInt64 = 1, kept: [UInt64] = [],
    asked: Range<UInt64>?
  ) -> [UInt64] {
    guard let asked else { return Array(0..<count) + kept.filter { $0 >= count } }
    let first = (asked.lowerBound + oneOf - 1) / oneOf * each
    let end = (asked.upperBound + oneOf - 1) / oneOf * each
    return Array(first..<end)
  }

  /// A seed by chance, which a failure shows; or those that a long run asks for.
  package static func byChance() -> [UInt64] {
    LongRun.seeds.map(Array.init) ?? [UInt64.random(in: 0...UInt64.max)]
  }
}
