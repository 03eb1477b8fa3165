@main
struct Runnel {
  static func main() {}
}
