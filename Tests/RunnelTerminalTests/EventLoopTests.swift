import CPlatform
import Glibc
import Testing

@testable import RunnelTerminal

@Suite struct EventLoopTests {
  @Test func ringsBeforeADrainCountAsOne() throws {
    let wakeup = try Wakeup()
    #expect(!wakeup.drain())
    for _ in 0..<1000 { wakeup.signal() }
    #expect(Poller.wait([wakeup.fileDescriptor], timeoutMilliseconds: 0) == [.readable])
    #expect(wakeup.drain())
    #expect(!wakeup.drain())
    #expect(Poller.wait([wakeup.fileDescriptor], timeoutMilliseconds: 0) == [[]])
  }

  @Test func ringFromAnotherThreadEndsAWait() async throws {
    let wakeup = try Wakeup()
    async let ring: Void = wakeup.signal()
    #expect(Poller.wait([wakeup.fileDescriptor]) == [.readable])
    await ring
  }

  @Test func pollerTellsWhichDescriptorIsReady() throws {
    let quiet = try Wakeup()
    let loud = try Wakeup()
    loud.signal()
    let ready = Poller.wait([quiet.fileDescriptor, loud.fileDescriptor])
    #expect(ready == [[], .readable])
  }

  @Test func watchHearsOfItsFileAndNoOther() throws {
    var name = Array("/tmp/runnel-watch-XXXXXX".utf8CString)
    let folder = try #require(mkdtemp(&name).map { String(cString: $0) })
    defer { rmdir(folder) }
    let watch = try FileWatch(file: folder + "/config.yaml")
    // Without a descriptor, whose copy in a program that is being started would be closed later.
    func write(_ file: String) { #expect(mknod(folder + "/" + file, S_IFREG | 0o600, 0) == 0) }
    #expect(!watch.drain())
    write("other.yaml")
    #expect(!watch.drain())
    write("config.yaml")
    #expect(Poller.wait([watch.fileDescriptor], timeoutMilliseconds: 0) == [.readable])
    #expect(watch.drain())
    #expect(!watch.drain())
    // As editors save.
    #expect(rename(folder + "/other.yaml", folder + "/config.yaml") == 0)
    #expect(watch.drain())
    unlink(folder + "/config.yaml")
  }

  @Test func folderThatIsNotThereCannotBeWatched() {
    #expect(throws: TerminalError.self) { try FileWatch(file: "/nonexistent/config.yaml") }
  }

  @Test func closedPipeIsHungUp() {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    for end in ends { #expect(fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
    runnel_close(ends[1])
    // A program that is being started may have a copy of that end for a moment.
    #expect(Poller.wait([ends[0]]) == [.hungUp])
    runnel_close(ends[0])
  }

  @Test func blockedSignalsAreReadInsteadOfDelivered() throws {
    // To this thread only: the other tests of the process keep theirs.
    SignalSource.blockSignals()
    defer { SignalSource.restoreSignals() }
    let source = try SignalSource()
    #expect(source.read().isEmpty)
    for number in [SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGWINCH] {
      #expect(pthread_kill(pthread_self(), number) == 0)
    }
    #expect(Poller.wait([source.fileDescriptor], timeoutMilliseconds: 0) == [.readable])
    #expect(
      Set(source.read()) == [.terminate(SIGTERM), .interrupt, .hangUp, .stop, .windowChanged])
    #expect(source.read().isEmpty)
  }

  @Test func watchTellsTheFileThatWasTouched() throws {
    var template = Array("/tmp/runnel-watch-XXXXXX".utf8CString)
    let path = try #require(mkdtemp(&template).map { String(cString: $0) })
    defer { rmdir(path) }
    let watch = runnel_inotify_open()
    defer { runnel_close(watch) }
    #expect(runnel_inotify_add_watch(watch, path) >= 0)
    #expect(runnel_inotify_drain(watch, "wanted") == 0)
    for (name, answer) in [("other", 0), ("wanted", 1)] as [(String, Int32)] {
      #expect(mknod("\(path)/\(name)", S_IFREG | 0o600, 0) == 0)
      #expect(Poller.wait([watch], timeoutMilliseconds: 0) == [.readable])
      #expect(runnel_inotify_drain(watch, "wanted") == answer)
      #expect(utimes("\(path)/\(name)", nil) == 0)
      #expect(runnel_inotify_drain(watch, "wanted") == answer)
      unlink("\(path)/\(name)")
    }
    #expect(runnel_inotify_add_watch(watch, "\(path)/missing") == -1)
  }
}
