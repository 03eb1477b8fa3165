import RunnelBase
import RunnelNetwork
import RunnelServices

// Packets of clients. Source: services protocol, sections 5, 6.1, 7 and 12.

extension ServiceSession {
  func receive(_ packet: SocketPacket) {
    if packet.namespace != "/" {
      if packet.kind == .connect { refuseNamespace(packet.namespace) }
      return
    }
    switch packet.kind {
    case .connect: connect()
    case .disconnect: disconnect(tellingClient: false)
    case .event:
      guard isConnected, case .array(let elements)? = packet.payload else { return endDamaged() }
      // A name that is a number stands for no method.
      receive(elements[0].string ?? "", elements.dropFirst(), answer: packet.id)
    // Nothing is asked of clients.
    case .acknowledge: if !isConnected { endDamaged() }
    case .refusal, .binaryEvent, .binaryAcknowledge: endDamaged()
    }
  }

  /// Carries out an event: a call, or one of those by which old clients sign in and out.
  private func receive(_ name: String, _ arguments: ArraySlice<JSONValue>, answer id: Int?) {
    let number = beginCall(answer: id)
    if isLeaving { return answer(number, .failure(ServiceSession.leaving)) }
    do throws(FeathersError) {
      switch name {
      case "authenticate": logIn(arguments.first ?? .null, number)
      case "logout":
        var members: [JSONMember] = []
        if let proof { members = [JSONMember("accessToken", .string(proof.token))] }
        take(nil)
        answer(number, .success(.object(members)))
      default: try call(name, arguments, number)
      }
    } catch {
      answer(number, .failure(error))
    }
  }

  private func call(
    _ name: String, _ arguments: ArraySlice<JSONValue>, _ number: Int
  ) throws(FeathersError) {
    var (name, path) = (name, arguments.first ?? .null)
    var rest = arguments.dropFirst()
    // Clients of old versions join the path and the method.
    if let colons = name.firstRange(of: "::") {
      (path, rest) = (.string(String(name[..<colons.lowerBound])), arguments)
      name = String(name[colons.upperBound...])
    }
    guard let text = path.string else {
      throw FeathersError(.notFound, "Invalid service path")
    }
    let service = text.split(separator: "/", omittingEmptySubsequences: true)
      .joined(separator: "/")
    let method = ServiceMethod(name)
    if service == ServiceLogin.path { return try authenticate(method, rest, number) }
    guard let collection = facade.collection(service) else {
      throw FeathersError(.notFound, "Service '\(service.prefix(200))' not found")
    }
    if case .custom = method {
      throw FeathersError(
        .methodNotAllowed, "Method '\(name.prefix(100))' not allowed on service '\(service)'")
    }
    if login.isUnconfirmed(proof) { throw ServiceLogin.unconfirmed }
    submit(try ServiceCall(method, rest), of: collection, number: number)
  }

  // MARK: Signing in

  private func authenticate(
    _ method: ServiceMethod, _ arguments: ArraySlice<JSONValue>, _ number: Int
  ) throws(FeathersError) {
    switch method {
    case .create: logIn(arguments.first ?? .null, number)
    case .remove:
      let id = arguments.first.flatMap { ServiceID(json: $0) }
      let result = try login.remove(id, proof)
      take(nil)
      answer(number, .success(result))
    default: throw ServiceLogin.refusal(of: method)
    }
  }

  private func logIn(_ data: JSONValue, _ number: Int) {
    let bound = LoopBound(self, to: loop)
    login.create(data, from: peer.address) { result in
      bound.loop.run {
        bound.value.finishLogIn(number, result)
        bound.value.flush()
      }
    }
  }

  private func finishLogIn(_ number: Int, _ result: Result<ServiceLogin.Proof, FeathersError>) {
    // A client that went away, or has another session by now, is not signed in.
    guard isUnderWay(number) else { return }
    if case .success(let proof) = result { take(proof) }
    answer(number, result.map(\.answer))
  }
}
