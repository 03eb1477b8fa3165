import RunnelBase
import RunnelStorage
import RunnelTree
import TestSupport
import Testing

/// Nodes that are too large for a record are told without being written.
@Suite struct RecordSizeTests {
  @Test(arguments: Seeds.first(20))
  func aNodeThatIsToldToBeLargerIsLarger(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    for _ in 0..<100 {
      let node = try random.node(depth: 4)
      let size = RecordWriter().record(node).count
      for limit in [size, size + 1, size * 2] {
        #expect(!node.isSurelyLarger(than: limit), "seed \(seed): \(node) has \(size) bytes")
      }
    }
  }

  @Test func aWideAndADeepNodeAreTold() throws {
    let rows = try (0..<5000).map { Child(key: try Key("row\($0)"), node: Node(.bool(true))) }
    let wide = Node(children: rows)
    #expect(wide.isSurelyLarger(than: RecordCoding.bytesMax))
    let above = Node(children: [Child(key: try Key("list"), node: wide)])
    #expect(above.isSurelyLarger(than: RecordCoding.bytesMax))
    #expect(!Node(children: Array(rows.prefix(100))).isSurelyLarger(than: RecordCoding.bytesMax))
  }
}
