import RunnelBase
import RunnelServices
import Testing

/// Queries as they are built, and as they go on the wire.
@Suite struct ServiceQueryTests {
  @Test func sortFieldsKeepTheOrderInWhichTheyWereGiven() {
    let query = ServiceQuery().sort("b").sort("a", .descending).limit(25)
    #expect(query == ["$sort": ["b": 1, "a": -1], "$limit": 25])
  }

  @Test func conditionsOnOneFieldAddUp() {
    let query = ServiceQuery().gt("age", 17).lte("age", 30)
    #expect(query == ["age": ["$gt": 17, "$lte": 30]])
  }

  @Test func whatDoesNotFitBesideAnEarlierConditionGoesToAnd() throws {
    let query = ServiceQuery().eq("a", 1).gt("a", 0).gt("b", 1).gt("b", 2).eq("b", 3)
    let text = #"{"a":1,"$and":[{"a":{"$gt":0}},{"b":{"$gt":2}},{"b":3}],"b":{"$gt":1}}"#
    #expect(try query == ServiceQuery(text: text))
  }

  @Test func aSecondOrHasToHoldAsWell() throws {
    let query = ServiceQuery().or(["a": 1], ["a": 2]).or(["b": 1], ["b": 2])
    let condition = try QueryReading(query).condition
    #expect(condition.holds(for: ["a": 1, "b": 2]) == true)
    #expect(condition.holds(for: ["a": 1, "b": 3]) == false)
    #expect(condition.holds(for: ["a": 3, "b": 2]) == false)
  }

  @Test func selectedFieldsAddUpWithoutRepetition() {
    #expect(
      ServiceQuery().select("a").select(["a", "b"]) == ["$select": ["a", "b"]] as ServiceQuery)
  }

  @Test(arguments: [
    (#"{"id":{"$in":[]}}"#, true), (#"{"id":{"$in":[1]}}"#, false),
    (#"{"$or":[{"id":{"$in":[]}},{"a":1}]}"#, false), (#"{}"#, false),
    (#"{"$and":[{"a":1},{"id":{"$in":[]}}]}"#, true), (#"{"id":{"$nin":[]}}"#, false),
  ])
  func aQueryWithAnEmptyInMatchesNothing(query: String, isEmpty: Bool) throws {
    #expect(try ServiceQuery(text: query).matchesNothing == isEmpty)
  }
}

/// The writer and the reader of query strings (specification, cases 1 to 11).
@Suite struct QueryStringTests {
  @Test(arguments: [
    (#"{}"#, ""),
    (
      #"{"$limit":25,"$sort":{"a":1,"b":-1}}"#,
      "%24limit=25&%24sort%5Ba%5D=1&%24sort%5Bb%5D=-1"
    ),
    (#"{"age":{"$gt":17,"$lte":30}}"#, "age%5B%24gt%5D=17&age%5B%24lte%5D=30"),
    (
      #"{"$or":[{"a":{"$ne":1}},{"b":{"$in":[1,2]}}]}"#,
      "%24or%5B0%5D%5Ba%5D%5B%24ne%5D=1&%24or%5B1%5D%5Bb%5D%5B%24in%5D%5B0%5D=1"
        + "&%24or%5B1%5D%5Bb%5D%5B%24in%5D%5B1%5D=2"
    ),
    (
      #"{"name":"Zoë & co+1 😀"}"#, "name=Zo%C3%AB%20%26%20co%2B1%20%F0%9F%98%80"
    ),
    (#"{"t":"~-_.!*'()"}"#, "t=~-_.%21%2A%27%28%29"),
    (#"{"meta.a":1}"#, "meta.a=1"),
    (#"{"roomId":{"$in":[2,5]}}"#, "roomId%5B%24in%5D%5B0%5D=2&roomId%5B%24in%5D%5B1%5D=5"),
    (#"{"$select":["text","userId"]}"#, "%24select%5B0%5D=text&%24select%5B1%5D=userId"),
    (#"{"on":false,"n":1.5e21}"#, "on=false&n=1.5e%2B21"),
  ])
  func queriesAreWrittenAsTheJavaScriptClientWritesThem(
    query: String, text: String
  ) throws {
    #expect(try QueryString.encoded(ServiceQuery(text: query)) == text)
  }

  @Test(arguments: [
    ("~-_.!*'()", "~-_.!*'()"), ("a@b:c", "a@b:c"), ("x/y z", "x%2Fy%20z"), ("é", "%C3%A9"),
    ("a?b#c%d", "a%3Fb%23c%25d"),
  ])
  func idsAreEscapedAsLittleAsPossible(id: String, segment: String) {
    #expect(QueryString.pathSegment(id) == segment)
  }

  @Test(arguments: [
    ("maße", "ma%C3%9Fe"), ("%", "%25"), ("100%", "100%25"), ("a%2Fb", "a%2Fb"), ("a%2", "a%252"),
    ("%zz%41", "%25zz%41"), ("a?b#c d", "a%3Fb%23c%20d"), ("verein", "verein"),
  ])
  func partsOfPathsOfServicesAreEscapedOnce(part: String, segment: String) {
    #expect(QueryString.escapedSegment(part[...]) == segment)
  }

  @Test func whatServersWouldReadOtherwiseIsRefused() {
    #expect {
      try QueryString.encoded(["tag": nil])
    } throws: { ($0 as? FeathersError)?.message.hasPrefix("null cannot be sent over REST") == true }
    let many = JSONValue.array((0...20).map { .number(JSONNumber(Int64($0))) })
    #expect {
      try QueryString.encoded(["id": .object([JSONMember("$in", many)])])
    } throws: { ($0 as? FeathersError)?.message.contains("at most 20 elements") == true }
    #expect(throws: FeathersError.self) {
      try QueryString.encoded(["a": ["b": ["c": ["d": ["e": ["f": ["g": 1]]]]]]])
    }
    #expect(throws: FeathersError.self) {
      try QueryString.encoded(
        ServiceQuery(json: .object((0...1000).map { JSONMember("a\($0)", 1) })) ?? [:])
    }
  }

  @Test(arguments: [
    (#"{"$or":[]}"#, "$or"), (#"{"$or":[{"text":{"$in":[]}}]}"#, "$or[0].text.$in"),
    (#"{"text":[]}"#, "text"), (#"{"$or":[{"text":[]}]}"#, "$or[0].text"),
    (#"{"text":{"$nin":[]}}"#, "text.$nin"), (#"{"$nor":[]}"#, "$nor"),
    (#"{"text":{"$not":{"$in":[]}}}"#, "text.$not.$in"), (#"{"$or":[{}]}"#, "$or[0]"),
    (#"{"$and":[{}]}"#, "$and[0]"), (#"{"$and":[]}"#, "$and"), (#"{"text":{}}"#, "text"),
    (#"{"a":"x","text":{"$in":[]}}"#, "text.$in"), (#"{"a":{"0":"x"}}"#, "a"),
    (#"{"a":{"7":"x","8":"y"}}"#, "a"), (#"{"a[b]":"x"}"#, "a[b]"), (#"{"a":{"":"x"}}"#, "a."),
    (#"{"constructor":"x"}"#, "constructor"), (#"{"a":{"__proto__":"x"}}"#, "a.__proto__"),
  ])
  func whatWouldBeLostIsRefusedAndNamed(query: String, name: String) {
    #expect {
      try QueryString.encoded(ServiceQuery(text: query))
    } throws: {
      let error = $0 as? FeathersError
      return error?.code == 400
        && error?.message.contains(" in \(name): over REST it would be lost") == true
    }
  }

  /// Any query is refused, or read as it was meant, but for numbers and flags that are texts.
  @Test(arguments: 0..<400 as Range<UInt64>)
  func whatIsSentIsReadAsItWasMeant(seed: UInt64) throws {
    var random = RandomQueries(seed: seed)
    let query = random.chance(2) ? random.conditions() : random.oddQuery()
    guard let text = try? QueryString.encoded(query) else { return }
    for bounds in [QueryString.Bounds(), QueryString.Bounds(depthMax: 5, indexMax: 20)] {
      let read = try QueryString.decoded(text, bounds: bounds)
      #expect(read.json == query.json.withTexts, "seed \(seed): \(text)")
    }
  }

  /// The test above means something only if many queries are sent, and many are not.
  @Test func someQueriesAreSentAndSomeRefused() {
    let sent = (0..<400 as Range<UInt64>).filter { seed in
      var random = RandomQueries(seed: seed)
      let query = random.chance(2) ? random.conditions() : random.oddQuery()
      return (try? QueryString.encoded(query)) != nil
    }
    #expect((40...360).contains(sent.count), "\(sent.count)")
  }

  @Test(arguments: [
    ("a=1&a=2", #"{"a":["1","2"]}"#), ("a[]=1&a[]=2", #"{"a":["1","2"]}"#),
    ("a[0]=1&a[1]=2", #"{"a":["1","2"]}"#), ("a[1]=2&a[0]=1", #"{"a":["1","2"]}"#),
    ("a=1", #"{"a":"1"}"#), ("a[1]=x", #"{"a":["x"]}"#),
    ("x&y=&z=%E0%A4%A", #"{"x":"","y":"","z":"%E0%A4%A"}"#),
    ("a=b+c&d;e=1", #"{"a":"b c","d;e":"1"}"#), ("?a=1", #"{"?a":"1"}"#),
    ("a[b][c][d][e][f][g]=1", #"{"a":{"b":{"c":{"d":{"e":{"f":{"g":"1"}}}}}}}"#),
    ("%24sort%5Ba%5D=1&%24sort[b]=-1", #"{"$sort":{"a":"1","b":"-1"}}"#), ("&&", #"{}"#),
    ("a[b=1", #"{"a":{"[b":"1"}}"#), ("[a]=1", #"{"[a]":"1"}"#),
  ])
  func queryStringsAreReadAsServersReadThem(text: String, query: String) throws {
    #expect(try QueryString.decoded(text) == ServiceQuery(text: query))
  }

  @Test(arguments: ["x[__proto__][y]=1", "__proto__[x]=1", "a=1&a[__proto__]=2", "=1", "a=1&=2"])
  func conditionThatCannotBeReadIsNotLeftOut(text: String) {
    #expect(throws: FeathersError.self) { try QueryString.decoded(text) }
  }

  @Test func boundsOfTheReaderHold() throws {
    var bounds = QueryString.Bounds(depthMax: 5, indexMax: 20, pairsMax: 3)
    #expect(
      try QueryString.decoded("a[b][c][d][e][f][g]=1", bounds: bounds)
        == ["a": ["b": ["c": ["d": ["e": ["f": ["[g]": "1"]]]]]]] as ServiceQuery)
    #expect(throws: FeathersError.self) { try QueryString.decoded("a&b&c&d", bounds: bounds) }
    bounds.pairsMax = 1000
    #expect(
      try QueryString.decoded("a[21]=x", bounds: bounds) == ["a": ["21": "x"]] as ServiceQuery)
  }

  /// Any query of texts is read as it was written.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func whatIsWrittenIsReadBack(seed: UInt64) throws {
    var random = RandomQueries(seed: seed)
    let query = random.textQuery()
    let text = try QueryString.encoded(query)
    #expect(try QueryString.decoded(text) == query, "seed \(seed): \(text)")
  }
}
