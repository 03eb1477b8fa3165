import RunnelBase
import RunnelSync
import RunnelTree
import Testing

/// Long messages with one node are read as short ones are.
@Suite struct NodeMessageTests {
  /// A space of this length makes a message long.
  private static let space = String(repeating: " ", count: 20_000)

  private static let texts = [
    #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{"a":1,"b":{".value":5,".priority":"x"}}}}}"#,
    #"{"t":"d","d":{"r":1,"b":{"d":null,"s":"ok"}}}"#,
    #"{"t":"d","d":{"b":{"s":"ok","d":{"a":[1,null,{"x":true}]}},"r":1}}"#,
    #"{"d":{"r":1,"b":{"s":"ok","d":{"a":1}}},"t":"d"}"#,
    #"{"t":"d","d":{"r":1,"b":{"s":"permission_denied","d":"Permission denied"}}}"#,
    #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{"a":{".sv":"timestamp"}}}}}"#,
    #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{"a.b":1}}}}"#,
    #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{"a":1},"d":{"b":2}}}}"#,
    #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{"a":1}},"a":"d"}}"#,
    #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{"a":1},"p":"list"}}}"#,
    #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{"a":1}}}} x"#,
    #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{"a":1}}},"error":"no"}"#,
    #"{"t":"d","d":{"r":2,"b":{"s":"ok","d":{"a":1}}}}"#,
    #"{"t":"d","d":{"r":3,"b":{"s":"ok","d":{"a":1}}}}"#,
    #"{"t":"d","d":{"a":"d","b":{"p":"/list","d":{"a":1,"b":"é"},"t":1}}}"#,
    #"{"t":"d","d":{"b":{"p":"list","d":[1,null,2]},"a":"d"}}"#,
    #"{"t":"d","d":{"b":{"d":{"a":1},"p":"list"},"a":"d"}}"#,
    #"{"t":"d","d":{"a":"d","b":{"p":"list","d":{"a":1},"t":null}}}"#,
    #"{"t":"d","d":{"a":"d","b":{"p":"list/a/.priority","d":7}}}"#,
    #"{"t":"d","d":{"a":"m","b":{"p":"list","d":{"a":1,"b":2}}}}"#,
    #"{"t":"d","d":{"b":{"p":"list","d":{"a/b":1,"c/.priority":2}},"a":"m"}}"#,
    #"{"t":"d","d":{"a":"c","b":{"p":"list"}}}"#,
    #"{"t":"d","d":{"a":"d","b":{"p":"li.st","d":1}}}"#,
    #"{"t":"c","d":{"t":"o","d":{}}}"#,
  ]

  private func heard(_ text: String) throws -> (messages: [OriginMessage], log: [String]) {
    var client = ScriptedClient()
    client.goLive()
    client.send(
      .get(id: 7, Query(try Path("list"))), .write(id: 8, .set(try Path("other"), true)))
    _ = client.take()
    client.hear(text)
    // What was answered is not answered again.
    client.hear(#"{"t":"d","d":{"r":1,"b":{"s":"ok","d":1}}}"#)
    return (client.takeMessages(), client.take())
  }

  @Test(arguments: texts)
  func aLongMessageSaysWhatAShortOneSays(text: String) throws {
    let short = try heard(text)
    let long = try heard(text.replacing("\"t\":\"d\"", with: "\(Self.space)\"t\":\"d\""))
    #expect(long.messages == short.messages)
    #expect(long.log == short.log)
  }

  @Test func aLongAnswerIsTheNodeOfItsPlace() throws {
    let members = (0..<2000).map { #""row\#($0)":{"n":\#($0),"text":"row \#($0)"}"# }
    let json = "{\(members.joined(separator: ","))}"
    let (messages, _) = try heard(#"{"t":"d","d":{"r":1,"b":{"s":"ok","d":\#(json)}}}"#)
    #expect(messages == [.answer(id: 7, try Node(json: JSONValue(parsing: json)))])
  }
}
