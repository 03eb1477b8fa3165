import RunnelBase
import RunnelDatabase
import RunnelTree
import Testing

/// Commands on the file of a replica, without its server.
@Suite(.timeLimit(.minutes(5))) struct ReplicaFileTests {
  @Test func whatIsNotKnownHereIsRemovedAtTheServer() throws {
    let database = try TestDatabase("{\"users\":{\"ana\":1}}")
    let environment = DatabaseEnvironment(now: { 0 }, random: SystemRandomNumberGenerator())
    let file = database.folder.file("replica.db")
    let session = try DatabaseSession(file: file, environment: environment)
    try session.becomeReplica(ofOrigin: "http://localhost:1/?ns=test")
    try session.close()

    let asked = try Program.run(["remove", "/users/bo", "-d", file])
    #expect(asked.status != 0)
    #expect(asked.errors.contains("What the server has at /users/bo is not known here."))
    let forced = try Program.run(["remove", "/users/bo", "-d", file, "--force"])
    #expect(forced.status == 0 && forced.errors == "")
    let again = try DatabaseSession(file: file, environment: environment)
    #expect(again.pendingWrites.map(\.write) == [.remove(try Path("/users/bo"))])
    try again.close()

    // Everything in a file of its own is known.
    let own = try Program.run(["remove", "/users/bo", "-d", database.file, "--force"])
    #expect(own.errors == "runnel: There is nothing at /users/bo.\n")
  }
}
