import RunnelBase
import RunnelTree
import Testing

@Suite struct WriterNamesTests {
  @Test func aReplicaNumbersItsWritesFromOne() {
    let names = WriterNames("a")
    #expect(names.name(of: 0) == WriteID(client: "a", number: 1))
    #expect(names.name(of: 41) == WriteID(client: "a", number: 42))
  }

  @Test func whatWaitsKeepsItsNameAndWhatComesGetsANewOne() {
    var names = WriterNames("a")
    names.begin("b", at: 5, oldest: 3)
    #expect(names.name(of: 3) == WriteID(client: "a", number: 4))
    #expect(names.name(of: 4) == WriteID(client: "a", number: 5))
    #expect(names.name(of: 5) == WriteID(client: "b", number: 1))
    names.begin("c", at: 7, oldest: 6)
    #expect(names.name(of: 6) == WriteID(client: "b", number: 2))
    #expect(names.name(of: 7) == WriteID(client: "c", number: 1))
    #expect(names.name(of: 4) == nil, "nothing of it waits")
    names.begin("d", at: 7, oldest: nil)
    #expect(names.json == [[7, "d"]])
  }

  @Test func namesAreReadAsTheyWereStored() {
    var names = WriterNames("a")
    names.begin("b", at: 5, oldest: 3)
    #expect(WriterNames(names.json) == names)
    for json: JSONValue in [
      [], nil, "a", [[1]], [["a", 1]], [[1, ""]], [[5, "a"], [2, "b"]], [[1.5, "a"]],
    ] {
      #expect(WriterNames(json) == nil, "\(json)")
    }
  }

  /// A copy that was made at any moment and goes on later never repeats a name of the original.
  @Test(arguments: Array(UInt64(1)...200))
  func noNameStandsForTwoWrites(seed: UInt64) {
    struct Replica {
      var names: WriterNames
      var pending: [(write: Int64, text: Int)] = []
      var next: Int64 = 0
    }
    var random = SeededRandom(seed: seed)
    var replicas = [Replica(names: WriterNames("first"))]
    var done: [WriteID: Int] = [:]
    var (clients, texts) = (0, 0)
    for _ in 0..<60 {
      let index = Int.random(in: 0..<replicas.count, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: replicas.append(replicas[index])
      case 1:
        clients += 1
        replicas[index].names.begin(
          "\(clients)", at: replicas[index].next, oldest: replicas[index].pending.first?.write)
      case 2 where !replicas[index].pending.isEmpty: replicas[index].pending.removeFirst()
      default:
        // It connects before it writes, unless it goes on as it was.
        clients += 1
        replicas[index].names.begin(
          "\(clients)", at: replicas[index].next, oldest: replicas[index].pending.first?.write)
        texts += 1
        replicas[index].pending.append((replicas[index].next, texts))
        replicas[index].next += 1
        for (write, text) in replicas[index].pending {
          guard let name = replicas[index].names.name(of: write) else {
            Issue.record("A write that waits has no name.")
            return
          }
          #expect(done.updateValue(text, forKey: name) ?? text == text, "\(name)")
        }
      }
    }
  }
}
