/// Caches the last output for an equal input.
///
/// It belongs to the thread that draws. What is made must follow from the input alone.
final class FrameMemo<Input: Equatable, Output> {
  private var memo: (input: Input, output: Output)?

  /// What was made last; nil if nothing was.
  var last: Output? { memo?.output }

  /// Makes one that knows nothing.
  init() {}

  /// What `make` makes of the input, or made of it the last time.
  func output(for input: Input, _ make: (Input) -> Output) -> Output {
    if let memo, memo.input == input { return memo.output }
    let output = make(input)
    memo = (input, output)
    return output
  }
}
