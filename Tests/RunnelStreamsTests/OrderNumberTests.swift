import RunnelBase
import RunnelStreams
import Testing

@Suite struct OrderNumberTests {
  @Test func numberIsBetweenAnyTwo() {
    var numbers = [Int64.min, -3, 0, 1, 2, 9, Int64.max].map { JSONNumber($0) }
    for double in [-1e300, -0.5, 0.25, 0.5, 1e300] {
      numbers += [JSONNumber(double)].compactMap { $0 }
    }
    numbers.sort()
    for (index, lower) in numbers.enumerated() {
      for upper in numbers[(index + 1)...] {
        guard let middle = OrderNumber.between(lower, upper) else {
          Issue.record("\(lower) \(upper)")
          continue
        }
        #expect(lower < middle && middle < upper)
      }
    }
  }

  @Test func numberAtAnEndIsBeyondIt() throws {
    for number in [Int64.min + 5000, 0, Int64.max - 5000].map({ JSONNumber($0) }) {
      #expect(try number < #require(OrderNumber.between(number, nil)))
      #expect(try #require(OrderNumber.between(nil, number)) < number)
    }
    #expect(OrderNumber.between(nil, nil) == JSONNumber(0))
  }

  @Test func integersAreTakenWhileThereAreSome() {
    #expect(OrderNumber.between(0, 1024) == 512)
    #expect(OrderNumber.between(3, 5) == 4)
    #expect(OrderNumber.between(3, 4) == JSONNumber(3.5))
  }

  @Test func numbersRunOutOnlyAfterManyHalvings() {
    var (lower, count) = (JSONNumber(0), 0)
    let upper = JSONNumber(1024)
    while let middle = OrderNumber.between(lower, upper) {
      lower = middle
      count += 1
    }
    #expect(count > 50)
    #expect(OrderNumber.spread(0) == [] && OrderNumber.spread(-1) == [])
    let spread = OrderNumber.spread(1000)
    #expect(zip(spread, spread.dropFirst()).allSatisfy { OrderNumber.between($0, $1) != nil })
  }
}
