/// Caches the last output for an equal input.
///
/// It belongs to the thread that draws. What is made must follow from the input alone.
final class FrameMemo<Input: Equatable, Output> {
  private var last: (input: Input, output: Output)?

  /// Makes one that knows nothing.
  init() {}

  /// What `make` makes of the input, or made of it the last time.
  func output(for input: Input, _ make: (Input) -> Output) -> Output {
    if let last, last.input == input { return last.output }
    let output = make(input)
    last = (input, output)
    return output
  }
}
