import RunnelBase
import RunnelServices
import Testing

@testable import RunnelApp

/// Which of the two roads to a Feathers server is used, and what counts as a sign of life.
@Suite struct ServiceRoadsTests {
  private static let gone = FeathersError(
    .unavailable, "http://x cannot be reached.", data: ["isSent": false])
  private static let late = FeathersError(.timeout, "no answer", data: ["isSent": true])

  /// A workspace whose connection over Socket.IO was lost, and the first attempt after that has failed.
  private static func lost() -> ServiceRoads {
    var roads = ServiceRoads()
    roads.begin()
    roads.socketBegins()
    roads.socketAnswers()
    roads.socketBegins()
    #expect(roads.socketFailed("404") == .askREST)
    return roads
  }

  @Test func serverWithoutSocketIOIsAskedOverREST() {
    var roads = ServiceRoads()
    roads.begin()
    roads.socketBegins()
    #expect(roads.socketFailed("404", isAbsent: true) == .askREST)
    #expect(roads.restAnswered(nil) == .useREST)
  }

  @Test func lostSocketIOIsTriedOnceMoreBeforeRESTIsUsed() {
    var roads = ServiceRoadsTests.lost()
    #expect(roads.restAnswered(nil) == .trySocket)
    roads.socketBegins()
    #expect(roads.socketFailed("404") == .useREST)
  }

  @Test func serverThatWasStartedAgainIsAskedOverSocketIO() {
    var roads = ServiceRoadsTests.lost()
    #expect(roads.restAnswered(nil) == .trySocket)
    roads.socketBegins()
    roads.socketAnswers()
    // What REST has answered then says nothing about the next loss.
    roads.socketBegins()
    #expect(roads.socketFailed("refused") == .askREST)
  }

  /// The way back from REST, and another loss.
  @Test func roadMayChangeAgainAndAgain() {
    var roads = ServiceRoadsTests.lost()
    for _ in 0..<3 {
      #expect(roads.restAnswered(nil) == .trySocket)
      #expect(roads.socketFailed("404") == .useREST)
      // Over REST until a probe finds Socket.IO.
      roads.begin()
      roads.begin()
      roads.socketBegins()
      roads.socketAnswers()
      roads.socketBegins()
      #expect(roads.socketFailed("404") == .askREST)
    }
  }

  @Test func serverThatEndsEachSessionIsNotAskedOverREST() {
    var roads = ServiceRoads()
    roads.begin()
    roads.socketBegins()
    roads.socketAnswers()
    #expect(roads.socketFailed("the server disconnects this client") == .none)
  }

  @Test func restThatFailsOrIsSilentIsNoEvidence() {
    for failure in [
      ServiceRoadsTests.gone, ServiceRoadsTests.late, FeathersError(status: 502, body: []),
      FeathersError(status: 504, body: []), FeathersError(status: 404, body: []),
    ] {
      var roads = ServiceRoadsTests.lost()
      #expect(roads.restAnswered(failure) == .none, "\(failure)")
      // The next failure asks again.
      #expect(roads.socketFailed("404") == .askREST, "\(failure)")
    }
  }

  @Test func refusalOverRESTIsAnAnswer() {
    var roads = ServiceRoadsTests.lost()
    #expect(roads.restAnswered(FeathersError(.notAuthenticated, "no")) == .trySocket)
  }

  @Test func onlyAnAddressAtWhichNothingWasEverFoundIsGivenUp() {
    let failure = FeathersError(status: 404, body: [])
    var fresh = ServiceRoads()
    fresh.begin()
    #expect(fresh.socketFailed("404", isAbsent: true) == .askREST)
    guard case .refuse = fresh.restAnswered(failure) else {
      Issue.record("It is tried again.")
      return
    }
    var roads = ServiceRoadsTests.lost()
    roads.begin()
    #expect(roads.socketFailed("404", isAbsent: true) == .askREST)
    #expect(roads.restAnswered(failure) == .later(failure.message))
    var overREST = ServiceRoads()
    overREST.begin()
    #expect(overREST.socketFailed("404", isAbsent: true) == .askREST)
    #expect(overREST.restAnswered(nil) == .useREST)
    overREST.begin()
    #expect(overREST.socketFailed("404", isAbsent: true) == .askREST)
    #expect(overREST.restAnswered(failure) == .later(failure.message))
  }

  @Test func callThatEndsByItselfIsNoSignOfLife() {
    func isFromServer(_ error: FeathersError) -> Bool {
      AnswerBuffer.Answer(number: 1, result: .failure(error), isRead: true, generation: 1)
        .isFromServer
    }
    #expect(!isFromServer(ServiceRoadsTests.late))
    #expect(!isFromServer(ServiceRoadsTests.gone))
    #expect(!isFromServer(FeathersError(.cancelled, "The call was cancelled.")))
    #expect(isFromServer(FeathersError(.timeout, "the database is slow")))
    #expect(isFromServer(FeathersError(status: 503, body: [])))
    #expect(
      AnswerBuffer.Answer(number: 1, result: .success(1), isRead: true, generation: 1).isFromServer)
  }
}
