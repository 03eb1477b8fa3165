import Glibc
import Testing

/// `runnel doctor` and `runnel compact` as a user runs them.
@Suite struct DoctorCommandTests {
  private func database() throws -> TestDatabase {
    let text = String(repeating: "x", count: 100)
    let members = (0..<60).map { "\"k\($0)\":\"\(text)\"" }
    return try TestDatabase("{\"list\":{\(members.joined(separator: ","))}}")
  }

  @Test func aSoundFileIsCalledSound() throws {
    let outcome = try database().run(["doctor"])
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("is sound: format"))
    #expect(outcome.errors == "")
  }

  @Test func aDamagedFileIsToldAndLeftAsItIs() throws {
    let database = try database()
    let file = File(try check(open(database.file, O_RDWR | O_CLOEXEC), "open"))
    let size = try check(lseek(file.descriptor, 0, SEEK_END), "lseek")
    try file.write([UInt8](repeating: 0xFF, count: 64), at: size - 4096)
    let bytes = try file.bytes()
    for arguments in [["doctor"], ["doctor", "--repair"]] {
      let outcome = try database.run(arguments)
      #expect(outcome.status == 1)
      #expect(outcome.output.contains("cannot be repaired") || outcome.errors.contains("damaged"))
      #expect(outcome.errors.contains("`runnel doctor --salvage NEW` makes a new database"))
    }
    let saved = try database.run(["doctor", "--salvage", database.file + ".new"])
    #expect(saved.output.hasPrefix("Salvaged "))
    #expect(try database.run(["doctor", "--salvage", database.file + ".new"]).status == 1)
    #expect(try database.run(["doctor", "--salvage", "x", "--repair"]).status == 2)
    #expect(try Program.run(["doctor", "-d", database.file + ".new"]).status == 0)
    #expect(try file.bytes() == bytes)
  }

  @Test func aMissingFileIsNotMade() throws {
    let folder = try TemporaryFolder()
    for command in [["doctor"], ["doctor", "--repair"], ["compact"]] {
      let outcome = try Program.run(command + ["-d", folder.file("none.db")])
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("does not exist"))
    }
    #expect(try folder.names() == [])
  }

  @Test func countersAreComparedWithTheRecordsAndRepaired() throws {
    let database = try TestDatabase(
      #"{"group":{"g":{"count":5}},"message":{"g":{"m":{"x":1}},"gone":{"m":{"x":1}}}}"#)
    let folder = try TemporaryFolder()
    let file = File(
      try check(open(folder.file("r.yaml"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600), "open"))
    let yaml = """
      resources:
        - { name: group, path: /group/@, counters: [{ field: count, count: message }] }
        - { name: message, path: /message/$group/@ }
      """
    try file.write(Array(yaml.utf8), at: 0)
    let arguments = ["doctor", "--resources", folder.file("r.yaml")]
    let outcome = try database.run(arguments)
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("/group/g/count: is 5, and should be 1\n"))
    #expect(outcome.output.contains("/message/gone/m: belongs by `$group` to /group/gone"))
    #expect(outcome.errors.contains("1 field of resources"))
    let repaired = try database.run(arguments + ["--repair"])
    #expect(repaired.status == 0)
    #expect(repaired.output.contains("Made 1 field anew from the records.\n"))
    #expect(try database.get("/group/g/count") == "1")
    #expect(try database.run(arguments).status == 0)
    #expect(try database.run(["doctor", "--resources", folder.file("none")]).status == 2)
  }

  @Test func theResourcesBesideTheFileAreFound() throws {
    let database = try TestDatabase(#"{"group":{"g":{"count":5}},"message":{"g":{"m":{"x":1}}}}"#)
    let beside = String(database.file.dropLast(".db".count)) + ".resources.yaml"
    let file = File(try check(open(beside, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600), "open"))
    let yaml = """
      resources:
        - { name: group, path: /group/@, counters: [{ field: count, count: message }] }
        - { name: message, path: /message/$group/@ }
      """
    try file.write(Array(yaml.utf8), at: 0)
    let outcome = try database.run(["doctor"])
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("/group/g/count: is 5, and should be 1\n"))
  }

  @Test func compactingSaysBothSizes() throws {
    let database = try database()
    #expect(try database.run(["remove", "/list"]).status == 0)
    let outcome = try database.run(["compact"])
    #expect(outcome.status == 0)
    #expect(outcome.output == "")
    #expect(outcome.errors.contains(" MB and has "))
    #expect(try database.run(["doctor"]).status == 0)
  }
}

extension File {
  /// All that is in the file.
  fileprivate func bytes() throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = try check(pread(descriptor, &bytes, bytes.count, 0), "pread")
    return Array(bytes[..<count])
  }
}
