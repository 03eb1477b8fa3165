import RunnelBase
import RunnelServices
import Testing

@Suite struct FeathersErrorTests {
  private func text(_ value: JSONValue) -> String {
    var writer = JSONWriter()
    writer.writeValue(value)
    return String(decoding: writer.takeBytes(), as: UTF8.self)
  }

  /// Case 17 of the specification, and what a program of one's own may send.
  @Test(arguments: [
    """
    {"name":"BadRequest","message":"bad thing","code":400,"className":"bad-request",\
    "data":{"hint":1},"errors":{"email":"taken"}}
    """,
    """
    {"name":"BadRequest","message":"m","code":400,"className":"bad-request","data":[1,2]}
    """,
    """
    {"name":"Teapot","message":"m","code":418,"className":"teapot","retry":{"after":5}}
    """,
  ])
  func errorsPassThroughUnchanged(json: String) throws {
    let error = FeathersError(json: try JSONValue(parsing: json))
    #expect(text(error.json) == json)
    #expect(FeathersError(json: error.json) == error)
  }

  @Test func everyKindSurvivesTheRoundTrip() {
    for kind in FeathersError.Kind.all {
      let error = FeathersError(kind, "m", data: ["a": 1], errors: ["b": "c"])
      let back = FeathersError(json: error.json)
      #expect(back == error)
      #expect(back.kind == kind)
    }
    #expect(Set(FeathersError.Kind.all.map(\.code)).count == FeathersError.Kind.all.count)
  }

  @Test func theErrorsOfFieldsAreLiftedOutOfTheData() {
    let error = FeathersError(.badRequest, "m", data: ["hint": 1, "errors": ["email": "taken"]])
    #expect(error.data == ["hint": 1])
    #expect(error.errors == ["email": "taken"])
  }

  /// As hooks throw them, and as schemas of Feathers 5 (Ajv) list them.
  @Test(arguments: [
    #"{"message":"m","code":400,"errors":{"mail":"no mail"}}"#,
    #"{"message":"m","code":400,"errors":{"mail":{"message":"no mail","kind":"format"}}}"#,
    #"{"message":"m","code":400,"data":{"errors":{"mail":"no mail"}}}"#,
    #"{"message":"m","code":400,"data":[{"instancePath":"/mail","message":"no mail"}]}"#,
    #"{"message":"m","code":400,"errors":[{"dataPath":".mail","message":"no mail"}]}"#,
    """
    {"message":"m","code":400,"errors":{},"data":[{"instancePath":"","keyword":"required",\
    "params":{"missingProperty":"mail"},"message":"no mail"}]}
    """,
  ])
  func errorsOfFieldsAreFoundWhereServersPutThem(json: String) throws {
    let fields = FeathersError(json: try JSONValue(parsing: json)).fieldMessages
    #expect(fields.map(\.name) == ["mail"] && fields.map(\.message) == ["no mail"])
  }

  @Test func errorsOfFieldsAreNamedByTheirPlaceAndBounded() throws {
    func names(_ data: JSONValue) -> [String] {
      FeathersError(.badRequest, "m", data: data).fieldMessages.map(\.name)
    }
    #expect(
      names([
        ["instancePath": "/places/0/a~1b~0c", "message": "x"], ["message": "y"], 7,
        ["instancePath": "/no message"],
        ["instancePath": "/place", "params": ["missingProperty": "town"], "message": "z"],
      ]) == ["places.0.a/b~c", "", "place.town"])
    #expect(names([1, 2]).isEmpty && names(["mail": "no error"]).isEmpty)
    let long = JSONValue.string(String(repeating: "x", count: 1000))
    let many = JSONValue.array(
      (0..<100).map { ["instancePath": .string("/f\($0)"), "message": long] })
    let fields = FeathersError(.badRequest, "m", data: many).fieldMessages
    #expect(fields.count == 20 && fields.allSatisfy { $0.message.count == 201 })
  }

  @Test func whatHasNoCodeIsAGeneralError() {
    let error = FeathersError(json: ["message": "boom"])
    #expect((error.code, error.name, error.message) == (500, "GeneralError", "boom"))
    #expect(FeathersError(json: ["name": "NotFound", "message": "m"]).code == 404)
    #expect(FeathersError(json: "jwt expired").message == "jwt expired")
  }

  @Test func aPageOfAProxyGivesAnErrorOfItsStatus() {
    let error = FeathersError(status: 502, body: Array("<html>no</html>".utf8))
    #expect(error.kind == .badGateway)
    #expect((error.code, error.className) == (502, "bad-gateway"))
    let late = FeathersError(status: 504, body: [])
    #expect((late.code, late.name) == (504, "GeneralError"))
    #expect(FeathersError(status: 404, body: Array("{\"message\":\"x\"}".utf8)).kind == .notFound)
  }
}

@Suite struct ServiceResultTests {
  @Test func aPageIsKnownByItsNumbers() {
    let page = ServiceResult(["total": 3, "limit": 10, "skip": 1, "data": [["id": 1]]])
    #expect(page.page?.total == 3 && page.page?.limit == 10 && page.page?.skip == 1)
    #expect(page.records == [["id": 1]])
    #expect(page.record == nil)
    let cursor = ServiceResult(["limit": 2, "data": [], "hasNextPage": true])
    #expect(cursor.page?.rest == [JSONMember("hasNextPage", true)])
    #expect(ServiceResult(["total": -1, "limit": 1, "data": []]).page?.total == nil)
    #expect(ServiceResult(["data": [1]]).page == nil)
    #expect(ServiceResult(["data": [1]]).record != nil)
    #expect(ServiceResult([1, 2]).records == [1, 2])
  }

  @Test func idsAreEqualByTheirText() {
    #expect(ServiceID(7) == ServiceID("7"))
    #expect(ServiceID(json: 1.5)?.text == "1.5")
    #expect(ServiceID(json: true) == nil)
    #expect(Set([ServiceID(7), ServiceID("7")]).count == 1)
  }
}
