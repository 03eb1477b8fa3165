import RunnelBase
import Testing

/// The members of a document that have the name of an earlier one in their object.
@Suite struct RepeatedMembersTests {
  private func found(_ text: String) -> RepeatedMembers {
    var text = text
    return text.withUTF8 { RepeatedMembers(in: $0) }
  }

  @Test(arguments: [
    "{}", "[]", "1", "", #"{"a":1,"b":{"a":2,"b":[{"a":1},{"a":2}]},"c":"a"}"#,
    #"{"a":"\"a\":1,\"a\":2","b":"{"}"#, #"["a","a",{"a":"a"}]"#, "{\"a\":1}\n{\"a\":2}\n",
  ]) func namesOfDifferentObjectsAreNoRepetition(text: String) {
    #expect(found(text).sentence == nil)
  }

  @Test(arguments: [
    (#"{"a":1,"dup":1,"dup":2,"c":3}"#, "/dup"), (#"[0,{"x":{"b":{},"a":1, "b" :[]}}]"#, "/1/x/b"),
    (#"{"é":1,"\u00e9":2}"#, "/é"), (#"{"":1,"":2}"#, "/"), ("{\"a\":1}\n{\"b\":1,\"b\":2}", "/b"),
  ]) func oneIsToldWithItsPlace(text: String, place: String) {
    #expect(
      found(text).sentence
        == "1 member has the name of an earlier one in its object, \(place): the last one counts.")
  }

  @Test func severalAreCountedAndTheFirstInTheDocumentIsNamed() {
    let found = found(#"{"z":1,"z":2,"z":3,"in":{"b":1,"b":2},"z":4}"#)
    #expect(found.count == 4)
    #expect(
      found.sentence
        == "4 members have the name of an earlier one in their object, the first is /z: the last one counts."
    )
  }
}
