/// Caches the last output for an equal input.
///
/// It belongs to the thread that draws. The output must depend on the input alone.
final class FrameMemo<Input: Equatable, Output> {
  private var memo: (input: Input, output: Output)?

  /// The last output, or nil if there is none.
  var last: Output? { memo?.output }

  /// Creates an empty memo.
  init() {}

  /// Returns the output of `make` for the input, which is reused if the input is equal to the last
  /// one.
  func output(for input: Input, _ make: (Input) -> Output) -> Output {
    if let memo, memo.input == input { return memo.output }
    let output = make(input)
    memo = (input, output)
    return output
  }
}
