import RunnelBase
extension Node { var hash: String { exportJSON.jsonText() } }
