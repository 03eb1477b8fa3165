import RunnelBase
import RunnelSync
import RunnelTree
import TestSupport
import Testing

/// The exchanges and texts of the protocol's section C.
@Suite struct RESTTests {
  private static let access = MemoryServedTree.Access(
    canRead: { query, caller, _ in
      query.path.keys.first?.text != "secret" || caller.auth["uid"] == .string("ana")
    },
    canWrite: { parts, _, _, _ in !parts.contains { $0.path.keys.first?.text == "locked" } },
    isIndexed: { query in
      switch query.index {
      case .key, .priority: true
      default: query.path.description != "/unindexed"
      }
    })

  private static let data = #"""
    {"users":{"ada":{"name":"Ada","age":36}},"secret":"x","n":4,"log":{"k":true},
     "prio":{".value":"x",".priority":2},"list":["a","b"],"scores":{"pterodactyl":93,"bruno":5},
     "dinosaurs":{"triceratops":{"height":3},"stegosaurus":{"height":4},
       "bruhathkayosaurus":{"height":25},"linhenykus":{"height":0.6}},
     "unindexed":{"a":{"height":1}}}
    """#

  private func world() throws -> RESTWorld {
    try RESTWorld(RESTTests.data, access: RESTTests.access)
  }

  private func error(_ text: String) -> String {
    JSONValue.object([JSONMember("error", .string(text))]).jsonText()
  }

  // MARK: Reading

  @Test(arguments: [
    ("/users/ada.json?ns=demo", #"{"age":36,"name":"Ada"}"#),
    ("/missing.json?ns=demo", "null"), ("/users/ada/.json", #"{"age":36,"name":"Ada"}"#),
    ("/users/ada/age.json?shallow=true", "36"), ("/users.json?shallow=true", #"{"ada":true}"#),
    ("/missing.json?shallow=true", "null"), ("/list.json", #"["a","b"]"#),
    ("/list.json?format=export", #"{"0":"a","1":"b"}"#),
    ("/prio.json?format=export", #"{".value":"x",".priority":2}"#), ("/prio.json", #""x""#),
    ("/.info/connected.json", "null"), ("/users%2Fada.json", ""),
    ("/users.json?shallow=true&limitToFirst=1&timeout=3000ms", #"{"ada":true}"#),
    (
      "/dinosaurs.json?shallow=true&limitToFirst=2&startAfter=linhenykus",
      #"{"stegosaurus":true,"triceratops":true}"#
    ),
    (
      #"/dinosaurs.json?orderBy="height"&startAt=3&limitToFirst=2"#,
      #"{"triceratops":{"height":3},"stegosaurus":{"height":4}}"#
    ),
    ("/dinosaurs.json?orderBy=%22height%22&equalTo=4", #"{"stegosaurus":{"height":4}}"#),
    (#"/scores.json?orderBy="$value"&limitToLast=1"#, #"{"pterodactyl":93}"#),
    (#"/scores.json?orderBy="$key"&startAt="a"&endAt="c""#, #"{"bruno":5}"#),
    (#"/scores.json?orderBy="$key"&startAfter="bruno""#, #"{"pterodactyl":93}"#),
    (
      #"/dinosaurs.json?orderBy="height"&startAt=3,"t""#,
      #"{"triceratops":{"height":3},"stegosaurus":{"height":4},"bruhathkayosaurus":{"height":25}}"#
    ),
    (#"/dinosaurs.json?orderBy="height"&endBefore=3"#, #"{"linhenykus":{"height":0.6}}"#),
    (#"/n.json?orderBy="$key"&limitToFirst=1"#, "null"),
    ("/n.json?callback=show", "show(4);"),
    ("/n.json?writeSizeLimit=tiny&disableTriggers=true", "4"),
  ])
  func aReadIsAnswered(target: String, body: String) throws {
    var world = try world()
    let answer = world.ask("GET", target)
    if body.isEmpty {
      #expect(answer.status == 400)
      return
    }
    #expect(answer.status == 200)
    #expect(answer.body == body)
  }

  @Test func anAnswerSaysWhatItIs() throws {
    var world = try world()
    let answer = world.ask("GET", "/n.json")
    #expect(answer["Content-Type"] == "application/json; charset=utf-8")
    #expect(answer["Cache-Control"] == "no-cache")
    #expect(answer["Access-Control-Allow-Origin"] == "*")
    #expect(answer["Access-Control-Expose-Headers"] == "ETag")
    #expect(answer["ETag"] == nil)
    #expect(world.ask("GET", "/n.json?callback=f")["Content-Type"]?.contains("javascript") == true)
  }

  @Test func aPrettyAnswerIsIndented() throws {
    var world = try world()
    #expect(
      world.ask("GET", "/users/ada.json?print=pretty").body
        == "{\n  \"age\": 36,\n  \"name\": \"Ada\"\n}")
  }

  @Test func aSilentAnswerHasNoBody() throws {
    var world = try world()
    for (method, body) in [("GET", nil), ("PUT", "1"), ("PATCH", "{}"), ("DELETE", nil)] {
      let answer = world.ask(method, "/users/bob.json?print=silent", body)
      #expect(answer.status == 204)
      #expect(answer.body.isEmpty)
    }
  }

  @Test func aDownloadHasAName() throws {
    var world = try world()
    #expect(
      world.ask("GET", "/n.json?download=my.json")["Content-Disposition"]
        == #"attachment; filename="my.json""#)
    let answer = world.ask("GET", "/n.json?download=a%22%0D%0AX-Evil%3A+1")
    #expect(answer["Content-Disposition"] == #"attachment; filename="aX-Evil: 1""#)
  }

  // MARK: What is wrong with a query

  @Test(arguments: [
    ("/dinosaurs.json?orderBy=height", "orderBy must be a valid JSON encoded path"),
    ("/dinosaurs.json?orderBy=7", "orderBy must be a valid JSON encoded path"),
    (#"/dinosaurs.json?orderBy="$zz""#, "orderBy must be a valid JSON encoded path"),
    (
      "/dinosaurs.json?limitToFirst=2",
      "orderBy must be defined when other query parameters are defined"
    ),
    (
      #"/dinosaurs.json?startAt="a""#,
      "orderBy must be defined when other query parameters are defined"
    ),
    (#"/dinosaurs.json?orderBy="$key"&limitToFirst=x"#, "limitToFirst must be an integer"),
    (#"/dinosaurs.json?orderBy="$key"&limitToLast=1.5"#, "limitToLast must be an integer"),
    (#"/dinosaurs.json?orderBy="$key"&limitToFirst=0"#, "limitToFirst must be positive"),
    (#"/dinosaurs.json?orderBy="$key"&limitToLast=-1"#, "limitToLast must be positive"),
    (
      #"/dinosaurs.json?orderBy="$key"&limitToLast=1&limitToFirst=1"#,
      "Only one of limitToFirst and limitToLast may be specified"
    ),
    (
      #"/dinosaurs.json?orderBy="height"&equalTo=1&startAt=1"#,
      "equalTo cannot be specified in addition to startAfter, startAt, endAt, or endBefore"
    ),
    (
      #"/dinosaurs.json?orderBy="height"&startAt={}"#,
      "Constraint index field must be a JSON primitive"
    ),
    (
      #"/dinosaurs.json?orderBy="height"&startAt=[1]"#,
      "Constraint index field must be a JSON primitive"
    ),
    (
      #"/dinosaurs.json?orderBy="height"&startAt=x"#,
      "Constraint index field must be a JSON primitive"
    ),
    (
      #"/dinosaurs.json?orderBy="height"&startAt=1,"a.b""#,
      "Constraint key field must be a valid key name"
    ),
    (
      #"/dinosaurs.json?orderBy="height"&startAt=1,2"#,
      "Constraint key field must be a valid key name"
    ),
    (
      #"/dinosaurs.json?orderBy="$key"&startAt=1"#,
      "Provided key index type is invalid, must be string"
    ),
    (
      #"/unindexed.json?orderBy="height"&limitToFirst=1"#,
      #"Index not defined, add ".indexOn": "height", for path "/unindexed", to the rules"#
    ),
    (
      #"/unindexed.json?orderBy="$value"&limitToFirst=1"#,
      #"Index not defined, add ".indexOn": ".value", for path "/unindexed", to the rules"#
    ),
    ("/n.json?callback=1+1", "callback must be the name of a function"),
    ("/n.json?timeout=3h", "timeout must be a time like 3ms, 3s or 3min, at most 15min"),
    ("/n.json?timeout=16min", "timeout must be a time like 3ms, 3s or 3min, at most 15min"),
  ])
  func aQueryThatIsWrongSaysWhy(target: String, text: String) throws {
    var world = try world()
    let answer = world.ask("GET", target)
    #expect(answer.status == 400)
    #expect(answer.body == error(text))
    let (_, head) = world.stream(target)
    #expect(head.status == 400)
  }

  @Test(arguments: [
    ("GET", "/a", 404), ("GET", "/", 404), ("GET", "/a.b.json", 400), ("GET", "/%ZZ.json", 400),
    ("GET", "/%FF.json", 400), ("GET", "/a.json?x=%", 400), ("GET", "/a%23b.json", 400),
    ("TRACE", "/a.json", 405), ("HEAD", "/a.json", 405), ("PUT", "/.info/x.json", 401),
  ])
  func aRequestThatCannotBeReadIsRefused(method: String, target: String, status: Int) throws {
    var world = try world()
    let answer = world.ask(method, target, method == "PUT" ? "1" : nil)
    #expect(answer.status == status)
    #expect(answer.body.hasPrefix(#"{"error":"#))
  }

  // MARK: Writing

  @Test func writesAreEchoed() throws {
    var world = try world()
    #expect(
      world.ask("PUT", "/users/bob.json?ns=demo", #"{"name":"Bob","at":{".sv":"timestamp"}}"#).body
        == #"{"at":1735689600123,"name":"Bob"}"#)
    #expect(
      world.ask("PATCH", "/users.json", #"{"ada/age":37,"bob":null}"#).body
        == #"{"ada/age":37,"bob":null}"#)
    #expect(
      world.ask("PATCH", "/users.json", #"{"ada/seen":{".sv":"timestamp"}}"#).body
        == #"{"ada/seen":1735689600123}"#)
    #expect(world.ask("DELETE", "/log.json").body == "null")
    let users: JSONValue = ["ada": ["age": 37, "name": "Ada", "seen": 1_735_689_600_123]]
    #expect(world.tree.tree.root[try Path("/users")].exportJSON == users)
    #expect(world.tree.tree.root[try Path("/log")].isEmpty)
  }

  @Test func aPushHasANewKey() throws {
    var world = try world()
    let first = world.ask("POST", "/log.json", #"{"m":"hi"}"#)
    let second = world.ask("POST", "/users.json", #""""#)
    for answer in [first, second] {
      #expect(answer.status == 200)
      #expect(answer.body.hasPrefix(#"{"name":"-OFU9Ml"#))
      #expect(answer.body.utf8.count == 31)
    }
    #expect(first.body < second.body)
    #expect(world.tree.tree.root[try Path("/log")].children.count == 2)
  }

  @Test(arguments: [
    ("PUT", "{", "Invalid data; couldn't parse JSON object, array, or value."),
    ("PUT", "", "Error: No data supplied."), ("POST", "", "Error: No data supplied."),
    ("PATCH", "", "Error: No data supplied."),
    ("PATCH", "[1]", "Invalid data; couldn't parse JSON object, array, or value."),
    ("PATCH", "7", "Invalid data; couldn't parse JSON object, array, or value."),
    (
      "PUT", #"{"a.b":1}"#,
      "Invalid data; couldn't parse JSON object, array, or value. Perhaps you're using invalid characters in your key names."
    ),
  ])
  func aWriteThatIsWrongSaysWhy(method: String, body: String, text: String) throws {
    var world = try world()
    let before = world.tree.tree
    let answer = world.ask(method, "/users.json", body)
    #expect(answer.status == 400)
    #expect(answer.body == error(text))
    #expect(world.tree.tree == before)
  }

  @Test func aDeniedWriteIsRefused() throws {
    var world = try world()
    let answer = world.ask("PUT", "/locked.json", "1")
    #expect((answer.status, answer.body) == (401, error("Permission denied")))
  }

  @Test func aMethodCanBeOverridden() throws {
    var world = try world()
    #expect(
      world.ask("POST", "/users.json?x-http-method-override=PATCH", #"{"x":1}"#).body == #"{"x":1}"#
    )
    #expect(
      world.ask("POST", "/n.json", nil, ["X-HTTP-Method-Override": "DELETE"]).body == "null")
    #expect(world.tree.tree.root[try Path("/n")].isEmpty)
    // Only POST stands for another one.
    #expect(
      world.ask("GET", "/users/x.json", nil, ["X-HTTP-Method-Override": "DELETE"]).body == "1")
  }

  @Test func aWriteWithANameIsDoneOnce() throws {
    var world = try world()
    let body = #"{".sv":{"increment":1}}"#
    for _ in 0..<3 {
      #expect(world.ask("PUT", "/n.json", body, ["X-Runnel-Write": "me 1"]).body == "5")
    }
    #expect(world.ask("PUT", "/n.json", body, ["X-Runnel-Write": "me 0"]).status == 400)
    let first = world.ask("POST", "/log.json", "1", ["X-Runnel-Write": "me 2"]).body
    #expect(world.ask("POST", "/log.json", "1", ["X-Runnel-Write": "me 2"]).body == first)
  }

  @Test func aBodyThatIsTooLargeIsRefusedBeforeItsEnd() throws {
    var world = try world()
    world.limits.writeBytesMax = 20
    let value = "\"" + String(repeating: "x", count: 30) + "\""
    let answer = world.ask("PUT", "/n.json", value)
    #expect(answer.status == 400)
    #expect(
      answer.body
        == error(
          "Data to write exceeds the maximum size that can be modified with a single request."))
  }

  @Test func aLargePutOfAnAdministratorIsSpooled() throws {
    var world = try world()
    world.limits.writeBytesMax = 20
    world.limits.spoolBytesMin = 20
    let value = "\"" + String(repeating: "x", count: 100) + "\""
    let answer = world.ask(
      "PUT", "/n.json?print=silent", value, ["Authorization": "Bearer owner"])
    #expect(answer.status == 204)
    #expect(world.spooled == value.utf8.count)
  }

  /// What is spooled is not compared with what was done under a name.
  @Test func aLargePutWithANameIsAnOrdinaryWrite() throws {
    var world = try world()
    world.limits.spoolBytesMin = 20
    let value = "\"" + String(repeating: "x", count: 100) + "\""
    let answer = world.ask(
      "PUT", "/n.json?print=silent", value,
      ["Authorization": "Bearer owner", "X-Runnel-Write": "imp 1"])
    #expect(answer.status == 204)
    #expect(world.spooled == 0)
  }

  // MARK: Tags

  @Test func tagsAreConditions() throws {
    var world = try world()
    let (four, five) = ("eVih19a6ZDz3NL32uVBtg9KSgQY=", "w28swksk9+tXf5jEdS9R5oSFAv8=")
    let read = world.ask("GET", "/n.json", nil, ["X-Firebase-ETag": "true"])
    #expect((read.status, read["ETag"], read.body) == (200, four, "4"))
    let wrong = world.ask("PUT", "/n.json", "5", ["if-match": "wrong"])
    #expect((wrong.status, wrong["ETag"], wrong.body) == (412, four, "4"))
    let right = world.ask("PUT", "/n.json", "5", ["if-match": four])
    #expect((right.status, right["ETag"], right.body) == (200, five, "5"))
    let same = world.ask("GET", "/n.json", nil, ["if-none-match": five])
    #expect((same.status, same["ETag"], same.body) == (304, five, ""))
    let other = world.ask("GET", "/n.json", nil, ["if-none-match": four])
    #expect((other.status, other.body) == (200, "5"))
    let none = world.ask("GET", "/none.json", nil, ["X-Firebase-ETag": "true"])
    #expect((none.status, none["ETag"], none.body) == (200, "null_etag", "null"))
    let new = world.ask("PUT", "/none.json", "1", ["if-match": "\"null_etag\""])
    #expect(new.status == 200)
    #expect(world.ask("DELETE", "/n.json", nil, ["if-match": "\"\(five)\""]).status == 200)
    #expect(world.ask("GET", "/n.json", nil, ["if-match": five]).status == 400)
    #expect(world.ask("PATCH", "/n.json", "{}", ["if-match": five]).status == 400)
  }

  @Test func updatesAreComparedByOneTagForTheirPlaces() throws {
    var world = try world()
    func update(_ body: String, _ tag: String) -> RESTWorld.Answer {
      world.ask("PATCH", "/tags.json", body, ["X-Runnel-Match": tag])
    }
    #expect(update(#"{"a":1,"b/c":2}"#, "null_etag").status == 200)
    let stale = update(#"{"a":9,"d":9}"#, "null_etag")
    let one = try Node(json: 1).contentHash
    #expect((stale.status, stale.body) == (412, "[\"\(one)\",\"\"]"))
    #expect(world.ask("GET", "/tags.json").body == #"{"a":1,"b":{"c":2}}"#)
    let tag = try #require(stale["ETag"])
    // Of other places, or in another order, it is another tag.
    #expect(update(#"{"d":9,"a":9}"#, tag).status == 412)
    #expect(update(#"{"a":9,"d":9}"#, tag).status == 200)
    #expect(update(#"{"a":9,"d":9}"#, tag).status == 412)
    let none = update("{}", "?")
    #expect((none.status, none["ETag"], none.body) == (412, "null_etag", "[]"))
    #expect(world.ask("PUT", "/tags.json", "1", ["X-Runnel-Match": tag]).status == 400)
  }

  /// The update would replace the value above its place, and a priority alone is none of that.
  @Test func valuesAboveAnUpdateAndPrioritiesAreCompared() throws {
    var world = try world()
    #expect(world.ask("PUT", "/tags/a.json", "1").status == 200)
    let one = try Node(json: 1).contentHash
    func tags(_ body: String) -> String {
      world.ask("PATCH", "/tags.json", body, ["X-Runnel-Match": "?"]).body
    }
    #expect(tags(#"{"a/b/c":2}"#) == "[\"^\(one)\"]")
    #expect(tags(#"{"a/.priority":3}"#) == #"[""]"#)
    #expect(world.ask("PATCH", "/tags.json", #"{"a/.priority":3}"#).status == 200)
    #expect(tags(#"{"a/.priority":4}"#) == "[\"\(try Node(json: 3).contentHash)\"]")
    #expect(tags(#"{"other":2}"#) == #"[""]"#)
  }

  @Test func theTagOfAnUpdateTellsNothingThatMayNotBeRead() throws {
    var world = try world()
    for tag in ["null_etag", "?"] {
      let guess = world.ask("PATCH", "/secret.json", #"{"a":1}"#, ["X-Runnel-Match": tag])
      #expect((guess.status, guess.body) == (401, error("Permission denied")))
    }
  }

  /// A condition, right or wrong, and the tag of what was written beside it, tell nothing of what may not be
  /// read.
  @Test func tagsTellNothingThatMayNotBeRead() throws {
    var world = try world()
    let hash = try Node(json: "x").contentHash
    for (place, tag) in [("", "x"), ("", hash), ("", "null_etag"), ("/none", "null_etag")] {
      let guess = world.ask("PUT", "/secret\(place).json", "1", ["if-match": tag])
      #expect((guess.status, guess["ETag"], guess.body) == (401, nil, error("Permission denied")))
    }
    #expect(
      world.ask("PUT", "/secret.json?auth=user:ana", "\"x\"", ["if-match": hash]).status == 200)
    let beside = world.ask("PATCH", "/secret.json", #"{"a":1}"#, ["X-Firebase-ETag": "true"])
    #expect((beside.status, beside["ETag"]) == (200, nil))
  }

  /// The answer to an increment is what stands there, which only readers are told; found by the matrix of
  /// identities and operations.
  @Test func anIncrementTellsNothingThatMayNotBeRead() throws {
    var world = try world()
    let increment = #"{".sv":{"increment":1}}"#
    #expect(world.ask("PUT", "/secret.json", increment).body == increment)
    #expect(
      world.ask(
        "PATCH", "/.json", #"{"n":{".sv":{"increment":1}},"secret":{".sv":{"increment":1}}}"#
      )
      .body == #"{"n":5,"secret":{".sv":{"increment":1}}}"#)
    #expect(world.ask("PUT", "/secret.json", #"{".sv":"timestamp"}"#).body == "1735689600123")
    #expect(world.ask("PUT", "/secret.json?auth=user:ana", increment).body == "1735689600124")
  }

  // MARK: Who asks

  @Test func credentialsCount() throws {
    var world = try world()
    let denied = (401, error("Permission denied"))
    func ask(_ target: String, _ headers: KeyValuePairs<String, String> = [:]) -> (Int, String) {
      let answer = world.ask("GET", target, nil, headers)
      return (answer.status, answer.body)
    }
    let owner: KeyValuePairs = ["Authorization": "Bearer owner"]
    #expect(ask("/secret.json") == denied)
    #expect(ask("/secret.json", owner) == (200, "\"x\""))
    #expect(ask("/secret.json?access_token=owner") == (200, "\"x\""))
    #expect(ask("/secret.json?auth=user:ana") == (200, "\"x\""))
    #expect(ask("/secret.json?auth=user:bo") == denied)
    #expect(ask("/secret.json?auth=garbage") == (401, error("Could not parse auth token.")))
    #expect(ask("/secret.json?auth=user:ana:5") == (401, error("Auth token is expired")))
    #expect(
      ask("/secret.json?auth_variable_override=%7B%22uid%22:%22ana%22%7D", owner) == (200, "\"x\""))
    #expect(ask("/secret.json?auth_variable_override=null", owner) == denied)
    #expect(
      ask("/secret.json?auth_variable_override=null") == (401, error("Unauthorized request.")))
    #expect(
      ask("/secret.json?auth=user:ana&auth_variable_override=%7B%7D")
        == (401, error("Unauthorized request.")))
    #expect(ask("/secret.json?auth_variable_override=x", owner).0 == 400)
  }

  // MARK: Rules

  @Test func rulesAreReadAndReplaced() throws {
    var world = try world()
    let owner: KeyValuePairs = ["Authorization": "Bearer owner"]
    let target = "/.settings/rules.json"
    let rules =
      "{\"rules\":{\".read\":true, // all\n\".write\":\"auth != null /* no // comment */\"}}"
    #expect(world.ask("GET", target).body == error("Unauthorized request."))
    #expect(world.ask("PUT", target, rules).status == 401)
    #expect(world.ask("PUT", target, rules, owner).body == #"{"status":"ok"}"#)
    #expect(world.ask("GET", target, nil, owner).body == rules)
    #expect(
      world.ask("GET", target + "?format=strict", nil, owner).body
        == "{\"rules\":{\".read\":true, \n\".write\":\"auth != null /* no // comment */\"}}")
    let wrong = world.ask("PUT", target, #"{"rules":{".read":"data.foo()"}}"#, owner)
    #expect(wrong.status == 400)
    #expect(wrong.body == error("1: No such method/property 'foo'.\n"))
    #expect(world.ask("PUT", target + "?dryRun=true", "{}", owner).status == 200)
    #expect(world.rules == rules)
    #expect(world.ask("PUT", target, "", owner).status == 400)
    #expect(world.ask("PATCH", target, "{}", owner).status == 405)
  }

  /// A comment ends where it does in JavaScript, and one that never ends takes the rest.
  @Test(arguments: [
    ("{/*/ x */}", "{}"), ("{/**/}", "{}"), ("{/* * / */}", "{}"), ("{}/* x", "{}"),
    ("{}// x", "{}"), (#"{"/*":"\"//"}"#, #"{"/*":"\"//"}"#), ("/", "/"),
  ])
  func strictRulesHaveNoComments(text: String, strict: String) throws {
    var world = try world()
    world.rules = text
    let answer = world.ask(
      "GET", "/.settings/rules.json?format=strict", nil, ["Authorization": "Bearer owner"])
    #expect(answer.body == strict)
  }

  // MARK: Browsers

  @Test func aBrowserMayAskFirst() throws {
    var world = try world()
    let answer = world.ask(
      "OPTIONS", "/n.json", nil, ["Access-Control-Request-Headers": "x-firebase-etag, if-match"])
    #expect(answer.status == 204)
    #expect(answer["Access-Control-Allow-Headers"] == "x-firebase-etag, if-match")
    #expect(answer["Access-Control-Allow-Methods"]?.contains("PATCH") == true)
    let evil = world.ask("OPTIONS", "/n.json", nil, ["Access-Control-Request-Headers": "a\r\nX: 1"])
    #expect(evil["Access-Control-Allow-Headers"]?.contains("\r") == false)
  }

  /// Whatever is asked: one head, and one end.
  @Test(arguments: Seeds.first(400))
  func anyRequestIsAnsweredOnce(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    func pick(_ texts: [String]) -> String {
      texts[Int.random(in: 0..<texts.count, using: &random)]
    }
    var world = try world()
    for _ in 0..<10 {
      var target = Array(
        (pick(["/n.json", "/users/ada.json", "/.json", "/list.json", "/.settings/rules.json", "/a"])
          + "?"
          + pick(["print=pretty", "shallow=true", "orderBy=%22$key%22", "orderBy=%22age%22", "x"])
          + "&"
          + pick([
            "limitToFirst=1", "startAt=%22a%22", "timeout=1s", "equalTo=1,%22b%22", "callback=f",
          ])
          + "&"
          + pick(["auth=user:ana", "access_token=owner", "auth=x", "", "auth_variable_override=1"]))
          .utf8)
      if Bool.random(using: &random) {
        target[Int.random(in: 0..<target.count, using: &random)] = UInt8.random(
          in: 33...126, using: &random)
      }
      let method = pick(["GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS", "X"])
      let body = pick([
        "", "1", "{}", "[1]", #"{"a":{"b":1}}"#, "{", #"{".sv":"timestamp"}"#, #"{"a/b":1}"#,
      ])
      let answer = world.ask(method, String(decoding: target, as: UTF8.self), body)
      #expect((200..<600).contains(answer.status), "seed \(seed)")
    }
  }

  @Test(arguments: ["PUT", "POST", "PATCH", "DELETE"])
  func bodyThatIsParsedElsewhereGetsTheSameAnswer(method: String) throws {
    let deep = String(repeating: "[", count: 9) + String(repeating: "]", count: 9)
    for body in [nil, "", "{\"a\":{\"b\":1}}", "[1,2]", "5", "{", "{\"a/b\":null}", deep] {
      let results = try [1, Int.max].map { size in
        var world = try RESTWorld(#"{"x":{"a":{"b":2}}}"#)
        (world.limits.parseBytesMin, world.limits.jsonDepthMax) = (size, 8)
        let answer = world.ask(method, "/x.json", body)
        return "\(answer.status) \(answer.body) \(world.tree.tree.root) \(world.reached)"
      }
      #expect(results[0] == results[1])
    }
  }
}
