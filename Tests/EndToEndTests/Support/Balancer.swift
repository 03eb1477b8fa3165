import Glibc
import TestSupport

/// A load balancer before servers: haproxy, at a Unix socket in a folder of its own.
final class Balancer {
  /// The program; nil where it is not installed.
  private static let program = ["/usr/sbin/haproxy", "/usr/local/sbin/haproxy"]
    .first { (path: String) in access(path, X_OK) == 0 }

  /// True if haproxy is installed.
  static let isInstalled = program != nil
  /// What a test says that is skipped.
  static let advice = "haproxy is not installed: apt-get install haproxy"

  private let running: RunningProgram
  private let socket: String

  /// Starts before servers, given by their ports for clients and for administrators, which are asked
  /// whether a server is ready.
  init(_ servers: [(port: Int, adminPort: Int)], in folder: TemporaryFolder) throws {
    socket = folder.file("front.sock")
    let lines = servers.enumerated().map { index, server in
      "  server s\(index) 127.0.0.1:\(server.port) check port \(server.adminPort) inter 100 fall 1 rise 1"
    }
    let configuration = try folder.write(
      """
      defaults
        mode http
        timeout connect 5s
        timeout client 60s
        timeout server 60s
        timeout tunnel 60s
        option redispatch 1
        retries 5
      frontend clients
        bind unix@\(socket)
        default_backend servers
      backend servers
        balance roundrobin
        option httpchk
        http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host localhost hdr Connection close
        http-check expect status 200
      \(lines.joined(separator: "\n"))

      """, to: "haproxy.cfg")
    running = try RunningProgram(["-db", "-f", configuration], program: Balancer.program)
    let end = ContinuousClock.now + .seconds(20)
    while true {
      // It listens a moment after its start.
      if let client = try? RawClient(socketFile: socket),
        let answer = try? client.request("GET", "/.json?shallow=true"), answer.status == 200
      {
        return
      }
      if ContinuousClock.now >= end {
        throw SystemError(call: "haproxy", reason: try running.errors())
      }
    }
  }

  /// A client of one of the servers.
  func client() throws -> RawClient { try RawClient(socketFile: socket) }
}
