import Glibc

/// Servers of others beside which ours is measured: children of this program, with their files in a temporary
/// folder, on ports of this machine.
enum OtherServers {
  /// A server that runs.
  struct Running {
    let child: Child
    let port: Int
  }

  /// What Redis is called, whose server and checker are one program that goes by its first word.
  private static let redisPaths = [
    "/usr/bin/redis-server", "/usr/local/bin/redis-server", "/usr/bin/redis-check-rdb",
  ]
  /// The last is where `make bench` unpacks it.
  private static let nginxPaths = [
    "/usr/sbin/nginx", "/usr/local/sbin/nginx", ".build/bench/usr/sbin/nginx",
  ]
  private static let startSeconds = 10.0

  /// Redis without any durability; nil, which is said, if it is not there or does not start.
  static func redis(_ folder: TemporaryFolder) throws -> Running? {
    guard let path = found(redisPaths, "redis-server") else { return nil }
    let port = try freePort()
    let child = try Child(
      [
        "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir",
        folder.path, "--maxclients", "20000",
      ], readsOutput: false, program: path, name: "redis-server")
    return started("redis-server", child, port)
  }

  /// nginx with one file, `small.json`; nil, which is said, if it is not there or does not start.
  static func nginx(_ folder: TemporaryFolder, content: String) throws -> Running? {
    guard let path = found(nginxPaths, "nginx") else { return nil }
    let port = try freePort()
    _ = try folder.write(content, to: "small.json")
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map { "\($0)_temp_path \(folder.path);" }.joined(separator: " ")
    let settings = try folder.write(
      """
      daemon off; master_process off; pid \(folder.file("nginx.pid")); error_log stderr crit;
      events { worker_connections 1024; }
      http {
        access_log off; keepalive_requests 100000000; sendfile on; tcp_nodelay on; \(temporary)
        default_type application/json;
        server { listen 127.0.0.1:\(port); root \(folder.path); }
      }

      """, to: "nginx.conf")
    let child = try Child(
      ["-c", settings, "-p", folder.path, "-e", "stderr"], readsOutput: false, program: path)
    return started("nginx", child, port)
  }

  private static func found(_ paths: [String], _ name: String) -> String? {
    let path = paths.first { access($0, X_OK) == 0 }
    if path == nil {
      Output.note("\(name) is not installed, which `make bench` sees to: it is left out")
    }
    return path
  }

  /// A port that nobody has just now.
  private static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw BenchmarkError.system("socket") }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 ? getsockname(descriptor, $0, &size) : -1
      }
    }
    guard status == 0 else { throw BenchmarkError.system("bind") }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  /// Waits until a server takes connections; nil, which is said, if it does not.
  private static func started(_ name: String, _ child: Child, _ port: Int) -> Running? {
    let start = Timing.now
    // A connection that is refused is tried again.
    while (try? LoopbackConnection(port: port)) == nil {
      if child.hasEnded() {
        Output.note("\(name) does not start: it is left out")
        return nil
      }
      if Timing.seconds(since: start) > startSeconds {
        Output.note("\(name) does not answer: it is left out")
        child.destroy()
        return nil
      }
      usleep(10_000)
    }
    return Running(child: child, port: port)
  }
}
